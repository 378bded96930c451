"""The model types Galton knows, and what kind of process each one is.

This is the one table that says it. The rest of the program asks for a property of a type, such as whether it leaves
choices open, and never for its name. So a new type is a new row here, and whatever is truly new about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ModelType = Literal["dtmc", "ctmc", "mdp"]

__all__ = ["DEFAULT_TYPE", "MODEL_TYPES", "TYPE_KEYWORDS", "ModelType", "Nature", "nature_of"]


@dataclass(frozen=True, slots=True)
class Nature:
    """What kind of process a model type is.

    Attributes
    ----------
    type
        The short name of the type, as users and files write it.
    keywords
        The words of the PRISM language that name it at the top of a model.
    has_choices
        Whether a state may leave a choice open, so that a value depends on a strategy: P=? must say min or max.
    is_continuous
        Whether time passes between jumps. Bounds are times then, and the rewards of states are earned per unit of time;
        otherwise bounds count steps, and rewards are earned per step.
    has_rates
        Whether the rows of the matrix hold rates; otherwise they hold probabilities, and each row sums to 1.

    Examples
    --------
    >>> nature_of("ctmc").is_continuous, nature_of("ctmc").entry
    (True, 'rate')
    """

    type: ModelType
    keywords: tuple[str, ...]
    has_choices: bool = False
    is_continuous: bool = False
    has_rates: bool = False

    @property
    def entry(self) -> str:
        """What a number of the matrix is, in a word."""
        return "rate" if self.has_rates else "probability"


MODEL_TYPES: dict[str, Nature] = {
    nature.type: nature
    for nature in (
        Nature("dtmc", keywords=("dtmc", "probabilistic")),
        Nature("ctmc", keywords=("ctmc", "stochastic"), is_continuous=True, has_rates=True),
        Nature("mdp", keywords=("mdp", "nondeterministic"), has_choices=True),
    )
}

TYPE_KEYWORDS: dict[str, ModelType] = {word: nature.type for nature in MODEL_TYPES.values() for word in nature.keywords}
"""The words that name a type in a model file, and the type."""

DEFAULT_TYPE: ModelType = "mdp"
"""What a model file is that names no type, as in PRISM."""


def nature_of(type: ModelType) -> Nature:
    """Return what kind of process a model type is."""
    return MODEL_TYPES[type]
