"""The rows of equations for the reference."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.sparse import Int32s, Offsets
from ...model.values import Floats, Values
from ..protocol import OPTIMA, Optimum
from . import system as reference

__all__ = ["Matrix", "matrix"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Rows as :mod:`.system` takes them."""

    rows: reference.Matrix
    scale: Floats | None

    def system(self, constant: Floats, optimum: Optimum | None, *, compact: bool) -> reference.System:
        """Equations to sweep over."""
        return reference.System(self.rows, self.scale, constant, OPTIMA[optimum])

    def prover(self, constant: Floats, optimum: Optimum | None) -> reference.System:
        """Equations to prove bounds of."""
        return self.system(constant, optimum, compact=True)

    def describe(self) -> str:
        """Nothing: there is one format."""
        return ""


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
    """The rows of the equations."""
    entries = values.plain if values.dictionary is None else values.index
    assert entries is not None
    return Matrix(reference.Matrix(groups, starts, columns, entries, values.dictionary), scale)
