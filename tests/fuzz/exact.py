"""Exact values of chains: rationals for small ones, balls (Arb) for large ones.

A row of a DTMC is its doubles divided by their exact sum. With weights w that need not sum to anything, the equations
are ``sum_j w_ij (x_j - x_i) + c_i = 0``, the same for rates: no row is ever divided, no number ever subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from flint import arb, ctx, fmpq

from .model import Made, Row

Number = Any  # fmpq or arb
Truth = Any  # a number, or float("inf")
INFINITE = float("inf")
ZERO, ONE = fmpq(0), fmpq(1)


def rational(x: float) -> fmpq:
    """A double as the fraction it is."""
    return fmpq(*x.as_integer_ratio())


# -- graphs


def predecessors(rows: Sequence[Iterable[int]]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in rows]
    for s, row in enumerate(rows):
        for t in row:
            before[t].append(s)
    return before


def backward(before: Sequence[Sequence[int]], goal: Collection[int], through: Collection[int]) -> set[int]:
    """The states from which ``goal`` can be reached by states of ``through``."""
    met, front = set(goal), list(goal)
    while front:
        for s in before[front.pop()]:
            if s not in met and s in through:
                met.add(s)
                front.append(s)
    return met


def forward(rows: Sequence[Iterable[int]], start: Iterable[int]) -> set[int]:
    """The states that can be met."""
    met = set(start)
    front = list(met)
    while front:
        for t in rows[front.pop()]:
            if t not in met:
                met.add(t)
                front.append(t)
    return met


def bottoms(rows: Sequence[Collection[int]]) -> list[set[int]]:
    """Bottom strongly connected components, by Tarjan's algorithm without recursion."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on: set[int] = set()
    found = []
    for root in range(len(rows)):
        if root in index:
            continue
        work = [(root, iter(rows[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            s, targets = work[-1]
            for t in targets:
                if t not in index:
                    index[t] = low[t] = len(index)
                    stack.append(t)
                    on.add(t)
                    work.append((t, iter(rows[t])))
                    break
                if t in on:
                    low[s] = min(low[s], index[t])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[s])
                if low[s] == index[s]:
                    component = set()
                    while True:
                        t = stack.pop()
                        on.discard(t)
                        component.add(t)
                        if t == s:
                            break
                    if all(t in component for u in component for t in rows[u]):
                        found.append(component)
    return found


# -- linear equations


def solve(
    rows: Sequence[Row],
    constants: Sequence[Sequence[Number] | None],
    fixed: dict[int, Sequence[Number]],
    number: Callable[[float], Number] = rational,
) -> list[Sequence[Number]]:
    """For each state the solutions x, one per column: ``fixed`` where they are known, else the equations above.

    From every other state a fixed one can be reached. States are eliminated, those with few neighbours first.
    """
    out: dict[int, dict[int, Number]] = {}
    into: dict[int, set[int]] = {s: set() for s in range(len(rows)) if s not in fixed}
    leave: dict[int, Number] = {}
    column: dict[int, list[Number]] = {}
    zero = number(0.0)
    for s in into:
        out[s], leave[s] = {}, zero
        given = constants[s]
        column[s] = list(given) if given is not None else [zero] * len(next(iter(fixed.values())))
        for t, w in rows[s].items():
            if t == s:
                continue
            weight = number(w)
            if t in fixed:
                leave[s] += weight
                column[s] = [c + weight * v if v != 0 else c for c, v in zip(column[s], fixed[t], strict=True)]
            else:
                out[s][t] = weight
                into[t].add(s)
    gone = []
    queue = [(len(out[s]) * len(into[s]), s) for s in into]
    heapify(queue)
    left = set(into)
    while queue:
        cost, k = heappop(queue)
        if k not in left:
            continue
        now = len(out[k]) * len(into[k])
        if now > cost:
            heappush(queue, (now, k))
            continue
        left.discard(k)
        total = sum(out[k].values(), leave[k])
        gone.append((k, out[k], column[k], total))
        for j in out[k]:
            into[j].discard(k)
        for i in into[k]:
            factor = out[i].pop(k) / total
            leave[i] += factor * leave[k]
            column[i] = [c + factor * d for c, d in zip(column[i], column[k], strict=True)]
            row = out[i]
            for j, w in out[k].items():
                if j != i:
                    row[j] = row[j] + factor * w if j in row else factor * w
                    into[j].add(i)
            heappush(queue, (len(row) * len(into[i]), i))
    values: dict[int, Sequence[Number]] = dict(fixed)
    for k, row, constant, total in reversed(gone):
        known = list(constant)
        for j, w in row.items():
            known = [c + w * v for c, v in zip(known, values[j], strict=True)]
        values[k] = [c / total for c in known]
    return [values[s] for s in range(len(rows))]


def precisely(work: Callable[[], list[Sequence[Number]]], bits: int = 192) -> list[Sequence[Number]]:
    """The same in balls, with as many bits as 80 correct ones in each number need."""
    before = ctx.prec
    try:
        while True:
            ctx.prec = bits
            found = work()
            if all(isinstance(x, float) or x == 0 or x.rel_accuracy_bits() > 80 for xs in found for x in xs):
                return found
            bits *= 2
            if bits > 100_000:
                raise ArithmeticError("the oracle has no precision for this")
    finally:
        ctx.prec = before


# -- questions about chains. ``number`` is ``rational`` or ``arb``; a DTMC's rewards are per step, a CTMC's per time.


def until(rows: Sequence[Row], hold: Collection[int], goal: Collection[int], number: Any = rational) -> list[Truth]:
    """Probabilities of ``hold U goal``."""
    can = backward(predecessors(rows), goal, set(hold))
    one, zero = [number(1.0)], [number(0.0)]
    fixed = {s: one if s in goal else zero for s in range(len(rows)) if s in goal or s not in can}
    return [x[0] for x in solve(rows, [None] * len(rows), fixed, number)]


def step_gain(made: Made, s: int, reward: float, gain: float, number: Any) -> Number:
    """The constant of a state's equation: reward per step times the sum of weights, or per time in a CTMC."""
    row = made.rows[s]
    total = sum((number(w) for w in row.values()), number(0.0))
    if made.type == "ctmc":
        return number(reward) + number(gain)
    return (number(reward) + number(gain)) * total


def accumulated(
    made: Made, goal: Collection[int], rewards: Sequence[float], gains: Sequence[float], number: Any = rational
) -> list[Truth]:
    """Expected rewards until the goal; infinite where it may be missed."""
    rows = made.rows
    before = predecessors(rows)
    everything = range(len(rows))
    can = backward(before, goal, set(everything))
    lost = backward(before, [s for s in everything if s not in can], set(everything) - set(goal))
    zero = [number(0.0)]
    fixed = {s: zero for s in everything if s in goal or s in lost}
    constants = [None if s in fixed else [step_gain(made, s, rewards[s], gains[s], number)] for s in everything]
    found = solve(rows, constants, fixed, number)
    return [INFINITE if s in lost and s not in goal else found[s][0] for s in everything]


def total(made: Made, rewards: Sequence[float], gains: Sequence[float], number: Any = rational) -> list[Truth]:
    """Expected rewards for ever; infinite where some may come again and again."""
    rows = made.rows
    before = predecessors(rows)
    everything = range(len(rows))
    ends = bottoms(rows)
    paid = {s for end in ends if any(rewards[u] > 0 or gains[u] > 0 for u in end) for s in end}
    infinite = backward(before, paid, set(everything))
    zero = [number(0.0)]
    fixed = {s: zero for end in ends for s in end} | dict.fromkeys(infinite, zero)
    constants = [None if s in fixed else [step_gain(made, s, rewards[s], gains[s], number)] for s in everything]
    found = solve(rows, constants, fixed, number)
    return [INFINITE if s in infinite else found[s][0] for s in everything]


def stationary(rows: Sequence[Row], end: Collection[int], discrete: bool, number: Any = rational) -> dict[int, Number]:
    """The long-run distribution of a bottom component, by elimination from its last state to its first."""
    weights = {}
    for s in end:
        whole = sum((number(w) for w in rows[s].values()), number(0.0)) if discrete else None
        weights[s] = {t: number(w) / whole if discrete else number(w) for t, w in rows[s].items() if t != s}
    into: dict[int, set[int]] = {s: set() for s in end}
    for s, row in weights.items():
        for t in row:
            into[t].add(s)
    order = sorted(end, key=lambda s: len(weights[s]) * len(into[s]))
    gone = []
    for k in order[:-1]:
        whole = sum(weights[k].values(), number(0.0))
        arrivals = {i: weights[i].pop(k) for i in into[k]}
        gone.append((k, arrivals, whole))
        for j in weights[k]:
            into[j].discard(k)
        for i, w in arrivals.items():
            row, factor = weights[i], w / whole
            for j, v in weights[k].items():
                if j != i:
                    row[j] = row[j] + factor * v if j in row else factor * v
                    into[j].add(i)
    mass = {order[-1]: number(1.0)}
    for k, arrivals, whole in reversed(gone):
        mass[k] = sum((mass[i] * w for i, w in arrivals.items()), number(0.0)) / whole
    everything = sum(mass.values(), number(0.0))
    return {s: m / everything for s, m in mass.items()}


def long_run(made: Made, worth: Sequence[Number], number: Any = rational) -> list[Truth]:
    """The long-run average of what states are worth, from each state."""
    rows = made.rows
    fixed = {}
    for end in bottoms(rows):
        mass = stationary(rows, end, made.type == "dtmc", number)
        average = sum((m * worth[s] for s, m in mass.items()), number(0.0))
        fixed |= {s: [average] for s in end}
    return [x[0] for x in solve(rows, [None] * len(rows), fixed, number)]


def is_infinite(truth: Truth) -> bool:
    return isinstance(truth, float) and math.isinf(truth)


def ball(x: float) -> arb:
    return arb(x)
