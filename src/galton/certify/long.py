"""Bounds in long arithmetic, where no doubles satisfy the conditions of a certificate.

In a component that is hard to leave, values of neighbours may differ by 1e-85, and whether a vector is a bound hangs on
these differences. So the best strategy is found, and its chain is solved, in decimals as long as needed. What is solved
are not the equations but those of x ± δw: δ is added to what each row earns (or taken away), so that every row has δ to
spare, and rounding x to multiples of δ/16 keeps it a bound.
"""

from __future__ import annotations

import math
from collections import deque
from decimal import Decimal, getcontext, localcontext
from functools import cached_property

import numpy as np

from ..graph import can_reach, maximal_end_components, surely_reaches, zero_and_one
from ..verifier.certificate import Side
from ..verifier.numbers import Exact, Floats, Mask, Vector
from ..verifier.question import Question
from .elimination import eliminate
from .ranks import Graph

__all__ = ["LongProblem", "rounded"]

SPARE = 12  # digits between δ and the last one
BUDGET = 5_000_000  # products of one elimination
ROUNDS = 200  # of policy iteration
ZERO = Decimal(0)


def rounded(values: list[Decimal], grain: int) -> list[Exact]:
    """Multiples of 2^-grain next to the values."""
    scale = Decimal(1 << grain)
    found: list[Exact] = []
    with localcontext() as context:
        context.prec = getcontext().prec + grain
        for value in values:
            mantissa = int((value * scale).to_integral_value())
            twos = (mantissa & -mantissa).bit_length() - 1 if mantissa else grain
            found.append((mantissa >> twos, twos - grain))
    return found


