"""The rows of equations on a CUDA device, in one of several formats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...model.values import Values
from ..formats import LONG
from ..protocol import OPTIMA, Optimum
from .formats import in_format
from .layout import Layout, csr, lay_out
from .system import System

__all__ = ["Matrix", "matrix"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Rows as they were made, and, when somebody sweeps over them, in the format that was asked for or suits them."""

    rows: Layout
    scale: Any | None
    constant: Any
    format: str | None

    def system(self, constant: Any, optimum: Optimum | None, *, compact: bool) -> System:
        """Equations to sweep over."""
        return System(self.layout, self.scale, constant, OPTIMA[optimum], compact=compact)

    @cached_property
    def layout(self) -> Layout:
        """The rows in the format that was asked for, or in one that suits them."""
        return in_format(self.rows, self.format, scale=self.scale, constant=self.constant)

    def describe(self) -> str:
        """The format, and why."""
        return f"{self.layout}, {self.layout.bytes_per_sweep / 1e6:,.1f} MB: {self.layout.reason}"

    def prover(self, constant: Any, optimum: Optimum | None) -> System:
        """Equations in CSR, as they were made, whatever sweeps are faster in.

        What is claimed then rests on the plainest kernels, and not on how a matrix was laid out anew.
        """
        rows = self.rows
        if len(rows.columns) > LONG * rows.rows:  # a thread alone would take as long as the longest row
            rows = lay_out(rows, "csr-vector")
        return System(rows, self.scale, constant, OPTIMA[optimum], compact=True)


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
    """The rows on the device."""
    entries = values.plain if values.dictionary is None else values.index
    return Matrix(csr(groups, starts, columns, entries, values.dictionary), scale, constant, format)
