"""The paths that show that a bound on a probability is not met, before anybody counts them.

``P<=p`` is false where paths of the formula are likelier than ``p``, ``P>=p`` where those of its negation are likelier
than ``1 - p``: these end where the formula is sure to fail. For an MDP all is about the chain of a strategy that
attains the value; for a CTMC about the chain of its jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...automata.acceptance import complement
from ...graph import can_reach, zero_and_one
from ...lang.expressions import Expression
from ...model.sparse import Mask, Model
from ...reduce.submodels import Rows, with_rows
from .. import paths
from ..automaton_product import product
from ..inspection import Terms, interval_of
from ..ltl import automaton_of
from .arcs import Arcs, Ints, Steps, among, every_arc, near, strategy_arcs
from .counterexample import Path
from .downward import Downward
from .likeliest import Step
from .search import Rule, Search, Staged, Unbounded

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..strategies.strategy import Strategy

__all__ = ["Evidence", "Within", "evidence_of"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Paths from a place to an end.

    Attributes
    ----------
    home
        The states of the model that those of the search are; None where they are the same.
    probabilities
        The probabilities of transitions.
    alone
        Gives a bound from below on the probability of the paths among some states, from the first of all; None where
        states do not tell which paths are meant.
    """

    search: Search
    place: int
    probabilities: Steps
    home: Ints | None = None
    alone: Callable[[Mask], float] | None = None

    def path(self, start: int, steps: list[Step]) -> tuple[Path, Downward]:
        """A path as people get it, and its probability."""
        states, rows, worth, each = [start], list[int](), Downward(1), list[float]()
        for place, arc in steps:
            graph = self.search.arcs(place)
            row, target = int(graph.rows[arc]), int(graph.targets[arc])
            probability = self.probabilities.probability(row, int(graph.entries[arc]))
            worth = worth * probability
            rows.append(row)
            each.append(float(probability))
            states.append(target if self.home is None else int(self.home[target]))
        return Path(tuple(states), tuple(rows), tuple(each), float(worth)), worth


def evidence_of(
    evaluation: Evaluation, path: paths.Path | paths.Linear, strategy: Strategy | None, start: int, *, holds: bool
) -> Evidence:
    """The paths from a state on which a path formula holds, or fails."""
    model = evaluation.model
    if isinstance(path, paths.Linear):
        return _of_product(evaluation, path.formula, start, holds=holds)
    everywhere = np.ones(model.n_states, dtype=np.bool_)
    match path:
        case paths.Now(states):
            within = Within(everywhere, evaluation.mask(states), 0, 0)
        case paths.Next(states):
            within = Within(everywhere, evaluation.mask(states), 1, 1)
        case paths.Until(through, goal, _, negated):
            low, high, _ = interval_of(path, _terms(evaluation))
            masks = evaluation.mask(through), evaluation.mask(goal)
            holds = holds != negated
            if high is None:
                return _of_until(evaluation, *masks, strategy, start, happens=holds)
            within = Within(*masks, int(low), int(high))
    # Comparisons of a single step take the doubles as they stand.
    alone = isinstance(path, paths.Next) and not model.has_rates
    return _of_steps(evaluation, within, strategy, start, Steps(model, as_they_stand=alone), happens=holds)


def _terms(evaluation: Evaluation) -> Terms:
    return Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)


def _rows(model: Model, strategy: Strategy | None, step: int = 0) -> Rows:
    """The row that each state takes."""
    return np.arange(model.n_states) if strategy is None else strategy.rows(step)


def _chain(model: Model, strategy: Strategy | None, start: int) -> Model:
    """The chain that is left, over all states, with one that it begins in."""
    if strategy is not None:
        model = replace(with_rows(model, _rows(model, strategy), None), type="dtmc")
    return replace(model, initial=np.array([start], dtype=np.int32))


def _of_until(
    evaluation: Evaluation, through: Mask, goal: Mask, strategy: Strategy | None, start: int, *, happens: bool
) -> Evidence:
    """Paths of any length to the goal, or to where it cannot be reached any more."""
    from ..unbounded.until import until

    model = evaluation.model
    chain = _chain(model, strategy, start)
    if not happens:
        through, goal = through & ~goal, ~can_reach(chain, through, goal)

    def alone(states: Mask) -> float:
        return float(until(chain, through & states, goal & states, None, evaluation.settings).lower[start])

    search = Unbounded.of(strategy_arcs(model, _rows(model, strategy)), through, goal)
    return Evidence(search, start, Steps(model), alone=alone)


@dataclass(frozen=True, eq=False)
class Within:
    """``through U[low,high] goal``, counted in steps."""

    through: Mask
    goal: Mask
    low: int
    high: int

    def rule(self, model: Model, states: Ints, *, happens: bool) -> Rule:
        """Where paths end after some steps, and where they go on, among some states."""
        through, goal = self.through[states], self.goal[states]
        nowhere = np.zeros_like(goal)
        if happens:
            return lambda step: (goal, through & ~goal) if step >= self.low else (nowhere, through)
        # Who cannot reach the goal by any choice has missed it; and so have all others at the end.
        missed = ~can_reach(model, self.through, self.goal)[states]

        def rule(step: int) -> tuple[Mask, Mask]:
            if step < self.low:
                return ~through, through
            ends = ~goal if step == self.high else missed
            return ends, through & ~goal & ~ends

        return rule


def _of_steps(
    evaluation: Evaluation,
    within: Within,
    strategy: Strategy | None,
    start: int,
    probabilities: Steps,
    *,
    happens: bool,
) -> Evidence:
    """Paths of a number of steps."""
    from ..bounded.within_steps import bounded_until

    model = evaluation.model
    counted = strategy is not None and strategy.steps is not None
    states = near(every_arc(model), start, within.high)
    place = int(np.searchsorted(states, start))

    @cache
    def graphs(step: int) -> Arcs:
        if step and not counted:
            return graphs(0)
        return among(strategy_arcs(model, _rows(model, strategy, step)), states)

    search = Staged.of(graphs, len(states), within.high, within.rule(model, states, happens=happens))
    if counted or not happens:
        return Evidence(search, place, probabilities, home=states)
    chain = _chain(model, strategy, start)

    def alone(inside: Mask) -> float:
        masks = within.through & inside, within.goal & inside
        found = bounded_until(chain, *masks, within.low, within.high, None, evaluation.settings)
        return float(found.lower[start])

    return Evidence(search, place, probabilities, home=states, alone=alone)


def _of_product(evaluation: Evaluation, formula: Expression, start: int, *, holds: bool) -> Evidence:
    """Paths of a chain to where a formula of linear temporal logic, or its negation, has probability 1."""
    model = evaluation.model
    automaton, states = automaton_of(formula, _terms(evaluation))
    masks = [evaluation.mask(part) for part in states]
    made = product(model, automaton, masks, np.array([start], dtype=np.int32))
    good = made.accepting(automaton.acceptance if holds else complement(automaton.acceptance))
    everywhere = np.ones_like(good)
    _, sure = zero_and_one(made.model, everywhere, good, None)
    arcs = strategy_arcs(made.model, np.arange(made.model.n_states))
    # A row of the product has the entries of a row of the model, in their order.
    begins = (model.row_starts[made.rows] - made.model.row_starts[:-1]).astype(np.int64)
    arcs = replace(arcs, entries=arcs.entries + begins[arcs.rows], rows=made.rows[arcs.rows])
    search = Unbounded.of(arcs, everywhere, sure)
    return Evidence(search, int(made.starts[start]), Steps(model), home=made.states)
