"""Linear equations with exact solutions, component by component.

An unknown is the mean of others, known or not, plus what it earns. In terms of weights that need not sum to anything,
``sum_j w_ij (x_j - x_i) + sum_k w_ik (known_k - x_i) + c_i = 0``. What is known becomes part of the constant, and its
weight is one that leaves. Rates are such weights, and so are probabilities; a loop never matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np

from ...graph import Components, strongly_connected_components
from ...model.sparse import Model
from ...model.values import Values
from .limits import Watchman
from .numbers import Rational

__all__ = ["FEW", "Equation", "components_of", "solve"]

FEW = 12  # unknowns that are eliminated one by one; more of them are found by lifting


@dataclass(frozen=True, slots=True)
class Equation:
    """One unknown: ``links`` to others with their weights, the weight that ``leaves`` to what is known, a constant.

    The constant includes the known values, each times its weight.
    """

    links: Mapping[int, Rational]
    leaves: Rational
    constant: Rational

    def total(self) -> Rational:
        """The weight of all that is not a loop."""
        return sum(self.links.values(), self.leaves)

    def value(self, values: Sequence[Rational]) -> Rational:
        """The unknown, given the others."""
        return sum((weight * values[j] for j, weight in self.links.items()), self.constant) / self.total()


def components_of(links: Sequence[Sequence[int] | Mapping[int, Rational]]) -> Components:
    """Strongly connected components of unknowns, successors first."""
    starts, columns = [0], []
    for i, targets in enumerate(links):
        columns += sorted(targets) or [i]
        starts.append(len(columns))
    graph = Model(
        type="dtmc",
        row_starts=np.array(starts, dtype=np.int32),
        columns=np.array(columns, dtype=np.int32),
        values=Values(plain=np.ones(len(columns))),
        initial=np.zeros(1, dtype=np.int32),
    )
    return strongly_connected_components(graph)


def solve(equations: Sequence[Equation], watchman: Watchman) -> list[Rational]:
    """The solution of equations from each of which what is known can be reached."""
    if not equations:
        return []
    components = components_of([equation.links for equation in equations])
    order, starts = components.order.tolist(), components.starts.tolist()
    values: list[Rational] = [equations[0].constant] * len(equations)
    for begin, end in pairwise(starts):
        if end - begin == 1:
            watchman.look()
            i = order[begin]
            values[i] = equations[i].value(values)
        else:
            _solve_component(equations, order[begin:end], values, watchman)
    return values


def _solve_component(
    equations: Sequence[Equation], members: Sequence[int], values: list[Rational], watchman: Watchman
) -> None:
    """Find the unknowns of a component, given those that it leads to."""
    if len(members) > FEW and _lift_component(equations, members, values, watchman):
        return
    _eliminate_component(equations, members, values, watchman)


def _lift_component(
    equations: Sequence[Equation], members: Sequence[int], values: list[Rational], watchman: Watchman
) -> bool:
    """Find the unknowns by lifting; False where doubles are no help."""
    from .lifting import lifted  # and with it SciPy's solvers, where they are needed

    place = {member: k for k, member in enumerate(members)}
    rows, right = [], []
    for i in members:
        equation = equations[i]
        row, constant = {place[i]: equation.total()}, equation.constant
        for j, weight in equation.links.items():
            if j in place:
                row[place[j]] = -weight
            else:
                constant += weight * values[j]
        rows.append(row)
        right.append(constant)
    found = lifted(rows, right, watchman)
    if found is None:
        return False
    for member, value in zip(members, found, strict=True):
        values[member] = value
    return True


def _eliminate_component(
    equations: Sequence[Equation], members: Sequence[int], values: list[Rational], watchman: Watchman
) -> None:
    """Eliminate unknowns, those with few neighbours first, and substitute backwards."""
    inside = set(members)
    links: dict[int, dict[int, Rational]] = {}
    leaves: dict[int, Rational] = {}
    constants: dict[int, Rational] = {}
    into: dict[int, set[int]] = {i: set() for i in members}
    for i in members:
        equation = equations[i]
        links[i], leaves[i], constants[i] = {}, equation.leaves, equation.constant
        for j, weight in equation.links.items():
            if j in inside:
                links[i][j] = weight
                into[j].add(i)
            else:
                leaves[i] += weight
                constants[i] += weight * values[j]
    queue = [(len(links[i]) * len(into[i]), i) for i in members]
    heapify(queue)
    gone: list[tuple[int, Rational]] = []
    while queue:
        cost, k = heappop(queue)
        if k not in inside:
            continue
        now = len(links[k]) * len(into[k])
        if now > cost:
            heappush(queue, (now, k))
            continue
        inside.discard(k)
        watchman.look()
        own, leaving, constant = links[k], leaves[k], constants[k]
        total = sum(own.values(), leaving)
        gone.append((k, total))
        for j in own:
            into[j].discard(k)
        for i in into[k]:
            row = links[i]
            factor = row.pop(k) / total
            leaves[i] += factor * leaving
            constants[i] += factor * constant
            for j, weight in own.items():
                if j != i:
                    if j in row:
                        row[j] += factor * weight
                    else:
                        row[j] = factor * weight
                        into[j].add(i)
            heappush(queue, (len(row) * len(into[i]), i))
    for k, total in reversed(gone):
        watchman.look()
        values[k] = sum((weight * values[j] for j, weight in links[k].items()), constants[k]) / total
