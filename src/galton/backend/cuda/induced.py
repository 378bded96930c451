"""The chain that a strategy leaves of an MDP, or a chain as it is, solved by BiCGStab with sweeps from level to level.

The rows taken are copied side by side, numbered by how many jumps they are from where the chain can be left; a product
then reads them alone, and one sweep carries what happens there to all states (``levels.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ...device.arrays import how_many
from ..bicgstab import Iteration
from .chain import ChainRows
from .krylov import DeviceUpdates, improve
from .layout import Layout
from .levels import levels_of

__all__ = ["solve"]

FILE = Path(__file__).with_name("induced.cu")
PATIENCE = 16  # checks without anything better
PRODUCTS = 6  # of an iteration: two, and two sweeps there and back
LEAST_LEAK = 1e-12  # sums of probabilities are rounded


def solve(
    matrix: Layout, scale: Any | None, constant: Any, x: Any, chosen: Any | None, sweeps: int, tolerance: float
) -> tuple[int, float] | None:
    """Improve x, in place; products made and the largest relative residual. None where there are no levels.

    Parameters
    ----------
    matrix
        In CSR.
    scale, constant
        ``(rows,)``; no scale for 1 everywhere.
    chosen
        The row of each unknown, None for a chain.
    """
    rows = ChainRows(matrix.starts, matrix.columns, matrix.codes, matrix.dictionary)
    if chosen is not None:
        rows = rows.select(chosen)
        scale, constant = None if scale is None else scale[chosen], constant[chosen]
    near = cp.empty(rows.n_states, dtype=np.bool_)
    rows.run(FILE, "leaks", scale, LEAST_LEAK, near)
    levels = levels_of(rows, near) if how_many(near) else None
    if levels is None:
        return None
    rows, order = levels.rows, levels.order
    k, b, at = None if scale is None else scale[order], constant[order], x[order]

    def residual() -> Any:
        found = cp.empty_like(at)
        rows.run(FILE, "difference", k, b, at, found)
        return found

    def precondition(y: Any) -> Any:
        found = cp.empty_like(y)
        levels.onwards(y, found, None, k)
        levels.back(found, k)
        return found

    def product(v: Any, y: Any) -> None:
        rows.run(FILE, "difference", k, None, v, y)

    iteration = Iteration(at, residual(), product, precondition, updates=DeviceUpdates())

    def keep() -> None:
        x[order] = at

    return improve(iteration, residual, keep, sweeps, tolerance, products=PRODUCTS, patience=PATIENCE)
