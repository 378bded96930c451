"""The rows of a chain on a device, in CSR: kernels that run over them, and the same rows with other numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.cuda.kernels import Kernels, kernels
from .layout import CODES, lanes_for

__all__ = ["ChainRows"]

SELECT = Path(__file__).with_name("select_rows.cu")


@dataclass(frozen=True, eq=False)
class ChainRows:
    """Row s is that of state s; names as in :class:`galton.model.sparse.Model`, whose graph analysis takes this too."""

    row_starts: Any
    columns: Any
    codes: Any
    dictionary: Any | None
    choice_starts: None = None

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.row_starts) - 1

    @cached_property
    def lanes(self) -> int:
        """Threads for a row."""
        return lanes_for(len(self.columns) / max(self.n_states, 1))

    def kernels(self, file: Path) -> Kernels:
        """The kernels of a file for rows like these."""
        offset = "OFFSET=int" if self.row_starts.itemsize == 4 else "OFFSET=long long"
        return kernels(file, offset, f"CODE={CODES[self.codes.itemsize]}", f"LANES={self.lanes}")

    @property
    def arguments(self) -> tuple[Any, ...]:
        """``CHAIN_PARAMETERS`` of ``chain.cuh``."""
        return self.row_starts, self.columns, self.codes, self.dictionary, self.n_states

    def run(self, file: Path, kernel: str, *arguments: Any, threads: int | None = None) -> None:
        """Launch for all states, or so many threads."""
        count = self.n_states * self.lanes if threads is None else threads
        self.kernels(file).launch(kernel, count, *self.arguments, *arguments)

    def select(self, rows: Any, rank: Any | None = None) -> ChainRows:
        """The rows named, in this order; ``rank`` has the new numbers of columns."""
        n = len(rows)
        starts = cp.zeros(n + 1, dtype=self.row_starts.dtype)
        cp.cumsum(self.row_starts[rows + 1] - self.row_starts[rows], out=starts[1:])
        total = int(starts[-1])
        selected = ChainRows(starts, cp.empty(total, np.int32), cp.empty(total, self.codes.dtype), self.dictionary)
        written = (starts, selected.columns, selected.codes)
        self.run(SELECT, "select_rows", rows, rank, n, *written, threads=n * self.lanes)
        return selected
