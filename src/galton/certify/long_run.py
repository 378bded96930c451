"""Certificates of long-run averages: biases of the bottom components, in long arithmetic.

With a state 0 of a bottom component, x what is earned and t how many steps (how much time) there are until the chain is
in 0 (again): the average is g = x_0/t_0, and h = x - g·t, with h_0 = 0, are biases: r_i - g + Σ p_j (h_j - h_i) = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..graph import Components, bottom_components
from ..verifier.certificate import Bound, Side
from ..verifier.numbers import Exact, Floats, Ints, Vector
from ..verifier.question import Question
from .elimination import eliminate
from .long import BUDGET, SPARE, ZERO, rounded
from .ranks import Graph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LongRun"]

LIKELY = 100.0  # a state that is seen so many times as often is worth another start
STEPS = 500


@dataclass(frozen=True, eq=False)
class LongRun:
    """The bottom components of a question's chain, and what both sides need of them."""

    question: Question
    graph: Graph

    @cached_property
    def components(self) -> Components:
        return bottom_components(self.question.model)

    @cached_property
    def ranks(self) -> Ints:
        core = self.components.component >= 0
        return self.graph.fall(core, ~core, every=True).ranks

    @cached_property
    def biases(self) -> Vector:
        return _biases_in_doubles(self.question, self.components)

    def bounds(self, side: Side, doubles: Vector | None, digits: Sequence[int]) -> Iterator[Bound | None]:
        """Bounds with more and more digits; first with the solver's own bounds, and biases in doubles."""
        if doubles is not None:
            yield Bound(doubles, ranks=self.ranks, biases=self.biases)
        for count in digits:
            found = _biases(self.question, self.components, count)
            if found is None:
                return
            if doubles is not None:
                yield Bound(doubles, ranks=self.ranks, biases=found.biases)
            values = _means(self.question, self.graph, self.components, found, side, count)
            yield None if values is None else Bound(values, ranks=self.ranks, biases=found.biases)


@dataclass(frozen=True)
class _Found:
    averages: list[Decimal]  # of each bottom component
    biases: Vector


def _biases(question: Question, components: Components, digits: int) -> _Found | None:
    rows = question.rows
    numbers: list[Exact] = [(0, 0)] * question.model.n_states
    means: list[Decimal] = []
    with localcontext() as context:
        context.prec = digits
        grain = math.ceil((digits - SPARE) * math.log2(10)) + 4
        for k in range(components.count):
            members = components.states(k).tolist()
            found = _of_component(question, members)
            if found is None:
                return None
            mean, biases = found
            means.append(mean)
            if any(biases):
                largest = max(abs(h) for h in biases)
                finer = max(0, grain - max(0, int(largest.log10() / Decimal(2).log10())))
                for state, h in zip(members, rounded(biases, finer), strict=True):
                    numbers[state] = h
    assert rows.count == question.model.n_states
    return _Found(means, Vector(numbers))


def _biases_in_doubles(question: Question, components: Components) -> Vector:
    """Compute the bias of each state in doubles, by factors of the matrix of each component."""
    from scipy.sparse import csr_array

    table = question.rows
    found = np.zeros(question.model.n_states)
    earned = np.sum(question.gains, axis=0)
    weight = np.ones(table.count) if table.rates else np.add.reduceat(table.values, table.starts[:-1])
    matrix = csr_array((table.values, table.columns, table.starts), shape=(table.count, table.count))
    for k in range(components.count):
        members = components.states(k)
        if np.ptp(earned[members]) > 0:
            found[members] = _factored(matrix[members][:, members], weight[members], (weight * earned)[members])
    return Vector.of_doubles(found)


