"""Transient analysis of a parametric CTMC over boxes of parameters: bounds that hold at every point of a box.

Uniformisation per box: q is a little more than the largest exit rate at any point of it. A step is a convex
combination whose weights lie between bounds; taking for each term of a state the value that is worse gives a vector
below all that the values can be, and likewise above (Češka et al. 2014). Each of the steps is monotone and moves no
two vectors apart, so what rounding adds in each of them adds up at most: that, and the Poisson mass that was cut, is
part of the bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..backend import CPU
from ..backend.protocol import Regions
from ..backend.regions import GroupedRows, Int64s
from ..device.arrays import namespace, on_host
from ..model.sparse import Mask
from ..solve.uniformisation import ABOVE
from .parametric_ctmc import ParametricModel
from .poisson_weights import BundleWeights, rounded_up
from .polynomials import UNIT, Floats
from .transitions import Int32s

CLOSE = 1e-9  # what all the steps that are left may change, relative to the largest number, for them to be left out
FEW_TERMS = 64
TINY = 1e-300  # what numbers that are flushed to zero may add up to

__all__ = ["Enclosure", "PhaseRows", "transient"]


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Bounds for some states, ``(states, boxes)``, and the steps of all boxes. Those of all states stay on a device."""

    lower: Floats
    upper: Floats
    steps: int = 0


class PhaseRows:
    """The states whose values change in a phase, and their transitions, where a backend makes steps of them."""

    def __init__(
        self, model: ParametricModel, active: Mask, regions: Regions | None = None, format: str | None = None
    ) -> None:
        self.model = model
        states: Int32s = np.flatnonzero(active).astype(np.int32)
        entries, lengths = model.entries_of(states)
        rows = np.repeat(np.arange(len(states)), lengths)
        order = np.lexsort((model.rates.terms[entries], rows))
        rows, entries = rows[order], entries[order]
        terms = model.rates.terms[entries]
        self.longest = model.longest
        # Transitions of a state with the same term are a group.
        first = np.ones(len(rows), dtype=bool)
        first[1:] = (np.diff(rows) != 0) | (np.diff(terms) != 0)
        self.pattern = GroupedRows(
            states,
            np.searchsorted(rows[first], np.arange(len(states) + 1)).astype(np.int64),
            np.ascontiguousarray(terms[first]),
            np.append(np.flatnonzero(first), len(rows)).astype(np.int64),
            model.columns[entries],
            model.rates.coefficients[entries],
            model.n_states,
            len(model.terms),
        )
        self.kernel = (regions or CPU.regions).rows(self._stepped(), format=format)

    def _stepped(self) -> GroupedRows:
        """The rows that steps go over."""
        return self.pattern

    @cached_property
    def _exits(self) -> Any:
        """``(kinds of rows, terms)`` how much of each term the exit rates of states are."""
        from scipy.sparse import csr_array

        pattern = self.pattern
        shape = len(pattern.states), pattern.n_terms
        sizes = np.add.reduceat(pattern.coefficients, pattern.group_starts[:-1])
        sums = csr_array((sizes, pattern.terms, pattern.starts), shape=shape)
        # With many terms, distinct rows would be as large as the matrix.
        return sums if shape[1] > FEW_TERMS else _distinct(sums.toarray())

    def rates(self, upper: Floats) -> Floats:
        """``(boxes,)`` a uniformisation rate for each box, given ``(terms, boxes)`` upper bounds of the terms."""
        if not len(self.pattern.columns):
            return np.zeros(upper.shape[1])
        exits: Floats = self._exits @ upper
        largest: Floats = ABOVE * exits.max(axis=0)
        return largest


def _distinct(rows: Floats) -> Floats:
    """The distinct rows; ``np.unique(rows, axis=0)`` compares them as bytes, which is slower."""
    rows = rows[np.lexsort(rows.T)]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[first]


def transient(
    rows: PhaseRows,
    term_bounds: tuple[Floats, Floats],
    start: tuple[Floats, Floats],
    time: float,
    *,
    over: bool = False,
    watched: Int32s | None = None,
    threads: int = 1,
    tell: Callable[[int], None] | None = None,
) -> Enclosure:
    """Bounds on what values become when the process runs for a time: E [ v(X_t) ].

    Parameters
    ----------
    rows
        The states that change.
    term_bounds
        ``(terms, boxes)`` the ranges of the terms over each box, not negative; at most a bundle of boxes.
    start
        Bounds on v, ``(states, boxes)`` or ``(states, 1)``, not negative.
    over
        Whether to integrate over the time from 0 on instead of asking at its end.
    watched
        The states whose bounds are wanted; None for all.
    tell
        Called now and then with the number of steps so far; may raise to stop.
    """
    n_boxes = term_bounds[0].shape[1]
    start = rows.kernel.place(start[0]), rows.kernel.place(start[1])
    xp = namespace(start[0])
    states = np.arange(rows.model.n_states, dtype=np.int32) if watched is None else watched
    lower, upper = (xp.broadcast_to(v, (rows.model.n_states, n_boxes)) for v in start)
    largest = np.maximum(*(on_host(v.max(axis=0)) for v in (lower, upper)))
    q = rows.rates(term_bounds[1])
    if time == 0 or not q.any():
        factor = time if over else 1.0
        slack = 2 * UNIT * over
        if watched is not None:
            lower, upper = (on_host(values[xp.asarray(watched)]) for values in (lower, upper))
        return Enclosure(lower * factor * (1 - slack), upper * factor * (1 + slack))
    q, weights, padded, table = uniformised(rows, q, term_bounds, time, over=over)
    x = xp.empty((rows.model.n_states, 2, len(padded)))
    x[:, 0, :n_boxes], x[:, 1, :n_boxes] = lower, upper
    x[:, :, n_boxes:] = x[:, :, n_boxes - 1 : n_boxes]
    x = rows.kernel.array(x)
    ends = weights.ends.copy()
    sums, rest = _steps(rows, weights, table, x, states, largest[padded], threads, tell)
    found = rows.kernel.view(sums, len(padded))[:, :, :n_boxes]
    if watched is not None:
        found = on_host(found)
    bounds = _widened(rows, found, largest, weights, ends, q if over else None, time, rest)
    known = [values[xp.asarray(states)] for values in (lower, upper)]
    if watched is not None:
        known = [on_host(values) for values in known]
    return _exact_outside(rows, bounds, states, known[0], known[1], time if over else None)


