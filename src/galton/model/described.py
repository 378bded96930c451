"""A model without a program, as properties see it."""

from __future__ import annotations

import numpy as np

from ..lang.evaluation import LARGEST_INT, SMALLEST_INT
from ..lang.program import Parallel, Program, RewardStructure, Variable
from ..lang.source import Source, Span
from .sparse import Model
from .states import PackedStates

__all__ = ["described"]

_NOWHERE = Span(0, 0)


def described(model: Model) -> Program:
    """A program without commands that has the variables and rewards of a model by name, for properties to use."""
    variables = []
    states = model.states
    if isinstance(states, PackedStates):
        for f in states.fields:
            variables.append(Variable(f.name, f.type, f.low, f.low + (1 << f.bits) - 1, f.low, None, _NOWHERE))
    elif states is not None and states.variables:
        for name in states.variables:
            column = states.column(name)
            if column.dtype == np.bool_ or np.issubdtype(column.dtype, np.integer):
                kind = "bool" if column.dtype == np.bool_ else "int"
                low, high = int(column.min()), int(column.max())
                if low >= SMALLEST_INT and high <= LARGEST_INT:
                    variables.append(Variable(name, kind, low, high, low, None, _NOWHERE))  # type: ignore[arg-type]
    return Program(
        type=model.type,
        source=Source("model", ""),
        constants={},
        open_constants={},
        variables=tuple(variables),
        modules=(),
        system=Parallel((), None),
        actions=(),
        labels={},
        rewards=tuple(RewardStructure(name, (), _NOWHERE) for name in model.rewards),
        initial=None,
    )
