"""Elimination without subtraction (Grassmann, Taksar and Heyman 1985) in decimals of any length.

Rows are rates, d x = Σ a x + c with d the sum of all rates of the row, those that leave included; see
``src/core/solve/eliminate.hpp``, which does the same faster with the digits of doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from heapq import heapify, heappop, heappush

from .solution import NumericError

__all__ = ["ClosedError", "Factors", "factorise"]

ZERO = Decimal(0)


class ClosedError(NumericError):
    """Some states are never left, so that there is no solution."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A state that was eliminated: what it had left, and the share of it that each state before it takes over."""

    state: int
    total: Decimal
    behind: tuple[tuple[int, Decimal], ...]
    shares: tuple[tuple[int, Decimal], ...]


@dataclass(frozen=True, eq=False)
class Factors:
    """A system that has been eliminated, to be solved for any constants."""

    context: Context
    steps: Sequence[_Step]

    def solve(self, constants: Sequence[Decimal]) -> list[Decimal]:
        """The x of d x = Σ a x + c."""
        multiply, add = self.context.multiply, self.context.add
        c = list(constants)
        for step in self.steps:
            mine = c[step.state]
            if mine:
                for before, share in step.shares:
                    c[before] = add(c[before], multiply(share, mine))
        x = [ZERO] * len(c)
        for step in reversed(self.steps):
            value = c[step.state]
            for to, rate in step.behind:
                value = self.context.fma(rate, x[to], value)
            x[step.state] = self.context.divide(value, step.total)
        return x


def factorise(
    context: Context,
    rows: Sequence[Sequence[tuple[int, Decimal]]],
    leaving: Sequence[Decimal],
    spend: Callable[[int], None],
) -> Factors:
    """Eliminate all states, those with the fewest pairs of neighbours first.

    Parameters
    ----------
    rows
        The rates of each state to others.
    leaving
        The rates out of the system.
    spend
        Called with the number of operations done; may raise to stop.
    """
    add, multiply, divide = context.add, context.multiply, context.divide
    out = [dict(row) for row in rows]
    before: list[set[int]] = [set() for _ in out]
    left = list(leaving)
    for state, row in enumerate(out):
        for to in row:
            before[to].add(state)
    queue = [(len(before[s]) * (len(out[s]) + 1), s) for s in range(len(out))]
    heapify(queue)
    steps: list[_Step] = []
    while queue:
        cost, state = heappop(queue)
        now = len(before[state]) * (len(out[state]) + 1)
        if now > cost:
            heappush(queue, (now, state))
            continue
        spend(now + 1)
        behind, shares = tuple(out[state].items()), []
        total = left[state]
        for to, rate in behind:
            total = add(total, rate)
            before[to].discard(state)
        if not total:
            raise ClosedError("a strategy never ends")
        for other in before[state]:
            row = out[other]
            share = divide(row.pop(state), total)
            shares.append((other, share))
            left[other] = add(left[other], multiply(share, left[state]))
            for to, rate in behind:
                if to == other:
                    continue
                known = row.get(to)
                more = multiply(share, rate)
                if known is None:
                    row[to] = more
                    before[to].add(other)
                else:
                    row[to] = add(known, more)
        steps.append(_Step(state, total, behind, tuple(shares)))
    return Factors(context, steps)
