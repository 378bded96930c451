"""What the kernels of ``steps.py`` compute, in NumPy: the readable specification, slow and in one thread."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...model.rounding import FAINT
from ...model.sparse import Int32s, Mask, Model
from ..steps import Seen

if TYPE_CHECKING:
    import scipy.sparse

Floats = npt.NDArray[np.float64]

__all__ = ["bellman_steps", "chain_steps", "exit_rates", "part_of"]


def part_of(model: Model, keep: Mask, *, loops: bool) -> scipy.sparse.csr_array:
    """The rows of the states to keep, and their columns among them; the diagonal is zero where loops are left out."""
    owner = np.arange(model.n_states)
    owner = owner if model.choice_starts is None else np.repeat(owner, np.diff(model.choice_starts))
    matrix = model.to_scipy().tocoo()
    rows, columns = matrix.coords
    stays = keep[owner[rows]] & keep[columns] & (loops | (owner[rows] != columns))
    values = np.where(stays, matrix.data, 0.0)
    from scipy.sparse import csr_array

    whole = csr_array((values, (rows, columns)), shape=matrix.shape)
    whole.eliminate_zeros()
    return whole[np.flatnonzero(keep[owner])][:, np.flatnonzero(keep)]


def exit_rates(model: Model, *, loops: bool) -> Floats:
    """The sums of the rows of a chain, each rounded once."""
    rows = model.to_scipy()
    return np.array(
        [
            math.fsum(
                value
                for value, column in zip(
                    rows.data[rows.indptr[s] : rows.indptr[s + 1]],
                    rows.indices[rows.indptr[s] : rows.indptr[s + 1]],
                    strict=True,
                )
                if loops or column != s
            )
            for s in range(model.n_states)
        ]
    )


def chain_steps(
    matrix: scipy.sparse.csr_array, scale: float, stay: Floats | None, weights: Floats, x: Floats
) -> tuple[Floats, Floats, Seen]:
    """A step for each weight: ``sum += weight * x``, ``x <- scale * (A x) + stay * x``. Returns x, the
    sum, and what was seen.

    Without ``stay`` the scale is 1.
    """
    total, faintest = np.zeros_like(x), math.inf
    for weight in weights:
        total += weight * x
        before, x = x, matrix @ x if stay is None else scale * (matrix @ x) + stay * x
        faintest = 0.0 if stay is not None else min(faintest, float(x[x > 0].min(initial=math.inf)))
    return x, total, _seen(before, x, faintest)


def bellman_steps(
    matrix: scipy.sparse.csr_array, groups: Int32s, constant: Floats, maximise: bool, steps: int, x: Floats
) -> tuple[Floats, Int32s, Seen]:
    """So many steps ``x <- opt (A x + constant)`` over the rows of each group, and the first best rows in each."""
    best, faintest = np.maximum if maximise else np.minimum, math.inf
    chosen = np.empty((steps, len(x)), dtype=np.int32)
    for k in range(steps):
        rows = matrix @ x + constant
        before, x = x, best.reduceat(rows, groups[:-1])
        for s, value in enumerate(x):
            chosen[k, s] = groups[s] + np.argmax(rows[groups[s] : groups[s + 1]] == value)
        faintest = min(faintest, float(x[x > 0].min(initial=math.inf)))
    return x, chosen, _seen(before, x, faintest)


def _seen(before: Floats, after: Floats, faintest: float) -> Seen:
    positive = (before > 0) | (after > 0)
    clear = (before > FAINT) & (after > FAINT)
    ratios = after[clear] / before[clear]
    blurred = bool((positive & ~clear).any())
    change = after - before
    return Seen(
        float(after.min()),
        float(after.max()),
        0.0 if blurred else float(ratios.min(initial=math.inf)),
        math.inf if blurred else float(ratios.max(initial=-math.inf)),
        float(change.min()),
        float(change.max()),
        faintest,
    )