def _factored(matrix: csr_array, weight: Floats, rewards: Floats) -> Floats:
    """Biases of a component. The state that they are relative to is one that is likely, so that it is soon reached."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    size = len(weight)
    outflow = np.asarray(matrix.sum(axis=1)).ravel()
    spread, back = np.full(size, 1.0 / size), matrix.T.tocsr()
    for _ in range(STEPS):  # of the uniformised chain, half of which stays: the largest numbers show where it is
        spread += (back @ spread - outflow * spread) / (2 * outflow.max())
    found, first = np.zeros(size), int(np.argmax(spread))
    for _ in range(2):
        others = np.delete(np.arange(size), first)
        system = (diags_array(outflow) - matrix)[others][:, others].tocsc()
        try:
            factors = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError:  # singular, as far as doubles tell
            return found
        # Visits to each state between two of the first: the distribution, but for a factor.
        into: Floats = matrix[[first]][:, others].toarray().ravel()
        visits = np.insert(factors.solve(into, trans="T"), first, 1.0)  # type: ignore[call-overload]
        mean = (visits @ rewards) / (visits @ weight)
        wanted = (rewards - mean * weight)[others]
        found[:] = 0.0
        found[others] = factors.solve(wanted)
        found[others] += factors.solve(wanted - system @ found[others])
        found[~np.isfinite(found)] = 0.0
        likely = int(np.argmax(visits))
        if visits[likely] < LIKELY:
            break
        first = likely
    return found


def _earned(question: Question, row: int) -> Decimal:
    return sum((Decimal(float(gain[row])) for gain in question.gains), ZERO)


def _of_component(question: Question, members: list[int]) -> tuple[Decimal, list[Decimal]] | None:
    """The average of a component, and biases of its members."""
    table = question.rows
    earned = [_earned(question, state) for state in members]
    if min(earned) == max(earned):
        return earned[0], [ZERO] * len(members)
    place = {state: i for i, state in enumerate(members)}
    rates: list[dict[int, Decimal]] = []
    ends: list[Decimal] = []
    weights: list[Decimal] = []
    for own, state in enumerate(members):
        columns, values = table.entries(state)
        row: dict[int, Decimal] = {}
        end, weight = ZERO, ZERO
        for column, value in zip(columns, values, strict=True):
            to, p = place[column], Decimal(value)
            weight += p
            if to == 0:
                end += p
            elif to != own:
                row[to] = p
        rates.append(row)
        ends.append(end)
        weights.append(Decimal(1) if table.rates else weight)
    first = rates[0]
    inner = [{to - 1: p for to, p in row.items()} for row in rates[1:]]
    rewards = [[w * r for w, r in zip(weights, earned, strict=True)], weights]
    solved = eliminate(inner, ends[1:], [reward[1:] for reward in rewards], BUDGET)
    if solved is None:
        return None
    # One round from the first state back to it: what it earns and how long it takes, loops included or not alike.
    around = [
        reward[0] + sum((p * x[to - 1] for to, p in first.items()), ZERO)
        for reward, x in zip(rewards, solved, strict=True)
    ]
    mean = around[0] / around[1]
    return mean, [ZERO, *(x - mean * t for x, t in zip(*solved, strict=True))]


def _means(
    question: Question, graph: Graph, components: Components, found: _Found, side: Side, digits: int
) -> Vector | None:
    """Bounds on the averages of the components, and on their means in the other states."""
    sign = 1 if side == "upper" else -1
    values: list[Exact] = [(0, 0)] * graph.states
    table, component = graph.rows, components.component
    with localcontext() as context:
        context.prec = digits
        slack = Decimal(10) ** (SPARE - digits)
        grain = math.ceil(-(slack / 16).log10() / Decimal(2).log10())
        largest = max(found.averages)
        # A reward that is the same everywhere is the average, exactly; others get a margin in proportion.
        margins = [sign * slack * largest for _ in found.averages]
        gains = [mean + margin for mean, margin in zip(found.averages, margins, strict=True)]
        finer = max(0, grain - min(0, int((largest or Decimal(1)).log10() / Decimal(2).log10())))
        exact = rounded([max(gain, ZERO) for gain in gains], finer)
        for k, number in enumerate(exact):
            for state in components.states(k).tolist():
                values[state] = number
        open_states: Ints = np.flatnonzero(component < 0)
        if not len(open_states):
            return Vector(values)
        place = {state: i for i, state in enumerate(open_states.tolist())}
        rates, ends, rewards, weights = [], [], [], []
        for state in place:
            columns, numbers = table.entries(state)
            row: dict[int, Decimal] = {}
            end, reward, weight = ZERO, ZERO, ZERO
            for column, value in zip(columns, numbers, strict=True):
                p = Decimal(value)
                if column in place:
                    if column != state:
                        row[place[column]] = p
                else:
                    end += p
                    m, e = exact[int(component[column])] or (0, 0)
                    reward += p * (Decimal(m) * Decimal(2) ** e)
                weight += p
            rates.append(row)
            ends.append(end)
            rewards.append(reward)
            weights.append(sum(row.values(), end))
        solved = eliminate(rates, ends, [rewards, weights], BUDGET)
        if solved is None:
            return None
        x = [v + sign * slack * largest * w for v, w in zip(*solved, strict=True)]
        for state, number in zip(place, rounded([max(v, ZERO) for v in x], finer), strict=True):
            values[state] = number
    return Vector(values)
