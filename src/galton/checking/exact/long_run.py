"""Long-run averages, exactly.

In a bottom component the average is that over a cycle from one of its states back to it: what the cycle earns by how
long it takes. In an end component of an MDP, strategies are improved (Howard 1960) until ``c + P h - h`` is at most the
average in all states and choices, which proves that no strategy has a greater one (Puterman 1994, section 8.4).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from ...graph import EndComponents, bottom_components, maximal_end_components
from ...lang.properties import Optimum
from ..quantity import Floats, Quantity
from .equations import FEW, Equation, components_of, solve
from .limits import Watchman
from .model import ExactModel, Gains
from .numbers import Number, Rational, rational
from .policies import alternatives_of, improved, numbered
from .unbounded import mean_of_known

__all__ = ["best_average", "chain_average"]

Row = tuple[dict[int, Rational], Rational]  # the weights of other states, and what the choice earns


def chain_average(model: ExactModel, gains: Gains, proposal: Floats | None, watchman: Watchman) -> list[Number]:
    """The average of a chain from each state: per step, or per unit of time."""
    components = bottom_components(model.model)
    known: list[Rational | None] = [None] * model.model.n_states
    for number in range(components.count):
        members = components.states(number).tolist()
        place = {member: i for i, member in enumerate(members)}
        rows = [_row(model, gains, state, state, place) for state in members]
        average = rows[0][1]
        if any(earned != average for _, earned in rows):
            average = _average(rows, 0, watchman)[0]
        for state in members:
            known[state] = average
    return mean_of_known(model, known, proposal, watchman)


def _row(model: ExactModel, gains: Gains, state: int, choice: int, place: Mapping[int, int]) -> Row:
    """A choice that stays among some states, which are numbered by their place."""
    links = {place[target]: weight for target, weight in model.entries(choice) if target != state}
    return links, gains.earned(state, choice)


def _average(rows: Sequence[Row], home: int, watchman: Watchman) -> tuple[Rational, list[Rational]]:
    """The average of a chain in which all states lead home, and the bias of each state, 0 at home."""
    if len(rows) > FEW and (found_at_once := _lifted_average(rows, home, watchman)) is not None:
        return found_at_once
    zero, one = rational(0), rational(1)
    others = [i for i in range(len(rows)) if i != home]
    place = {i: k for k, i in enumerate(others)}
    found: list[list[Rational]] = []
    for what in range(2):  # what is earned until home, and how long it takes
        equations = []
        for i in others:
            links, earned = rows[i]
            inner = {place[j]: weight for j, weight in links.items() if j != home}
            equations.append(Equation(inner, links.get(home, zero), one if what else earned))
        found.append(solve(equations, watchman))
    links, earned = rows[home]
    reward = sum((weight * found[0][place[j]] for j, weight in links.items()), earned)
    time = sum((weight * found[1][place[j]] for j, weight in links.items()), one)
    average = reward / time
    bias = [zero] * len(rows)
    for k, i in enumerate(others):
        bias[i] = found[0][k] - average * found[1][k]
    return average, bias


def _lifted_average(rows: Sequence[Row], home: int, watchman: Watchman) -> tuple[Rational, list[Rational]] | None:
    """Solve ``average + sum_j w_ij (h_i - h_j) = c_i`` at once, with the average in the place of home."""
    from .lifting import lifted  # and with it SciPy's solvers, where they are needed

    one = rational(1)
    matrix = []
    for i, (links, _) in enumerate(rows):
        row = {home: one}
        if i != home:
            row[i] = sum(links.values(), rational(0))
        matrix.append(row | {j: -weight for j, weight in links.items() if j != home})
    found = lifted(matrix, [earned for _, earned in rows], watchman)
    if found is None:
        return None
    average, found[home] = found[home], rational(0)
    return average, found


# MDPs.


def best_average(
    model: ExactModel, gains: Gains, optimum: Optimum, proposal: Quantity | None, watchman: Watchman
) -> list[Number]:
    """The best average of an MDP from each state, per step."""
    graph = model.model
    ends = maximal_end_components(graph)
    members: list[list[int]] = [[] for _ in range(ends.count)]
    for state in np.flatnonzero(ends.component >= 0).tolist():
        members[int(ends.component[state])].append(state)
    averages = [_end_average(model, gains, optimum, ends, states, proposal, watchman) for states in members]
    everywhere = np.ones(graph.n_states, dtype=np.bool_)
    unknowns = numbered(everywhere, ends)
    alternatives = alternatives_of(model, everywhere, [rational(0)] * graph.n_states, unknowns, None, None, ends)
    first = unknowns.count - ends.count
    for number, average in enumerate(averages):
        alternatives[first + number].append(Equation({}, rational(1), average))  # to stay there
    guess = None
    if proposal is not None:
        guess = np.zeros(unknowns.count)
        guess[unknowns.of] = proposal.value
    values = improved(alternatives, optimum, guess, watchman)
    return [values[int(place)] for place in unknowns.of]


def _end_average(
    model: ExactModel,
    gains: Gains,
    optimum: Optimum,
    ends: EndComponents,
    members: Sequence[int],
    proposal: Quantity | None,
    watchman: Watchman,
) -> Rational:
    """The best average of one end component."""
    graph, sign = model.model, 1 if optimum == "max" else -1
    place = {member: i for i, member in enumerate(members)}
    rows: list[list[Row]] = []
    chosen: list[int] = []
    for state in members:
        staying = [choice for choice in graph.choices(state) if ends.staying[choice]]
        rows.append([_row(model, gains, state, choice, place) for choice in staying])
        row = -1 if proposal is None or proposal.choices is None else int(proposal.choices[state])
        chosen.append(staying.index(row) if row in staying else 0)
    while True:
        watchman.look()
        home = _home(rows, chosen, sign, watchman)
        average, bias = _average([mine[k] for mine, k in zip(rows, chosen, strict=True)], home, watchman)
        changed = False
        for i, mine in enumerate(rows):
            best = average
            for k, (links, earned) in enumerate(mine):
                drift = sum((weight * (bias[j] - bias[i]) for j, weight in links.items()), earned)
                if (drift - best) * sign > 0:
                    best, chosen[i], changed = drift, k, True
        if not changed:
            return average


def _home(rows: Sequence[Sequence[Row]], chosen: list[int], sign: int, watchman: Watchman) -> int:
    """A state of the best bottom component of a strategy, which is changed so that all states lead there."""
    components = components_of([list(mine[k][0]) for mine, k in zip(rows, chosen, strict=True)])
    best: Rational | None = None
    inside: list[int] = []
    for number in np.flatnonzero(components.bottom).tolist():
        members = components.states(number).tolist()
        place = {member: i for i, member in enumerate(members)}
        mine = [rows[i][chosen[i]] for i in members]
        local = [({place[j]: weight for j, weight in links.items()}, earned) for links, earned in mine]
        average = _average(local, 0, watchman)[0]
        if best is None or (average - best) * sign > 0:
            best, inside = average, members
    # Backwards from there: by the choices of the strategy as far as they lead there, then by any.
    reached = set(inside)
    for any_choice in (False, True):
        before: list[list[tuple[int, int]]] = [[] for _ in rows]
        for i, mine_all in enumerate(rows):
            for k in range(len(mine_all)) if any_choice else [chosen[i]]:
                for j in mine_all[k][0]:
                    before[j].append((i, k))
        front = deque(reached)
        while front:
            for i, k in before[front.popleft()]:
                if i not in reached:
                    reached.add(i)
                    chosen[i] = k
                    front.append(i)
    return inside[0]
