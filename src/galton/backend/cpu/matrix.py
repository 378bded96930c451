"""The C++ kernels."""

from __future__ import annotations

from ... import _core
from ...model.sparse import Model

__all__ = ["matrix_of"]


def matrix_of(model: Model) -> _core.Matrix:
    """The matrix of a model as the kernels take it; the arrays are shared."""
    values = model.values
    entries = values.plain if values.dictionary is None else values.index
    return _core.Matrix(model.choice_starts, model.row_starts, model.columns, entries, values.dictionary)
