"""The MDP in which all objectives are sums of rewards until a run is stopped.

The model is multiplied with the automata of all paths, and with a counter where rewards are bounded in steps. A run
ends up in an end component, which decides the set T of automata that accept it. So wherever a state lies in an end
component in which all of T can be met at once, there is one more choice: stop, and gain 1 for each of T (Etessami,
Kwiatkowska, Vardi and Yannakakis, "Multi-objective model checking of Markov decision processes", 2008). A strategy that
does not stop gains no more than one that does.

Costs, rewards to be minimised, are finite only for strategies that end where nothing is paid: runs may only stop in end
components of choices without costs. Rewards to be maximised must not be paid in any end component: they would be
infinite.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...automata import Automaton
from ...automata.acceptance import ALL, Acceptance, Mark, complement, gate, replaced
from ...automata.diagrams import Diagrams
from ...backend.rows import owners
from ...device.arrays import offsets
from ...graph import maximal_end_components
from ...lang.properties import Probability, Reward
from ...lang.source import UnsupportedError
from ...model.sparse import Int32s, Mask, Model
from ...model.values import Floats, Values
from ..automaton_product import Product, product
from ..inspection import Terms
from ..ltl import automaton_of
from ..operators import structure_of
from ..quantity import Work
from ..unbounded.rewards import rewards_by_row
from .objectives import Objective

if TYPE_CHECKING:
    from ..evaluation import Evaluation

__all__ = ["Arena", "arena"]

_MOST_MARKS = 62  # they are bits of 64-bit numbers


@dataclass(frozen=True, eq=False)
class Arena:
    """An MDP whose last state is where stopped runs are; it has one initial state.

    Attributes
    ----------
    gains
        For each objective ``(choices,)`` what a choice earns, none negative: for a probability 1 where a run stops and
        meets it, for a reward what it pays.
    is_costly
        Whether some end component has costs, so that there are strategies with infinite ones, which are left out.
    """

    model: Model
    objectives: tuple[Objective, ...]
    gains: tuple[Floats, ...]
    is_costly: bool
    work: tuple[Work, ...]

    @property
    def initial(self) -> int:
        return int(self.model.initial[0])

    @property
    def has_costs(self) -> bool:
        return any(objective.is_cost for objective in self.objectives)

    @property
    def stopped(self) -> Mask:
        """The states of stopped runs."""
        mask = np.zeros(self.model.n_states, dtype=np.bool_)
        mask[-1] = True
        return mask


def arena(evaluation: Evaluation, objectives: Sequence[Objective]) -> Arena:
    """Return the MDP in which the objectives are sums of rewards."""
    begun = time.perf_counter()
    found, conditions, count = _product(evaluation, objectives)
    rewards = {
        i: _rewards(evaluation, objective, found, count)
        for i, objective in enumerate(objectives)
        if isinstance(objective.formula, Reward)
    }
    ends = maximal_end_components(found.model)
    free = np.ones(found.model.n_choices, dtype=np.bool_)
    for i, rows in rewards.items():
        if objectives[i].is_cost:
            free &= rows == 0
        elif (ends.staying & (rows > 0)).any():
            message = "this reward can be collected for ever, so it may be infinite, which multi(…) does not support"
            raise UnsupportedError(message, evaluation.source, objectives[i].formula.span)
    states, sets = _stops(found, conditions, free)
    model, kept, stops = _with_stops(found.model, states)
    gains = []
    for i in range(len(objectives)):
        rows = np.zeros(model.n_choices)
        if i in rewards:
            rows[kept] = rewards[i]
        else:
            rows[stops] = [float(i in met) for met in sets]
        gains.append(rows)
    size = f"{model.n_states:,} states, {model.n_choices:,} choices, {len(states):,} of them to stop"
    work = Work("product", size, seconds=time.perf_counter() - begun)
    return Arena(model, tuple(objectives), tuple(gains), bool((ends.staying & ~free).any()), (work,))


def _product(
    evaluation: Evaluation, objectives: Sequence[Objective]
) -> tuple[Product, dict[int, Acceptance], Int32s | None]:
    """The product with all automata, the condition of each probability, and how many states were read, if counted.

    The count includes the state itself, and ends one above the greatest number of steps that is asked for.
    """
    model = evaluation.model
    terms = Terms(model.nature, evaluation.program.constants, evaluation.source)
    every = np.arange(model.n_states, dtype=np.int64)
    starts = np.where(every == model.initial[0], 0, -1).astype(np.int32)
    marks = np.zeros(model.n_states, dtype=np.int64)
    found = Product(model, marks, starts, starts, every, np.arange(model.n_choices, dtype=np.int64))
    conditions: dict[int, Acceptance] = {}
    used = 0  # marks so far
    for i, objective in enumerate(objectives):
        if not isinstance(objective.formula, Probability):
            continue
        path = objective.formula.path
        # The negation of a path has the same automaton, with the other condition.
        automaton, propositions = automaton_of(path, terms)
        if used + automaton.n_marks > _MOST_MARKS:
            message = f"automata with more than {_MOST_MARKS} acceptance sets together are not supported"
            raise UnsupportedError(message, evaluation.source, path.span)
        masks = [evaluation.mask(part)[found.states] for part in propositions]
        found = _times(found, automaton, masks, used)
        condition = automaton.acceptance if objective.maximise else complement(automaton.acceptance)
        conditions[i] = _moved(condition, used)
        used += automaton.n_marks
    limits = [objective.steps for objective in objectives if objective.steps is not None]
    if not limits:
        return found, conditions, None
    found = _times(found, _counter(max(limits)), [], used)
    return found, conditions, found.after


def _moved(acceptance: Acceptance, by: int) -> Acceptance:
    return replaced(acceptance, lambda mark: Mark(mark.operator, mark.number + by))


def _times(before: Product, automaton: Automaton, masks: Sequence[Mask], used: int) -> Product:
    """A product multiplied with one more automaton, whose marks come after those used already."""
    found = product(before.model, automaton, masks, before.model.initial)
    return replace(
        found,
        marks=before.marks[found.states] | found.marks << used,
        states=before.states[found.states],
        rows=before.rows[found.rows],
    )


def _counter(steps: int) -> Automaton:
    """An automaton that accepts everything, and counts the letters up to one more than the given number."""
    diagrams = Diagrams()
    edges = tuple(diagrams.leaf((min(state + 1, steps + 1), 0)) for state in range(steps + 2))
    return Automaton((), 0, diagrams, edges, ALL)


def _rewards(evaluation: Evaluation, objective: Objective, found: Product, count: Int32s | None) -> Floats:
    assert isinstance(objective.formula, Reward)
    rows = rewards_by_row(evaluation.model, structure_of(evaluation, objective.formula))[found.rows]
    if objective.steps is None:
        return rows
    assert count is not None
    return np.where((count <= objective.steps)[owners(found.model)], rows, 0.0)


def _stops(
    found: Product, conditions: dict[int, Acceptance], free: Mask
) -> tuple[npt.NDArray[np.int64], list[frozenset[int]]]:
    """Where runs may stop, ascending, and which objectives they meet then; only sets that no other includes."""
    possible: dict[frozenset[int], Mask] = {frozenset(): found.accepting(ALL, free)}
    for size in range(1, len(conditions) + 1):
        for members in map(frozenset, combinations(conditions, size)):
            smaller = [possible.get(members - {i}) for i in members]
            if any(mask is None for mask in smaller):
                continue
            mask = found.accepting(gate("&", [conditions[i] for i in sorted(members)]), free)
            if mask.any():
                possible[members] = mask
    states, sets = [], []
    for members, mask in possible.items():
        alone = mask.copy()
        for larger, other in possible.items():
            if members < larger:
                alone &= ~other
        states.append(np.flatnonzero(alone))
        sets += [members] * len(states[-1])
    where = np.concatenate(states)
    order = np.argsort(where, kind="stable")
    return where[order], [sets[i] for i in order]


def _with_stops(
    model: Model, states: npt.NDArray[np.int64]
) -> tuple[Model, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The model with one more state that is never left, and a last choice that leads to it for each of some states.

    A state may be there several times. Also which rows the old choices are now, and which the new ones are.
    """
    n = model.n_states
    more = np.bincount(states, minlength=n + 1)
    more[n] = 1
    before = offsets(more, np.int64)
    starts = np.append(model.row_groups, model.n_choices) + before
    kept = np.arange(model.n_choices, dtype=np.int64) + before[owners(model)]
    is_new = np.ones(int(starts[-1]), dtype=np.bool_)
    is_new[kept] = False
    lengths = np.ones(len(is_new), dtype=np.int64)
    lengths[kept] = np.diff(model.row_starts)
    old = np.repeat(~is_new, lengths)
    columns = np.full(len(old), n, dtype=np.int32)
    columns[old] = model.columns
    values = np.ones(len(old))
    values[old] = model.values[:]
    changed = Model(
        type=model.type,
        choice_starts=starts.astype(np.int32),
        row_starts=offsets(lengths, model.row_starts.dtype),
        columns=columns,
        values=Values.compress(values),
        initial=model.initial,
        placement=model.placement,
    )
    return changed, kept, np.flatnonzero(is_new)[:-1]
