"""Proofs with longer numbers, for components of MDPs that are hard to leave.

Whether one choice is better than another may hang on a difference of 1e-85, where doubles have 16 digits. Here numbers
are decimals of as many digits as it takes. The proof is that of ``sound.py``: x is a proposal, by policy iteration
(Howard 1960) around an elimination without subtraction; w is a weight with w >= x/2 + Aw on all rows that are nearly
the best; and x ± εw is checked by one sweep that rounds outwards. Where w/x, which is how many steps remain, is 10^k,
k + 27 digits will do for an eps of 1e-6.

Operators on decimals round to the 28 digits of the thread's context; so all arithmetic here is by methods of a context.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, Inexact

import numpy as np

from ...model.errors import NumericError
from ...model.values import Floats
from ..equations import Equations, Int32s, Segment
from ..settings import Settings
from .decimal_elimination import ZERO, ClosedError, factorise

__all__ = ["Budget", "prove"]

FIRST = 40  # digits to begin with, which tell how many are needed
NOISE = 15  # digits that rounding may spoil, with plenty to spare
MARGIN = 6  # further digits than eps asks for
MOST = 20_000  # digits
OPERATIONS = 2e7  # on 50 digits: some ten seconds
ROUNDS = 1000  # of policy iteration
ATTEMPTS = 8  # at a number of digits
HALF = Decimal("0.5")
# Doubles, their sums and their products, without rounding: none has more digits.
EXACT = Context(prec=20_000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A choice: ``total · x = Σ rate · x[to] + constant``. The total includes what leaves, ``outer``."""

    inner: tuple[tuple[int, Decimal], ...]
    outer: Decimal
    total: Decimal
    constant: Decimal

    def rounded(self, context: Context) -> _Row:
        """The row in fewer digits."""
        inner = tuple((to, context.plus(rate)) for to, rate in self.inner)
        return _Row(inner, context.plus(self.outer), context.plus(self.total), context.plus(self.constant))


def prove(
    equations: Equations, segment: Segment, chosen: Int32s, lower: Floats, upper: Floats, settings: Settings
) -> Int32s:
    """Write proved bounds of the unknowns of a segment; returns the rows that attain them.

    Parameters
    ----------
    chosen
        ``(unknowns of the segment,)`` rows to begin with.
    lower, upper
        ``(unknowns,)`` bounds; those of earlier unknowns are used, those of the segment written.
    """
    part, begin = slice(segment.first, segment.last), equations.rows_of(segment).start
    taken = [int(row) - begin for row in chosen]
    ending = [int(row) - begin for row in equations.progress[part]]
    budget = Budget(settings)
    # Earlier unknowns and rewards are known between bounds: the lower ones make one system, the upper ones another. The
    # side that no strategy proves comes first, because it takes the digits that tell which strategy is the best.
    sides = ((False, lower), (True, upper))
    for above, bounds in reversed(sides) if equations.optimum == "max" else sides:
        component = _Component(*_rows(equations, segment, bounds, above), equations.optimum, budget)
        values, taken = component.bound(taken, ending, above)
        bounds[part] = [_as_double(value, above) for value in values]
    return np.asarray(taken, dtype=np.int32) + np.int32(begin)


