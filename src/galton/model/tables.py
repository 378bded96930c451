"""The states of a model as the index of a pandas table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sparse import Model

if TYPE_CHECKING:
    import pandas

__all__ = ["state_index"]


def state_index(model: Model) -> pandas.Index:
    """The states by their variables; by the objects they are, or their numbers, where they have no variables."""
    import pandas

    states = model.states
    if states is None:
        return pandas.RangeIndex(model.n_states, name="state")
    if not states.variables:
        return pandas.Index(list(states), name="state", tupleize_cols=False)
    columns = [states.column(name) for name in states.variables]
    if len(columns) == 1:
        return pandas.Index(columns[0], name=states.variables[0])
    return pandas.MultiIndex.from_arrays(columns, names=states.variables)
