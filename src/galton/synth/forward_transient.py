"""Transient analysis of a parametric CTMC over boxes, forward from its initial state: where the process is at a time.

The mass of a state after a step of uniformisation is what stays and what comes in. For any rates it grows with the
masses before, so bounds on those give bounds after, with the value of each term that is worse for this state: what the
term moves in and what it moves out are one sum, whose sign decides (Brim, Češka, Dražan and Šafránek, "Exploring
parameter space of stochastic biochemical systems using quantitative model checking", CAV 2013, pair the two for each
reaction). Each state chooses for itself, so lower bounds lose mass with every step and upper ones gain it. What helps
is that the mass of all states is known: what the others have at least, one cannot have (:meth:`Mass.tightened`).

Rounding is counted in mass, over all states together. If a vector is below the truth but for an error, the next one is
below it but for that error moved along the true chain, which keeps its sum, and the rounding of the step: errors add
up and do not grow. Likewise above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..backend.regions import GroupedRows
from ..model.sparse import Mask
from .polynomials import UNIT, Floats
from .transient import TINY, PhaseRows, margins, rounding, uniformised
from .transitions import Int32s

TOGETHER = 32  # steps between two looks at the whole mass, which cost about as much as ten of them

__all__ = ["ForwardRows", "Mass", "moved"]


class ForwardRows(PhaseRows):
    """The transitions of a phase by the states they lead to; a state's own loss is an entry of each of its terms."""

    def _stepped(self) -> GroupedRows:
        own = self.pattern
        from_groups = np.repeat(np.arange(len(own.states)), np.diff(own.starts))
        lengths = np.diff(own.group_starts)
        sources = own.states[np.repeat(from_groups, lengths)]
        lost = -np.add.reduceat(own.coefficients, own.group_starts[:-1]) if len(lengths) else np.empty(0)
        owners = own.states[from_groups]
        targets = np.concatenate([owners, own.columns])
        terms = np.concatenate([own.terms, np.repeat(own.terms, lengths)])
        columns = np.concatenate([owners, sources]).astype(np.int32)
        coefficients = np.concatenate([lost, own.coefficients])
        order = np.lexsort((terms, targets))
        targets, terms = targets[order], terms[order]
        changing = np.unique(targets).astype(np.int32)
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(targets) != 0) | (np.diff(terms) != 0)
        group_starts = np.append(np.flatnonzero(first), len(order)).astype(np.int64)
        starts = np.append(np.searchsorted(targets[first], changing), first.sum()).astype(np.int64)
        per_state = np.diff(group_starts[starts])
        # Of what a state has, up to all moves in and up to all moves out, and losses are sums themselves.
        self.longest = 2 * (int(per_state.max(initial=0)) + self.longest)
        self.entries = len(order)
        return GroupedRows(
            changing,
            starts,
            np.ascontiguousarray(terms[first]),
            group_starts,
            columns[order],
            coefficients[order],
            own.n_states,
            own.n_terms,
            forward=True,
        )


