"""Steps of chains and MDPs in NumPy and SciPy: the readable specification, slow and in one thread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ...model.rounding import DOUBLE, FAINT
from ...model.sparse import Int32s, Mask, Model, Offsets
from ...model.values import Floats
from ..steps import Seen

if TYPE_CHECKING:
    import scipy.sparse

__all__ = [
    "StepMatrix",
    "batch",
    "bellman_steps",
    "chain_steps",
    "exit_rates",
    "matrix_of",
    "part_of",
    "row_products",
    "threads",
]


@dataclass(frozen=True, eq=False)
class StepMatrix:
    """Rows, and where those of each state begin; a chain has one for each.

    See :class:`galton.backend.protocol.StepMatrix`.
    """

    groups: Int32s
    rows: scipy.sparse.csr_array
    precision = DOUBLE
    rounds_values = False

    def in_format(self, name: str | None, *, single: bool = False) -> StepMatrix:
        """The matrix as it is: there is one format, and doubles."""
        return self

    def describe(self) -> str:
        """Nothing: there is one format."""
        return ""

    def chain(self, scale: float, stay: Floats | None) -> Chain:
        """A chain to make steps of."""
        return Chain(self, scale, stay)

    def bellman(self, constant: Floats | None, maximise: bool) -> Bellman:
        """An MDP to make steps of."""
        return Bellman(self, np.zeros(self.rows.shape[0]) if constant is None else constant, maximise)


def matrix_of(model: Model) -> StepMatrix:
    """The matrix of a model."""
    return StepMatrix(model.row_groups, model.to_scipy())


def part_of(model: Model, keep: Mask, loops: bool, threads: int) -> tuple[Int32s, Int32s, StepMatrix, Offsets, int]:
    """The states kept, for each state its number among them or -1, their matrix, its offsets and its entries."""
    from scipy.sparse import csr_array

    states = np.flatnonzero(keep).astype(np.int32)
    position = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    values, starts, columns, kept = model.values.array(), [0], [], []
    for s in states:
        for choice in model.choices(int(s)):
            for entry in range(int(model.row_starts[choice]), int(model.row_starts[choice + 1])):
                target = model.columns[entry]
                if keep[target] and (loops or target != s):
                    columns.append(position[target])
                    kept.append(values[entry])
            starts.append(len(columns))
    groups = np.cumsum([0, *(len(model.choices(int(s))) for s in states)], dtype=np.int32)
    offsets = np.array(starts, dtype=np.int32)
    rows = csr_array((kept, columns, offsets), shape=(len(offsets) - 1, len(states)), dtype=np.float64)
    return states, position, StepMatrix(groups, rows), offsets, len(columns)


def batch(entries: int, rows: int) -> int:
    """A few steps at a time."""
    return 100


def threads(wanted: int) -> int:
    """One."""
    return 1


@dataclass(frozen=True, eq=False)
class Chain:
    """Steps of one chain; see :class:`galton.backend.protocol.Chain`."""

    matrix: StepMatrix
    scale: float
    stay: Floats | None

    def run(
        self,
        steps: int,
        weights: Floats | None,
        x: Floats,
        other: Floats,
        total: Floats | None,
        threads: int,
        watched: Int32s | None = None,
        record: Floats | None = None,
    ) -> tuple[bool, *tuple[float, ...]]:
        """Make steps; the vector ends up in ``x``."""
        if watched is not None and record is not None:
            now = x
            for kept in record.reshape(steps, -1):
                kept[:] = now[watched]
                now = chain_steps(self.matrix.rows, self.scale, self.stay, np.zeros(1), now)[0]
        given = np.zeros(steps) if weights is None else weights
        x[:], added, seen = chain_steps(self.matrix.rows, self.scale, self.stay, given, x)
        if total is not None:
            total += added
        return False, *seen


@dataclass(frozen=True, eq=False)
class Bellman:
    """Steps of one MDP; see :class:`galton.backend.protocol.Bellman`."""

    matrix: StepMatrix
    constant: Floats
    maximise: bool

    def run(
        self,
        steps: int,
        x: Floats,
        other: Floats,
        choices: Int32s | None,
        threads: int,
        watched: Int32s | None = None,
        record: Floats | None = None,
    ) -> tuple[bool, *tuple[float, ...]]:
        """Make steps; the vector ends up in ``x``."""
        rows, groups = self.matrix.rows, self.matrix.groups
        if watched is not None and record is not None:
            now = x
            for kept in record.reshape(steps, -1):
                kept[:] = now[watched]
                now = bellman_steps(rows, groups, self.constant, self.maximise, 1, now)[0]
        x[:], chosen, seen = bellman_steps(rows, groups, self.constant, self.maximise, steps, x)
        if choices is not None:
            choices[:] = chosen.reshape(-1)
        return False, *seen


def row_products(model: Model, vector: Floats, threads: int) -> Floats:
    """``(choices,)`` the matrix of a model times a vector."""
    return model.to_scipy() @ vector


def exit_rates(model: Model, loops: bool, threads: int) -> tuple[Floats, Floats]:
    """``(states,)`` the sum of the rates out of each state, as the nearest double and what that lacks."""
    values, sums = model.values.array(), []
    for s, (begin, end) in enumerate(zip(model.row_starts[:-1], model.row_starts[1:], strict=True)):
        counted = [float(values[e]) for e in range(int(begin), int(end)) if loops or model.columns[e] != s]
        sums.append(sum(map(Fraction, counted), Fraction(0)))
    high = np.array([float(total) for total in sums])
    return high, np.array([float(total - Fraction(near)) for total, near in zip(sums, high.tolist(), strict=True)])


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
