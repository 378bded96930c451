"""The rows of equations for the C++ core."""

from __future__ import annotations

from dataclasses import dataclass

from ... import _core
from ...model.sparse import Int32s, Offsets
from ...model.values import Floats, Values
from ..protocol import OPTIMA, Optimum, System

__all__ = ["Matrix", "matrix"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Rows in CSR, the core's only format, whose arrays are shared by all systems that are made of them."""

    rows: _core.Matrix
    scale: Floats | None

    def system(self, constant: Floats, optimum: Optimum | None, *, compact: bool) -> System:
        """Equations to sweep over."""
        return _core.System(self.rows, self.scale, constant, OPTIMA[optimum])

    def describe(self) -> str:
        """Nothing: there is one format."""
        return ""

    def prover(self, constant: Floats, optimum: Optimum | None) -> System:
        """Equations to prove bounds of."""
        return self.system(constant, optimum, compact=True)


def matrix(
    groups: Int32s | None,
    starts: Offsets,
    columns: Int32s,
    values: Values,
    scale: Floats | None,
    constant: Floats,
    *,
    format: str | None,
    devices: tuple[int, ...],
) -> Matrix:
    """The rows as the core takes them."""
    entries = values.plain if values.dictionary is None else values.index
    return Matrix(_core.Matrix(groups, starts, columns, entries, values.dictionary), scale)
