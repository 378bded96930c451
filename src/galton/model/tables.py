"""Tables of pandas, which is imported when somebody wants one; states of a model as the index of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lang.source import GaltonError
from .sparse import Model

if TYPE_CHECKING:
    import pandas

__all__ = ["import_pandas", "state_index"]


def import_pandas() -> Any:
    """The library; where it is missing, an error that says how to get it."""
    try:
        import pandas
    except ImportError:
        raise GaltonError("tables need pandas: pip install 'galton[pandas]'") from None
    return pandas


def state_index(model: Model) -> pandas.Index:
    """The states by their variables; by the objects they are, or their numbers, where they have no variables."""
    pandas = import_pandas()
    states = model.states
    if states is None:
        return pandas.RangeIndex(model.n_states, name="state")
    if not states.variables:
        return pandas.Index(list(states), name="state", tupleize_cols=False)
    columns = [states.column(name) for name in states.variables]
    if len(columns) == 1:
        return pandas.Index(columns[0], name=states.variables[0])
    return pandas.MultiIndex.from_arrays(columns, names=states.variables)
