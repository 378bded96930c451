"""The MDP in which all objectives are sums of rewards until a run is stopped.

The model is multiplied with the automata of all paths, and with a counter where rewards are bounded in steps. A run
ends up in an end component, which decides the set T of automata that accept it. So wherever a state lies in an end
component in which all of T can be met at once, there is one more choice: stop, and gain 1 for each of T (Etessami,
Kwiatkowska, Vardi and Yannakakis, "Multi-objective model checking of Markov decision processes", 2008). A strategy that
does not stop gains no more than one that does.

Costs, rewards to be minimised, are finite only for strategies that end where nothing is paid: runs may only stop in end
components of choices without costs. Rewards until a goal are infinite on runs that miss it: those to be minimised let
runs stop only where the goal has been reached. Rewards to be maximised must not be paid in any end component, nor may a
run miss their goal: they would be infinite.
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
from ...automata.acceptance import ALL, Acceptance, Mark, complement, gate, generalised_rabin, replaced
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

__all__ = ["Arena", "Ending", "arena"]

_MOST_MARKS = 62  # they are bits of 64-bit numbers


@dataclass(frozen=True, eq=False)
class Ending:
    """How runs go on that have stopped: they stay in an end component, whose states have certain marks.

    Attributes
    ----------
    met
        The objectives that runs meet which stay there and come by everywhere again and again.
    component, staying
        As in :class:`~galton.graph.EndComponents`, of the product without its stops.
    anywhere
        Whether runs that stay meet the objectives wherever they go there.
    """

    met: frozenset[int]
    component: Int32s
    staying: Mask
    anywhere: bool


@dataclass(frozen=True, eq=False)
class Arena:
    """An MDP whose last state is where stopped runs are; it has one initial state.

    Attributes
    ----------
    gains
        For each objective ``(choices,)`` what a choice earns, none negative: for a probability 1 where a run stops and
        meets it, for a reward what it pays.
    product
        The model with memory, before there were choices to stop. Its states have the same numbers here.
    conditions
        For each probability, which marks of the product a run has to meet again and again.
    memory
        ``(states of the product,)`` what is remembered before the state is read, as a number.
    then
        ``(states of the product,)`` what is remembered afterwards.
    rows
        ``(choices,)`` which choice of the product each is; -1 for those that are new.
    endings
        ``(choices,)`` which of ``kinds`` a choice to stop begins; -1 for others.
    is_costly
        Whether some end component has costs, so that there are strategies with infinite ones, which are left out.
    """

    model: Model
    objectives: tuple[Objective, ...]
    gains: tuple[Floats, ...]
    product: Product
    conditions: dict[int, Acceptance]
    memory: npt.NDArray[np.int64]
    then: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    endings: Int32s
    kinds: tuple[Ending, ...]
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
    found = _product(evaluation, objectives)
    product = found.product
    averages = any(objective.is_long_run for objective in objectives)
    rewards = {
        i: _rewards(evaluation, objective, found, i)
        for i, objective in enumerate(objectives)
        if isinstance(objective.formula, Reward) and not objective.is_long_run
    }
    ends = maximal_end_components(product.model)
    owner = owners(product.model)
    free = np.ones(product.model.n_choices, dtype=np.bool_)
    for done in found.done.values():
        free &= done[owner]
    for i, rows in rewards.items():
        if objectives[i].is_cost:
            free &= rows == 0
            continue
        span, source = objectives[i].formula.span, evaluation.source
        if (ends.staying & (rows > 0)).any():
            message = "this reward can be collected for ever, so it may be infinite, which multi(…) does not support"
            raise UnsupportedError(message, source, span, "C<=k and, as an average, S always have a number")
        if i in found.done and (ends.staying & ~found.done[i][owner]).any():
            message = (
                "some strategy misses the goal of this reward, which is infinite then; multi(…) does not support it"
            )
            raise UnsupportedError(
                message, source, span, "a reward to be small may be infinite, and one of C<=k is not"
            )
    states, numbers, kinds = _stops(product, found.conditions, free, averages)
    if averages and not all(kind.anywhere for kind in kinds):
        paths = [objective for objective in objectives if objective.is_probability]
        message = "paths that ask for something again and again are not supported beside long-run averages in multi(…)"
        hint = (
            "the best average may be approached only by strategies with more and more memory; F, G, U and F G are fine"
        )
        raise UnsupportedError(message, evaluation.source, paths[0].formula.span, hint)
    model, kept, stops = _with_stops(product.model, states)
    gains = []
    for i in range(len(objectives)):
        rows = np.zeros(model.n_choices)
        if i in rewards:
            rows[kept] = rewards[i]
        elif i in found.conditions and kinds:
            rows[stops] = np.array([float(i in kind.met) for kind in kinds])[numbers]
        gains.append(rows)
    old, endings = np.full(model.n_choices, -1, dtype=np.int64), np.full(model.n_choices, -1, dtype=np.int32)
    old[kept], endings[stops] = np.arange(len(kept)), numbers
    size = f"{model.n_states:,} states, {model.n_choices:,} choices, {len(states):,} of them to stop"
    work = Work("product", size, seconds=time.perf_counter() - begun)
    costly = bool((ends.staying & ~free).any())
    before = found.before
    return Arena(
        model,
        tuple(objectives),
        tuple(gains),
        product,
        found.conditions,
        before,
        found.then,
        old,
        endings,
        kinds,
        costly,
        (work,),
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """The product with all automata.

    Attributes
    ----------
    conditions
        The acceptance of each probability.
    done
        ``(states,)`` for each reward until a goal, whether that has been reached when the state is read.
    count
        ``(states,)`` how many states have been read, the state itself included, if somebody counts; it ends one above
        the greatest number of steps that is asked for.
    then
        ``(states,)`` the states of all automata together when they have read the state, as a number.
    """

    product: Product
    conditions: dict[int, Acceptance]
    done: dict[int, Mask]
    count: Int32s | None
    then: npt.NDArray[np.int64]
    start: int = 0  # what is remembered before anything is read

    def times(self, automaton: Automaton, masks: Sequence[Mask], used: int = 0) -> _Found:
        """The product with one more automaton, whose marks come after those used already."""
        before = self.product
        found = product(before.model, automaton, masks, before.model.initial)
        states = found.states
        larger = replace(
            found,
            marks=before.marks[states] | found.marks << used,
            states=before.states[states],
            rows=before.rows[found.rows],
        )
        done = {i: mask[states] for i, mask in self.done.items()}
        then = self.then[states] * automaton.n_states + found.after
        start = self.start * automaton.n_states + automaton.initial
        return _Found(larger, self.conditions, done, None, then, start)

    @property
    def before(self) -> npt.NDArray[np.int64]:
        """``(states,)`` what is remembered before each state is read."""
        model = self.product.model
        memory = np.full(model.n_states, self.start, dtype=np.int64)
        memory[model.columns] = np.repeat(self.then[owners(model)], np.diff(model.row_starts))
        return memory


def _product(evaluation: Evaluation, objectives: Sequence[Objective]) -> _Found:
    model = evaluation.model
    terms = Terms(model.nature, evaluation.program.constants, evaluation.source)
    every = np.arange(model.n_states, dtype=np.int64)
    starts = np.where(every == model.initial[0], 0, -1).astype(np.int32)
    nothing = np.zeros(model.n_states, dtype=np.int64)
    plain = Product(model, nothing, starts, starts, every, np.arange(model.n_choices, dtype=np.int64))
    found = _Found(plain, {}, {}, None, nothing)
    used = 0  # marks so far
    for i, objective in enumerate(objectives):
        path = objective.formula.path if isinstance(objective.formula, Probability) else objective.until
        if path is None:
            continue
        # The negation of a path has the same automaton, with the other condition.
        automaton, propositions = automaton_of(path, terms, counting=objective.until is not None)
        if used + automaton.n_marks > _MOST_MARKS:
            message = f"automata with more than {_MOST_MARKS} acceptance sets together are not supported"
            raise UnsupportedError(message, evaluation.source, path.span)
        masks = [evaluation.mask(part)[found.product.states] for part in propositions]
        found = found.times(automaton, masks, used)
        if objective.until is not None:
            sure = np.array([automaton.accepts_everything(state) for state in range(automaton.n_states)])
            found.done[i] = sure[found.product.after]
        else:
            condition = automaton.acceptance if objective.maximise else complement(automaton.acceptance)
            found.conditions[i] = _moved(condition, used)
        used += automaton.n_marks
    limits = [objective.steps for objective in objectives if objective.steps is not None]
    if limits:
        found = found.times(_counter(max(limits)), [])
        found = replace(found, count=found.product.after)
    return found


def _moved(acceptance: Acceptance, by: int) -> Acceptance:
    return replaced(acceptance, lambda mark: Mark(mark.operator, mark.number + by))


def _counter(steps: int) -> Automaton:
    """An automaton that accepts everything, and counts the letters up to one more than the given number."""
    diagrams = Diagrams()
    edges = tuple(diagrams.leaf((min(state + 1, steps + 1), 0)) for state in range(steps + 2))
    return Automaton((), 0, diagrams, edges, ALL)


def _rewards(evaluation: Evaluation, objective: Objective, found: _Found, i: int) -> Floats:
    assert isinstance(objective.formula, Reward)
    model = found.product.model
    rows = rewards_by_row(evaluation.model, structure_of(evaluation, objective.formula))[found.product.rows]
    counted = np.ones(model.n_states, dtype=np.bool_)
    if objective.steps is not None:
        assert found.count is not None
        counted = found.count <= objective.steps
    elif i in found.done:
        counted = ~found.done[i]
    return np.where(counted[owners(model)], rows, 0.0)


def _stops(
    found: Product, conditions: dict[int, Acceptance], free: Mask, averages: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], tuple[Ending, ...]]:
    """Where runs may stop, ascending, and how they go on then.

    Only sets of objectives that no other includes: unless there are averages, which may be better where fewer are met.
    """
    possible: dict[frozenset[int], list[Ending]] = {frozenset(): _endings(found, frozenset(), ALL, free)}
    for size in range(1, len(conditions) + 1):
        for members in map(frozenset, combinations(conditions, size)):
            if any(members - {i} not in possible for i in members):
                continue
            endings = _endings(found, members, gate("&", [conditions[i] for i in sorted(members)]), free)
            if endings:
                possible[members] = endings
    masks = {members: _anywhere(found, endings) for members, endings in possible.items()}
    states, numbers = [], []
    kinds: list[Ending] = []
    for members, endings in possible.items():
        left = masks[members].copy()
        for larger, other in masks.items():
            if members < larger and not averages:
                left &= ~other
        for ending in endings:
            here = np.flatnonzero(left & (ending.component >= 0))
            left[here] = averages
            if len(here):
                states.append(here)
                numbers.append(np.full(len(here), len(kinds)))
                kinds.append(ending)
    if not kinds:
        nowhere = np.zeros(0, dtype=np.int64)
        return nowhere, nowhere, ()
    where, of = np.concatenate(states), np.concatenate(numbers)
    order = np.argsort(where, kind="stable")
    return where[order], of[order], tuple(kinds)


def _anywhere(found: Product, endings: Sequence[Ending]) -> Mask:
    mask = np.zeros(found.model.n_states, dtype=np.bool_)
    for ending in endings:
        mask |= ending.component >= 0
    return mask


def _endings(found: Product, members: frozenset[int], acceptance: Acceptance, free: Mask) -> list[Ending]:
    """Where all of some objectives can be met at once: for each pair of the condition, end components."""
    kinds = []
    for pair in generalised_rabin(acceptance):
        inner = maximal_end_components(found.model, found.marks & pair.fin == 0, free)
        inside = inner.component >= 0
        met = np.zeros(inner.count, dtype=np.int64)
        np.bitwise_or.at(met, inner.component[inside], found.marks[inside])
        good = np.append(met & pair.inf == pair.inf, False)[inner.component]
        if good.any():
            component = np.where(good, inner.component, -1).astype(np.int32)
            anywhere = bool((found.marks[good] & pair.inf == pair.inf).all())
            kinds.append(Ending(members, component, inner.staying & good[owners(found.model)], anywhere))
    return kinds


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
