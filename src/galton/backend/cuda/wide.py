"""Unknowns with so many rows that threads share them: see ``groups.cuh``.

Such an unknown is an end component of many states, or a state in which there is very much to choose from. Its rows are
cut into chunks, each of which gets a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.arrays import how_many, offsets, repeated
from ...device.cuda.kernels import kernels
from ...device.cuda.positions import positions
from ..formats import MANY_ROWS

__all__ = ["Wide", "wide_unknowns"]

FILE = Path(__file__).with_name("choices.cu")
CHUNK_ROWS = 2048  # of a block: some for each thread, and blocks for all multiprocessors where a single unknown is wide
BLOCK = 256
WORDS = 6  # of four bytes: a `Chunk` of rows.cuh


@dataclass(frozen=True, eq=False)
class Wide:
    """The wide unknowns of a matrix.

    Attributes
    ----------
    unknowns
        How many there are.
    chunks
        Of all of them: ``(chunks, WORDS)``, as the kernels take them. They have room for what blocks tell each other,
        so that two launches may not use them at once.
    defines
        The macros of launches for them.
    """

    unknowns: int
    chunks: Any
    defines: tuple[str, ...]
    block: int = BLOCK

    @property
    def threads(self) -> int:
        """A block for each chunk."""
        return self.block * len(self.chunks)


def wide_unknowns(groups: Any | None) -> Wide | None:
    """Those with more than :data:`MANY_ROWS` rows, given where the rows of each begin; None if there are none."""
    if groups is None or len(groups) < 2:
        return None
    wide = cp.empty(len(groups) - 1, dtype=np.bool_)
    kernels(FILE, "OFFSET=int").launch("mark_wide", len(wide), groups, len(wide), MANY_ROWS, wide)
    if not how_many(wide):
        return None
    unknowns = positions(wide)
    counts = (groups[unknowns + 1] - groups[unknowns] + np.int32(CHUNK_ROWS - 1)) // np.int32(CHUNK_ROWS)
    first = offsets(counts, np.int32)
    chunks = cp.zeros((int(first[-1]), WORDS), dtype=np.int32)
    chunks[:, 0] = repeated(unknowns, counts)
    chunks[:, 1] = cp.arange(len(chunks), dtype=np.int32) - repeated(first[:-1], counts)
    return Wide(len(unknowns), chunks, ("WIDE=1", f"CHUNK_ROWS={CHUNK_ROWS}"))