def _exact_outside(
    rows: PhaseRows, found: Enclosure, states: Int32s, lower: Floats, upper: Floats, time: float | None
) -> Enclosure:
    """Bounds with those that were known before for states that do not change: what is 0 there stays 0."""
    still = ~np.isin(states, rows.pattern.states)
    if not still.any():
        return found
    xp = namespace(found.lower)
    which = xp.asarray(still)[:, None]
    factor, slack = (1.0, 0.0) if time is None else (time, 2 * UNIT)
    return Enclosure(
        xp.where(which, lower * factor * (1 - slack), found.lower),
        xp.where(which, upper * factor * (1 + slack), found.upper),
        found.steps,
    )


def uniformised(
    rows: PhaseRows, q: Floats, term_bounds: tuple[Floats, Floats], time: float, *, over: bool
) -> tuple[Floats, BundleWeights, Int64s, Floats]:
    """Rates above 0, the weights of each lane, the box of each lane, and the terms divided by the rates."""
    q = rounded_up(np.where(q > 0, q, q[q > 0].min()))
    padded = np.minimum(np.arange(rows.kernel.width(len(q))), len(q) - 1)
    table = np.stack([term_bounds[0] / q * (1 - 2 * UNIT), term_bounds[1] / q * (1 + 2 * UNIT)], axis=1)
    weights = BundleWeights((q * time)[padded].tolist(), over)
    return q, weights, padded, rows.kernel.array(np.maximum(table, 0.0)[:, :, padded])


def _steps(
    rows: PhaseRows,
    weights: BundleWeights,
    table: Floats,
    x: Floats,
    states: Int32s,
    largest: Floats,
    threads: int,
    tell: Callable[[int], None] | None,
) -> tuple[Floats, Floats]:
    """All steps, or of each box as many as matter: the sums, and what the steps that were left out may add to them."""
    width, kernel = len(weights), rows.kernel
    xp = namespace(x)
    other, sums, changes = kernel.array(kernel.view(x, width)), xp.zeros(len(states) * 2 * width), np.zeros(2 * width)
    steps, rest, done = kernel.steps(table, weights), np.zeros(width), 0
    most = max(1, int(kernel.work / ((len(rows.pattern.columns) + len(rows.pattern.states) + 1) * width)))
    while (end := int(weights.ends.max())) > done:
        count = min(max(kernel.first_steps, done // kernel.part), most, end - done)
        if steps.run(done, count, x, other, states, sums, changes, threads):
            x, other = other, x
        done += count
        if tell is not None:
            tell(done)
        # Values move by at most as much in each further step as in this one.
        left = np.maximum(weights.ends - done, 0)
        change = changes.reshape(2, width).max(axis=0)
        enough = (left > 0) & (change * left <= CLOSE * np.maximum(largest, 0.0))
        if enough.any():
            remaining = np.where(enough, weights.rests(done), 0.0)
            kernel.view(sums, width)[...] += xp.asarray(remaining) * kernel.view(x, width)[xp.asarray(states)]
            rest += remaining * left * change
            weights.ends[enough] = done
    return sums, rest


def _widened(
    rows: PhaseRows,
    found: Floats,
    largest: Floats,
    weights: BundleWeights,
    ends: Int64s,
    q: Floats | None,
    time: float,
    rest: Floats,
) -> Enclosure:
    """Bounds with all that is not exact in them."""
    n_boxes = found.shape[2]
    less, more, off, missing = margins(rows, largest, weights, ends[:n_boxes], q, time, rest[:n_boxes])
    xp = namespace(found)
    lower = found[:, 0] * xp.asarray(less) - xp.asarray(off)
    upper = found[:, 1] * xp.asarray(more) + xp.asarray(off + missing)
    return Enclosure(xp.maximum(lower, 0.0), upper, int(weights.ends[:n_boxes].sum()))


def margins(
    rows: PhaseRows,
    largest: Floats,
    weights: BundleWeights,
    steps: Int64s,
    q: Floats | None,
    time: float,
    rest: Floats | float = 0.0,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Factors for the sums below and above, what both are off by at most, and what was cut of the Poisson mass.

    ``q`` are the uniformisation rates where sums are over the time, and None where they are at its end.
    """
    scale = 1.0 if q is None else 1 / q
    total = 1.0 if q is None else time
    error, lacking, missing = (of[: len(steps)] for of in (weights.error, weights.lacking, weights.missing))
    off = rounding(rows, steps, largest) * total + rest * scale * 1.01 + TINY
    return scale * (1 - error - lacking), scale * (1 + error), off, missing * largest * scale


def rounding(rows: PhaseRows, steps: int | Int64s, largest: Floats) -> Floats:
    """What vectors are off by after so many steps.

    A step has, per transition, the roundings of a difference, two products and a sum, and some for the coefficient, all
    relative to what moves; each vector is off by at most so much times the number of steps before it.
    """
    off: Floats = 1.01 * UNIT * (rows.longest + 16) * (steps + 1) * largest
    return off
