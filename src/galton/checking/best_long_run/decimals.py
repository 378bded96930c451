"""The gain of one end component by policy iteration in decimals, of as many digits as it takes.

Where a component is hard to cross, the bias is larger than the gain by many orders of magnitude, and doubles have no
digits for what tells one choice from another. Here a strategy is evaluated by elimination without subtraction: z is a
state where it ends, u the reward and v the time until it comes to z, both sums of what is not negative. Then the gain
is g = (r(z) + Pu(z)) / (1 + Pv(z)) and the bias h = u - gv, and r + Ph - h, rounded outwards, proves the gain as it
does in doubles (:mod:`.proof`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

import numpy as np

from ...model.errors import NumericError
from ...model.sparse import Int32s, Mask
from ...solve.direct.decimal_elimination import ZERO, factorise
from ...solve.direct.decimal_policies import Budget
from .policies import led_home
from .proof import Proof

__all__ = ["settle"]

FIRST = 40  # digits to begin with, which tell how many are needed
NOISE = 15  # digits that rounding may spoil, with plenty to spare
MARGIN = 6  # further digits than eps asks for
MOST = 5_000  # digits
STRATEGIES = 200
ONE = Decimal(1)


def settle(proof: Proof) -> bool:
    """Close the bounds of a single component, and keep the choices that attain them; False where it takes too long."""
    try:
        return _Search(proof).run()
    except NumericError:
        return False


class _Search:
    def __init__(self, proof: Proof) -> None:
        self.proof, inside = proof, proof.inside
        model, reward = inside.model, inside.reward
        owners, groups = inside.chain.owners, model.choice_starts
        assert owners is not None
        assert groups is not None
        self.owners, self.groups = owners.tolist(), groups.tolist()
        starts, columns, values = model.row_starts.tolist(), model.columns.tolist(), model.values.array().tolist()
        self.rows = [
            [(columns[e], Decimal(values[e])) for e in range(starts[r], starts[r + 1]) if columns[e] != s]
            for r, s in enumerate(self.owners)
        ]
        exact = Context(prec=3000, Emax=MAX_EMAX, Emin=MIN_EMIN)  # for the sum of two doubles
        none = [0.0] * len(self.owners)
        state = none if reward.state is None else reward.state[owners].tolist()
        choice = none if reward.choice is None else reward.choice.tolist()
        self.earned = [exact.add(Decimal(a), Decimal(b)) for a, b in zip(state, choice, strict=True)]
        self.budget = Budget(proof.settings)
        self.entries = sum(map(len, self.rows)) + len(self.rows)
        self.near = Context()
        self._take_digits(FIRST)

    def run(self) -> bool:
        wanted = MARGIN - int(np.floor(np.log10(self.proof.settings.eps)))
        rows = self.proof.policy()
        for _ in range(STRATEGIES):
            rows, home = led_home(self.proof, rows)
            h, needed = self._evaluate(rows, home)
            if needed + NOISE + wanted > self.near.prec:
                self._take_digits(needed + NOISE + wanted)
                continue
            better = self._prove(rows, h)
            if not self.proof.open[0]:
                self.proof.settled = rows
                return True
            if better is None:
                self._take_digits(2 * self.near.prec)
            else:
                rows = better
        return False

    def _take_digits(self, digits: int) -> None:
        if digits > MOST:
            raise NumericError(f"numbers of {digits:,} digits would be needed")
        self.budget.digits = digits
        self.near = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)

    def _evaluate(self, rows: Int32s, home: Mask) -> tuple[list[Decimal], int]:
        """The bias of a strategy that ends at home, and how many digits the ways there have more than the gain."""
        near, taken, z = self.near, rows.tolist(), int(np.argmax(home))
        inner: list[list[tuple[int, Decimal]]] = []
        leaving: list[Decimal] = []
        for s, row in enumerate(taken):
            inner.append([(t, near.plus(p)) for t, p in self.rows[row] if t != z and s != z])
            leaving.append(ONE if s == z else next((near.plus(p) for t, p in self.rows[row] if t == z), ZERO))
        factors = factorise(near, inner, leaving, self.budget.spend)
        earned = [near.plus(self.earned[row]) for row in taken]
        u = factors.solve([ZERO if s == z else r for s, r in enumerate(earned)])
        v = factors.solve([ZERO if s == z else ONE for s in range(len(taken))])
        total, time = earned[z], ONE
        for t, p in self.rows[taken[z]]:
            total, time = near.fma(p, u[t], total), near.fma(p, v[t], time)
        gain = near.divide(total, time)
        h = [near.fma(gain.copy_negate(), b, a) for a, b in zip(u, v, strict=True)]
        largest = max((x.adjusted() for x in u if x), default=0)
        return h, largest - gain.adjusted() if gain else 0

    def _prove(self, rows: Int32s, h: Sequence[Decimal]) -> Int32s | None:
        """Narrow the bounds by what h proves; rows that are better for certain, None where there are none."""
        below, above = self._drift(h, ROUND_FLOOR), self._drift(h, ROUND_CEILING)
        taken, found = rows.tolist(), rows.copy()
        maximise = self.proof.maximise
        if maximise:
            least, most = min(below[row] for row in taken), max(above)
        else:
            least, most = min(below), max(above[row] for row in taken)
        self.proof.narrow(np.array([_as_double(least, above=False)]), np.array([_as_double(most, above=True)]))
        changed = False
        for s, row in enumerate(taken):
            own = range(self.groups[s], self.groups[s + 1])
            best = max(own, key=below.__getitem__) if maximise else min(own, key=above.__getitem__)
            if below[best] > above[row] if maximise else above[best] < below[row]:
                found[s], changed = best, True
        return found if changed else None

    def _drift(self, h: Sequence[Decimal], rounding: str) -> list[Decimal]:
        """``(choices,)`` r + Ph - h, rounded one way."""
        context = Context(prec=self.near.prec, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
        self.budget.spend(self.entries)
        found = []
        for row, s, earned in zip(self.rows, self.owners, self.earned, strict=True):
            drift, mine = context.plus(earned), h[s]
            for t, p in row:
                drift = context.fma(p, context.subtract(h[t], mine), drift)
            found.append(drift)
        return found


def _as_double(value: Decimal, *, above: bool) -> float:
    """The nearest double on the safe side."""
    found = float(value)
    if above:
        return found if Decimal(found) >= value else float(np.nextafter(found, np.inf))
    return found if Decimal(found) <= value else float(np.nextafter(found, -np.inf))
