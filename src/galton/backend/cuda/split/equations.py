"""The rows of equations in parts on several devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ....model.values import Values
from ...formats import LONG
from ...protocol import OPTIMA, Optimum
from ..formats import in_format
from ..layout import MOST_STATES, Layout, csr, lay_out
from .parts import Part, Parts, on
from .system import SplitSystem

__all__ = ["Matrix", "matrix"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Rows, wherever they were made. Parts have them once, for all systems; and once more in the format of sweeps."""

    rows: Layout
    scale: Any | None
    constant: Any
    format: str | None
    devices: tuple[int, ...]

    @cached_property
    def parts(self) -> Parts:
        """The rows as the devices have them."""
        return Parts(self.rows, self.devices)

    @cached_property
    def _scales(self) -> Sequence[Any | None]:
        return [None if self.scale is None else part.of_rows(self.scale) for part in self.parts]

    @cached_property
    def _layouts(self) -> Sequence[Layout]:
        """The rows of each part in the format that was asked for, or in one that suits them."""
        found = []
        for part, scale in zip(self.parts, self._scales, strict=True):
            with on(part.device):
                found.append(_laid_out(part, self.format, scale, part.of_rows(self.constant)))
        return found

    def system(self, constant: Any, optimum: Optimum | None, *, compact: bool) -> SplitSystem:
        """Equations to sweep over."""
        return SplitSystem(self.parts, self._layouts, self._scales, constant, OPTIMA[optimum], compact=compact)

    def prover(self, constant: Any, optimum: Optimum | None) -> SplitSystem:
        """Equations in CSR, as they were split, whatever sweeps are faster in."""
        rows = [part.matrix for part in self.parts]
        if len(self.rows.columns) > LONG * self.rows.rows:  # a thread alone would take as long as the longest row
            rows = [lay_out(own, "csr-vector") for own in rows]
        return SplitSystem(self.parts, rows, self._scales, constant, OPTIMA[optimum], compact=True)

    def describe(self) -> str:
        """How the rows were split, and the formats."""
        formats = dict.fromkeys(str(layout) for layout in self._layouts)
        return f"in {self.parts}; {' and '.join(formats)}"


def _laid_out(part: Part, name: str | None, scale: Any | None, constant: Any) -> Layout:
    if part.size + part.halo > MOST_STATES:  # slices have no numbers for so many columns
        name = "csr"
    return in_format(part.matrix, name, scale=scale, constant=constant)


def matrix(
    groups: Any | None,
    starts: Any,
    columns: Any,
    values: Values,
    scale: Any | None,
    constant: Any,
    *,
    format: str | None,
    devices: tuple[int, ...],
) -> Matrix:
    """The rows; parts are made of them when they are asked for."""
    entries = values.plain if values.dictionary is None else values.index
    return Matrix(csr(groups, starts, columns, entries, values.dictionary), scale, constant, format, devices)
