"""What a model is: the checked program, and the sparse model with its states, labels and rewards."""

from ..lang.model_types import ModelType
from ..lang.program import Program
from .sparse import Model, ModelError, Rewards
from .states import Field, ListedStates, PackedStates, State, States
from .values import Values

__all__ = [
    "Field",
    "ListedStates",
    "Model",
    "ModelError",
    "ModelType",
    "PackedStates",
    "Program",
    "Rewards",
    "State",
    "States",
    "Values",
]