@dataclass(frozen=True, eq=False)
class Mass:
    """Bounds on a measure on the states, for all points of each box.

    Attributes
    ----------
    lower, upper
        ``(states, boxes)``.
    least, most
        ``(boxes,)`` bounds on the mass of all states together.
    under, over
        ``(boxes,)`` how far, added up over all states, ``lower`` may be above the truth, and ``upper`` below it.
    """

    lower: Floats
    upper: Floats
    least: Floats
    most: Floats
    under: Floats
    over: Floats

    @classmethod
    def at(cls, state: int, n_states: int, n_boxes: int) -> Mass:
        """All of it in one state."""
        there = np.zeros((n_states, n_boxes))
        there[state] = 1.0
        one, none = np.ones(n_boxes), np.zeros(n_boxes)
        return cls(there, there, one, one, none, none)

    def tightened(self) -> Mass:
        """What all the others have at least, one cannot have; what they have not even at most, it has."""
        below, above = self.lower.sum(axis=0), self.upper.sum(axis=0)
        slack = _sum_error(len(self.lower), above + self.most)
        lower = np.maximum(self.lower, self.least - (above - self.upper) - self.over - slack)
        upper = np.minimum(self.upper, self.most - (below - self.lower) + self.under + slack)
        return Mass(lower, np.maximum(upper, 0.0), self.least, self.most, self.under, self.over)

    def expected(self, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """Bounds on the sum of values times masses; values, ``(states, boxes)`` or ``(states, 1)``, not negative."""
        lower = _dual(least, self.upper, self.lower, self.least).max(axis=0)
        upper = _dual(most, self.lower, self.upper, self.most).min(axis=0)
        above = self.upper.sum(axis=0)
        off = 1.01 * (self.under + self.over) + _sum_error(len(self.lower), above + self.most)
        largest = most.max(axis=0)
        upper = np.minimum(upper + off * largest, self.most * largest * (1 + 4 * UNIT))
        return np.maximum(lower - off * least.max(axis=0), 0.0), upper

    def within(self, states: Mask) -> Mass:
        """The mass in some of the states."""
        inside = states.astype(np.float64)[:, None]
        least, most = self.expected(inside, inside)
        return Mass(self.lower * inside, self.upper * inside, least, most, self.under, self.over)


def _dual(values: Floats, small: Floats, large: Floats, total: Floats) -> Floats:
    """Bounds on Σ values·mass, one for each value taken as the price λ of a unit of mass.

    Σ v·m = λ·total + Σ (v - λ)·m, and m is replaced by ``small`` where v < λ and by ``large`` where not. With the upper
    bounds of masses as ``small`` and the lower ones as ``large`` all are bounds from below; the other way round, from
    above. The best of them is the optimum of the linear program in m.
    """
    order = np.argsort(values, axis=0, kind="stable")
    prices = np.take_along_axis(values, order, axis=0)
    whole = np.broadcast_to(order, small.shape)
    small, large = (np.take_along_axis(mass, whole, axis=0) for mass in (small, large))

    def mixed(small: Floats, large: Floats) -> Floats:
        before: Floats = np.cumsum(small, axis=0) - small
        after: Floats = np.cumsum(large[::-1], axis=0)[::-1]
        return before + after

    found: Floats = prices * (total - mixed(small, large)) + mixed(prices * small, prices * large)
    return found


def _sum_error(count: int, size: Floats) -> Floats:
    """What rounding does to a few sums of so many masses."""
    return 8 * (count + 8) * UNIT * size


def moved(
    rows: ForwardRows,
    term_bounds: tuple[Floats, Floats],
    mass: Mass,
    time: float,
    *,
    over: bool = False,
    threads: int = 1,
    tell: Callable[[int], None] | None = None,
) -> tuple[Mass, int]:
    """Where the mass is after a time, or with ``over`` how long it has been where; and the steps that were made.

    ``term_bounds`` and ``tell`` are those of :func:`.transient.transient`.
    """
    factor, slack = (time, 2 * UNIT) if over else (1.0, 0.0)
    least, most = mass.least * factor * (1 - slack), mass.most * factor * (1 + slack)
    q = rows.rates(term_bounds[1])
    if time == 0 or not q.any():
        under, lacking = mass.under * factor * 1.01, mass.over * factor * 1.01
        lower, upper = mass.lower * factor * (1 - slack), mass.upper * factor * (1 + slack)
        return Mass(lower, upper, least, most, under, lacking), 0
    q, weights, padded, table = uniformised(rows, q, term_bounds, time, over=over)
    n_boxes, last, steps = len(q), int(weights.ends.max()), rows.kernel.steps(table, weights)
    x = np.stack([mass.lower, mass.upper], axis=1)[:, :, padded]
    width = len(padded)
    watched: Int32s = np.arange(len(x), dtype=np.int32)
    x = rows.kernel.array(x)
    other, sums, changes = rows.kernel.array(rows.kernel.view(x, width)), np.zeros(x.size), np.zeros(2 * width)
    flushed = TINY * rows.entries
    under, lacking = mass.under + rounding(rows, last, mass.most + mass.under) + flushed, mass.over + flushed
    for done in range(0, last, TOGETHER):
        count = min(TOGETHER, last - done)
        if steps.run(done, count, x, other, watched, sums, changes, threads):
            x, other = other, x
        now = rows.kernel.view(x, width)[:, :, :n_boxes]
        # Mass above only grows from step to step, so this is the most there has been since the last look.
        lacking += rounding(rows, count, now[:, 1].sum(axis=0))
        closer = Mass(now[:, 0], now[:, 1], mass.least, mass.most, under, lacking).tightened()
        now[:, 0], now[:, 1] = closer.lower, closer.upper
        other[:] = x
        if tell is not None:
            tell(done + count)
    found = rows.kernel.view(sums, width)[:, :, :n_boxes]
    made = weights.ends[:n_boxes]
    less, more, _, missing = margins(rows, mass.most + mass.under, weights, made, q if over else None, time)
    under, lacking = 1.01 * under * factor, 1.01 * (lacking * factor + missing)
    return Mass(found[:, 0] * less, found[:, 1] * more, least, most, under, lacking).tightened(), int(made.sum())