class LongProblem:
    """The equations of a question: unknowns for the states that graph analysis leaves open, one per end component that
    costs nothing to stay in, and rows among them."""

    def __init__(self, question: Question, graph: Graph) -> None:
        self.question, self.graph = question, graph
        self.maximise = question.optimum == "max"
        self.known: Floats = np.zeros(graph.states)
        everything = np.ones(graph.rows.count, dtype=np.bool_)
        if question.kind in ("reach", "avoid"):
            open_states, keep, merge = self._probability(), everything, None
            if (question.optimum == "max") == (question.kind == "reach") and question.optimum:
                merge = maximal_end_components(question.model, open_states)
        else:
            open_states, keep = self._reward()
            free = keep.copy()
            for gain in question.gains:
                free &= gain == 0
            merge = maximal_end_components(question.model, open_states, free) if question.optimum else None
        self.open = open_states
        self.unknown = np.full(graph.states, -1, dtype=np.int64)
        staying = np.zeros(graph.rows.count, dtype=np.bool_)
        states = np.flatnonzero(open_states)
        if merge is None or not merge.count:
            self.unknown[states] = np.arange(len(states))
        else:
            keys = np.where(merge.component[states] >= 0, merge.component[states], merge.count + states)
            self.unknown[states] = np.unique(keys, return_inverse=True)[1]
            staying = merge.staying
        self.size = int(self.unknown.max(initial=-1)) + 1
        self._read_rows(np.flatnonzero(open_states[graph.rows.owner] & keep & ~staying))

    def _probability(self) -> Mask:
        question = self.question
        reach = question.kind == "reach"
        optimum = question.optimum
        if optimum and not reach:
            optimum = "min" if optimum == "max" else "max"
        no, yes = zero_and_one(question.model, ~question.fail, question.goal, optimum)
        self.known[yes if reach else no] = 1.0
        found: Mask = ~(no | yes)
        return found

    def _reward(self) -> tuple[Mask, Mask]:
        """The states with a finite reward that is not 0 for a known reason, and the rows they may take."""
        question, model, owner = self.question, self.question.model, self.graph.rows.owner
        everywhere, least = np.ones(self.graph.states, dtype=np.bool_), question.optimum == "min"
        earning = np.zeros(self.graph.rows.count, dtype=np.bool_)
        for gain in question.gains:
            earning |= gain > 0
        goal = question.goal
        if question.kind == "reward":
            finite = surely_reaches(model, ~question.fail, goal, some_strategy=least)
        elif least:
            goal = maximal_end_components(model, choices=~earning).component >= 0
            finite = surely_reaches(model, everywhere, goal, some_strategy=True)
        else:
            ends = maximal_end_components(model)
            paying = np.isin(ends.component, ends.component[owner[ends.staying & earning]]) & (ends.component >= 0)
            finite = ~can_reach(model, everywhere, paying)
            left = ends.component[owner[~ends.staying]]  # end components that can be left are not the end
            goal = (ends.component >= 0) & ~np.isin(ends.component, left) & finite
        self.known[~finite] = np.inf
        keep = self.graph.only_into(finite) if least else np.ones(self.graph.rows.count, dtype=np.bool_)
        return finite & ~goal, keep

    def _read_rows(self, rows: np.ndarray) -> None:
        """Each row as rates among the unknowns, without loops; its rate out of them, what it earns, and its weight."""
        table = self.graph.rows
        self.rows_of: list[list[int]] = [[] for _ in range(self.size)]
        self.rates: list[dict[int, Decimal]] = []
        self.ends: list[Decimal] = []
        self.earned: list[Decimal] = []
        self.weights: list[Decimal] = []
        gains = self.question.gains if self.question.kind in ("reward", "total") else ()
        with localcontext() as context:
            context.prec = 1100  # sums of doubles, all but exact
            for row in rows.tolist():
                own = int(self.unknown[table.owner[row]])
                columns, values = table.entries(row)
                rates: dict[int, Decimal] = {}
                end, earned, weight = ZERO, ZERO, ZERO
                for column, value in zip(columns, values, strict=True):
                    p = Decimal(value)
                    weight += p
                    to = int(self.unknown[column])
                    if to < 0:
                        end += p
                        earned += p * Decimal(float(self.known[column]))
                    elif to != own:
                        rates[to] = rates.get(to, ZERO) + p
                scale = Decimal(1) if table.rates else weight
                earned += scale * sum((Decimal(float(gain[row])) for gain in gains), ZERO)
                self.rows_of[own].append(len(self.rates))
                self.rates.append(rates)
                self.ends.append(end)
                self.earned.append(earned)
                self.weights.append(sum(rates.values(), end))

    def bounds(self, side: Side, digits: int) -> Vector | None:
        """Bounds of that side to so many digits; None where they cannot be had."""
        with localcontext() as context:
            context.prec = digits
            slack = Decimal(10) ** (SPARE - digits) * max(Decimal(1), self._magnitude)
            found = self._solved(slack if side == "upper" else -slack) if self.size else []
            if found is None:
                return None
            grain = max(0, math.ceil(-(slack / 16).log10() / Decimal(2).log10()))
            exact = rounded(found, grain)
        most: Exact = (1, 0) if self.question.kind in ("reach", "avoid") else None
        values: list[Exact] = []
        for known, unknown in zip(self.known.tolist(), self.unknown.tolist(), strict=True):
            if unknown >= 0:
                value = exact[unknown]
                assert value is not None
                if value[0] < 0:
                    value = (0, 0)
                elif most is not None and value[1] < 0 and value[0] > 1 << -value[1]:
                    value = most
                values.append(value)
            else:
                values.append(None if math.isinf(known) else (int(known), 0))
        return Vector(values)

    @cached_property
    def _magnitude(self) -> Decimal:
        """About the largest number of the solution: what is rounded is relative to it."""
        policy = self._leaving()
        chain = None if policy is None else self._evaluated(policy)
        return ZERO if chain is None else max(chain[0], default=ZERO)

    def _evaluated(self, policy: list[int]) -> list[list[Decimal]] | None:
        """What the strategy earns, and its weights, to the end."""
        return eliminate(
            [dict(self.rates[row]) for row in policy],
            [self.ends[row] for row in policy],
            [[self.earned[row] for row in policy], [self.weights[row] for row in policy]],
            BUDGET,
        )

    def _solved(self, slack: Decimal) -> list[Decimal] | None:
        """x + slack·w of the best strategy, where each row earns ``slack`` times its weight besides."""
        policy = self._leaving()
        if policy is None:
            return None
        for _ in range(ROUNDS):
            pair = self._evaluated(policy)
            if pair is None:
                return None
            value = [x + slack * w for x, w in zip(*pair, strict=True)]
            if not self._improved(policy, value, slack):
                return value
        return None

    def _improved(self, policy: list[int], value: list[Decimal], slack: Decimal) -> bool:
        """Take better rows, where there are any that are better by more than rounding."""
        changed = False
        for own, rows in enumerate(self.rows_of):
            if len(rows) == 1:
                continue
            best, here = abs(slack) / 4, value[own]
            for row in rows:
                weight = self.weights[row]
                if not weight:
                    continue
                moves = sum((rate * (value[to] - here) for to, rate in self.rates[row].items()), -self.ends[row] * here)
                drift = (moves + self.earned[row]) / weight + slack
                better = drift if self.maximise else -drift
                if better > best:
                    best, policy[own], changed = better, row, True
        return changed

    def _leaving(self) -> list[int] | None:
        """A strategy that leaves the unknowns with probability 1."""
        policy = [-1] * self.size
        into: list[list[tuple[int, int]]] = [[] for _ in range(self.size)]
        ready: deque[tuple[int, int]] = deque()
        for own, rows in enumerate(self.rows_of):
            for row in rows:
                if self.ends[row]:
                    ready.append((own, row))
                for to in self.rates[row]:
                    into[to].append((own, row))
        while ready:
            own, row = ready.popleft()
            if policy[own] < 0:
                policy[own] = row
                ready.extend(into[own])
        return None if -1 in policy else policy