def _rows(equations: Equations, segment: Segment, bounds: Floats, above: bool) -> tuple[list[_Row], list[int]]:
    """The rows of a segment, exactly, and the offsets of its unknowns in them."""
    origin, span = equations.origin, equations.rows_of(segment)
    model, size = origin.model, segment.last - segment.first
    groups = equations.groups
    firsts = np.arange(size + 1) if groups is None else groups[segment.first : segment.last + 1] - span.start
    owner = np.repeat(np.arange(size), np.diff(firsts))
    rows = []
    for own, row in zip(owner.tolist(), equations.rows[span].tolist(), strict=True):
        part = slice(int(model.row_starts[row]), int(model.row_starts[row + 1]))
        inner: dict[int, Decimal] = {}
        outer = constant = everything = ZERO
        for target, number in zip(model.columns[part].tolist(), model.values[part].tolist(), strict=True):
            rate, unknown = Decimal(number), int(origin.number[target])
            everything = EXACT.add(everything, rate)
            local = unknown - segment.first
            if unknown >= 0 and 0 <= local < size:
                if local != own:
                    inner[local] = EXACT.add(inner.get(local, ZERO), rate)
                continue
            outer = EXACT.add(outer, rate)
            value = float(origin.known[target]) if unknown < 0 else float(bounds[unknown])
            constant = EXACT.add(constant, EXACT.multiply(rate, Decimal(value)))
        reward = 0.0 if origin.reward is None else float(origin.reward[row])
        if reward:  # a sum that was rounded; per step, which the whole row is, or per unit of time
            earned = Decimal(math.nextafter(reward, math.inf if above else 0.0))
            constant = EXACT.add(constant, earned if model.is_continuous else EXACT.multiply(earned, everything))
        total = outer
        for rate in inner.values():
            total = EXACT.add(total, rate)
        rows.append(_Row(tuple(inner.items()), outer, total, constant))
    return rows, firsts.tolist()


@dataclass
class Budget:
    """How much may still be done, and how many digits are wanted."""

    settings: Settings
    left: float = OPERATIONS
    digits: int = FIRST

    def spend(self, operations: int) -> None:
        """Count operations on so many digits."""
        self.left -= operations * (1 + (self.digits / 100) ** 1.2)
        if self.left < 0:
            raise NumericError(f"with numbers of {self.digits:,} digits it would take too long")
        self.settings.tell(step="longer numbers", digits=self.digits)


