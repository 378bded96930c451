"""Which format the equations get: the one asked for, or the one their rows suggest."""

from __future__ import annotations

from typing import Any

import cupy as cp

from ..formats import SHORT, SMALL, suitable
from .layout import Layout, lay_out, measure

__all__ = ["in_format"]


def in_format(
    matrix: Layout, name: str | None = None, *, scale: Any | None = None, constant: Any | None = None
) -> Layout:
    """A matrix that is in CSR, in the format ``name``, or in one that suits it."""
    given: dict[str, Any] = {"scale": scale, "constant": constant}
    if name is not None:
        return lay_out(matrix, name, "as asked", **given)
    entries = len(matrix.columns)
    by_length = "csr" if entries <= SHORT * matrix.rows else "csr-vector"
    if entries < SMALL:
        return lay_out(matrix, by_length, "small")
    try:
        suits, why = suitable(measure(matrix, constant))
        return lay_out(matrix, suits, why, **given)
    except cp.cuda.memory.OutOfMemoryError:
        return lay_out(matrix, by_length, "no memory for another format")
