"""The best values that strategies attain, exactly: policy iteration from what doubles propose.

Each strategy that is looked at is one that leaves the open states for certain: for probabilities and for the greatest
rewards all of them are, once end components are one unknown each; for the least rewards a strategy that does not costs
infinitely much (Bertsekas and Tsitsiklis, An analysis of stochastic shortest path problems, 1991). Improvements are
compared exactly, so the strategy at the end is proved to be the best: no choice is better in any state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...backend.rows import owners
from ...graph import EndComponents
from ...lang.properties import Optimum
from ...model.sparse import Mask
from ..quantity import Floats
from .equations import Equation, solve
from .limits import Watchman
from .model import ExactModel, Gains
from .numbers import Number, Rational, nearest, rational

__all__ = ["Alternatives", "Unknowns", "alternatives_of", "best_values", "improved", "numbered"]

_CLOSE = 1e-9  # how much worse than the best a choice may look in doubles that a strategy begins with
_ROUNDING = 2.0**-48  # of a sum over one row; what is further apart in doubles needs no exact comparison

Alternatives = list[list[Equation]]  # of each unknown, its choices


def best_values(
    model: ExactModel,
    maybe: Mask,
    known: list[Number],
    optimum: Optimum | None,
    proposal: Floats | None,
    watchman: Watchman,
    *,
    gains: Gains | None = None,
    keep: Mask | None = None,
    merge: EndComponents | None = None,
) -> list[Number]:
    """Values in all states: ``known`` but for the states ``maybe``, which get the solution of their equations.

    Only choices in ``keep`` are taken. The states of each end component in ``merge`` have one value, and the choices
    that stay in it are left out. ``proposal`` are about the values, from doubles.
    """
    if not maybe.any():
        return known
    unknowns = numbered(maybe, merge)
    alternatives = alternatives_of(model, maybe, known, unknowns, gains, keep, merge)
    guess = None
    if proposal is not None:
        guess = np.zeros(unknowns.count)
        guess[unknowns.of[maybe]] = proposal[maybe]
    values = improved(alternatives, optimum, guess, watchman)
    found = list(known)
    for state in np.flatnonzero(maybe).tolist():
        found[state] = values[int(unknowns.of[state])]
    return found


@dataclass(frozen=True, eq=False)
class Unknowns:
    of: np.ndarray  # the unknown of each state, -1 for states that are known
    count: int


def numbered(maybe: Mask, merge: EndComponents | None) -> Unknowns:
    number = np.full(len(maybe), -1, dtype=np.int64)
    alone = maybe if merge is None else maybe & (merge.component < 0)
    number[alone] = np.arange(int(alone.sum()))
    count = int(alone.sum())
    if merge is not None:
        together = merge.component >= 0
        number[together] = count + merge.component[together]
        count += merge.count
    return Unknowns(number, count)


def alternatives_of(
    model: ExactModel,
    maybe: Mask,
    known: Sequence[Number],
    unknowns: Unknowns,
    gains: Gains | None,
    keep: Mask | None,
    merge: EndComponents | None,
) -> Alternatives:
    graph, owner = model.model, owners(model.model)
    wanted = maybe[owner]
    if keep is not None:
        wanted = wanted & keep
    if merge is not None:
        wanted = wanted & ~merge.staying
    found: Alternatives = [[] for _ in range(unknowns.count)]
    number = unknowns.of.tolist()
    zero = rational(0)
    for choice in np.flatnonzero(wanted).tolist():
        state = int(owner[choice])
        own = number[state]
        links: dict[int, Rational] = {}
        leaves, constant = zero, zero
        for target, weight in model.entries(choice):
            place = number[target]
            if place < 0:
                leaves += weight
                value = known[target]
                if value:
                    assert not isinstance(value, float)
                    constant += weight * value
            elif place != own:
                links[place] = links[place] + weight if place in links else weight
        if gains is not None:
            # Probabilities sum to 1, so that a step has that weight; what rates earn is per unit of time.
            constant += gains.earned(state, choice)
        if links or leaves:  # a loop alone leads nowhere, and is never the best
            found[own].append(Equation(links, leaves, constant))
    assert graph.has_choices or all(len(choices) == 1 for choices in found)
    return found


def improved(
    alternatives: Alternatives, optimum: Optimum | None, guess: Floats | None, watchman: Watchman
) -> list[Rational]:
    """The values of the best strategy."""
    if optimum is None:
        return solve([choices[0] for choices in alternatives], watchman)
    sign = 1 if optimum == "max" else -1
    chosen = _leaving(alternatives, guess, sign)
    while True:
        values = solve([choices[k] for choices, k in zip(alternatives, chosen, strict=True)], watchman)
        doubles = [nearest(value) for value in values]
        changed = False
        for i, choices in enumerate(alternatives):
            watchman.look()
            best = max_row = None
            for k, equation in enumerate(choices):
                if k == chosen[i] or _is_worse(equation, doubles, i, sign):
                    continue
                value = equation.value(values)
                if (value - values[i]) * sign > 0 and (best is None or (value - best) * sign > 0):
                    best, max_row = value, k
            if max_row is not None:
                chosen[i], changed = max_row, True
        if not changed:
            return values


def _is_worse(equation: Equation, doubles: Sequence[float], own: int, sign: int) -> bool:
    """Whether doubles tell that a choice is worse than what its unknown has already."""
    above = nearest(equation.constant)
    size, below = abs(above), nearest(equation.leaves)
    for j, weight in equation.links.items():
        part = nearest(weight)
        above += part * doubles[j]
        size += abs(part * doubles[j])
        below += part
    size += abs(doubles[own]) * below
    if not size < 1e300 or not size > 1e-280:  # where doubles overflow or vanish they tell nothing
        return False
    return (above - doubles[own] * below) * sign < -_ROUNDING * (len(equation.links) + 4) * size


def _leaving(alternatives: Alternatives, guess: Floats | None, sign: int) -> list[int]:
    """A strategy that leaves for certain: backwards from what is known, if possible by choices that look best."""
    n = len(alternatives)
    chosen = [-1] * n
    before: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    ready: dict[bool, deque[tuple[int, int]]] = {True: deque(), False: deque()}
    good: set[tuple[int, int]] = set()
    for i, choices in enumerate(alternatives):
        scores = None if guess is None else [_score(equation, guess) * sign for equation in choices]
        for k, equation in enumerate(choices):
            if scores is not None:
                best = max(scores)
                if scores[k] >= best - _CLOSE * abs(best):
                    good.add((i, k))
            for j in equation.links:
                before[j].append((i, k))
            if equation.leaves:
                ready[(i, k) in good].append((i, k))
    while ready[True] or ready[False]:
        i, k = (ready[True] or ready[False]).popleft()
        if chosen[i] >= 0:
            continue
        chosen[i] = k
        for place in before[i]:
            if chosen[place[0]] < 0:
                ready[place in good].append(place)
    assert -1 not in chosen, "some unknown cannot be left"
    return chosen


def _score(equation: Equation, guess: Floats) -> float:
    above, below = nearest(equation.constant), nearest(equation.leaves)
    for j, weight in equation.links.items():
        part = nearest(weight)
        above += part * float(guess[j])
        below += part
    return above / below