@dataclass(eq=False)
class _Component:
    """Rows by unknown, over which the optimum is sought; no ``optimum`` for a chain."""

    rows: list[_Row]
    firsts: list[int]
    optimum: str | None
    budget: Budget
    rounded: list[_Row] = field(default_factory=list)
    near: Context = field(default_factory=Context)

    def bound(self, taken: list[int], ending: list[int], above: bool) -> tuple[list[Decimal], list[int]]:
        """A bound of each unknown that is proved, and the rows that attain it."""
        wanted = max(MARGIN - math.floor(math.log10(self.budget.settings.eps)), MARGIN)
        digits = FIRST
        for _ in range(ATTEMPTS):
            self._take_digits(digits)
            taken, x = self._policy_iteration(taken, ending)
            candidate, steps = self._candidate(taken, x, above, wanted)
            if candidate is not None:
                return candidate, taken
            needed = steps + NOISE + wanted
            digits = needed if needed > digits else 2 * digits
            if digits > MOST:
                break
        raise NumericError(f"numbers of {digits:,} digits would be needed")

    def _take_digits(self, digits: int) -> None:
        self.budget.digits = digits
        self.near = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)
        self.rounded = [row.rounded(self.near) for row in self.rows]

    def _rounding(self, times: int = 1) -> Decimal:
        """What is no more than rounding, in parts of a number."""
        return Decimal((0, (times,), NOISE - self.near.prec))

    # Proposals.

    def _evaluate(self, taken: Sequence[int], constants: Iterable[Decimal]) -> list[Decimal]:
        rows = [self.rounded[row] for row in taken]
        factors = factorise(self.near, [row.inner for row in rows], [row.outer for row in rows], self.budget.spend)
        return factors.solve(list(constants))

    def _policy_iteration(self, taken: list[int], ending: list[int]) -> tuple[list[int], list[Decimal]]:
        """The best strategy, as far as these digits can tell, and its values."""
        taken = list(taken)
        for _ in range(ROUNDS):
            try:
                x = self._evaluate(taken, (self.rounded[row].constant for row in taken))
            except ClosedError:
                if taken == ending:
                    raise
                taken = list(ending)  # from strategies that end, improvements lead to such only
                continue
            if not self._improve(taken, x):
                return taken, x
        raise NumericError("policy iteration does not come to an end")

    def _improve(self, taken: list[int], x: list[Decimal]) -> bool:
        if self.optimum is None:
            return False
        changed = False
        for s, value in enumerate(x):
            most = self.near.multiply(value, self._rounding())
            for r in range(self.firsts[s], self.firsts[s + 1]):
                row = self.rounded[r]
                if r == taken[s] or not row.total:
                    continue
                gain = self.near.divide(self._gain(row, x, s, row.constant), row.total)
                if self.optimum == "min":
                    gain = gain.copy_negate()
                if gain > most:
                    most, taken[s], changed = gain, r, True
        self.budget.spend(len(self.rows))
        return changed

    def _gain(self, row: _Row, x: list[Decimal], s: int, constant: Decimal) -> Decimal:
        """How much more the row with this constant is worth than x, times its total."""
        more = self.near.fma(row.total.copy_negate(), x[s], constant)
        for to, rate in row.inner:
            more = self.near.fma(rate, x[to], more)
        return more

    # Proofs.

    def _candidate(
        self, taken: list[int], x: list[Decimal], above: bool, wanted: int
    ) -> tuple[list[Decimal] | None, int]:
        """A bound that was checked, or None; and the number of digits of the steps that remain."""
        # A strategy bounds the optimum from its own side: there only the rows that it takes have to hold.
        everywhere = self.optimum == ("max" if above else "min")
        weighed = [{row} for row in taken]
        epsilon = self._rounding(8)
        steps = 0
        for _ in range(len(self.rows) + 1):
            w = self._weigh(weighed, taken, x)
            steps = max((w[s].adjusted() - value.adjusted() + 1 for s, value in enumerate(x) if value), default=0)
            if steps + NOISE + wanted > self.near.prec:
                return None, steps
            shift = epsilon if above else epsilon.copy_negate()
            bound = [max(self.near.fma(shift, w[s], value), ZERO) for s, value in enumerate(x)]
            failing = self._failing(bound, above, taken, everywhere)
            if not failing:
                return bound, steps
            if all(row in weighed[s] for s, row in failing):
                return None, steps
            for s, row in failing:
                weighed[s].add(row)
        return None, steps

    def _weigh(self, weighed: list[set[int]], taken: list[int], x: list[Decimal]) -> list[Decimal]:
        """A w with w >= x/2 + Aw on all these rows: policy iteration that stops early, for the longest way."""
        rows = list(taken)
        for _ in range(ROUNDS):
            constants = (self.near.multiply(self.rounded[row].total, x[s]) for s, row in enumerate(rows))
            w = self._evaluate(rows, constants)
            changed = False
            for s, some in enumerate(weighed):
                for r in some - {rows[s]}:
                    row = self.rounded[r]
                    if self._gain(row, w, s, self.near.multiply(row.total, self.near.multiply(x[s], HALF))) > 0:
                        rows[s], changed = r, True
            if not changed:
                return w
        raise NumericError("policy iteration does not come to an end")

    def _failing(self, bound: list[Decimal], above: bool, taken: list[int], everywhere: bool) -> list[tuple[int, int]]:
        """Unknowns and rows for which a bound does not hold: every operation rounds against it."""
        with_, against = (ROUND_FLOOR, ROUND_CEILING) if above else (ROUND_CEILING, ROUND_FLOOR)
        left, right = (Context(self.near.prec, rounding, MIN_EMIN, MAX_EMAX) for rounding in (with_, against))
        failing = []
        for s, value in enumerate(bound):
            for r in range(self.firsts[s], self.firsts[s + 1]) if everywhere else (taken[s],):
                row = self.rows[r]
                if not row.total and not above:
                    continue  # never ends, and costs infinitely much
                rest = row.constant
                for to, rate in row.inner:
                    rest = right.fma(rate, bound[to], rest)
                mine = left.multiply(row.total, value)
                if mine < rest if above else mine > rest:
                    failing.append((s, r))
        self.budget.spend(len(self.rows))
        return failing


def _as_double(value: Decimal, above: bool) -> float:
    """The nearest double on the safe side."""
    found = float(value)
    if above:
        return found if Decimal(found) >= value else math.nextafter(found, math.inf)
    return found if Decimal(found) <= value else math.nextafter(found, 0.0)
