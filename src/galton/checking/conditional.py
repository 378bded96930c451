"""``P [ path || condition ]``: the probability of a path formula among the runs that satisfy a condition.

In a chain it is a quotient. In an MDP it is the probability of a goal in a model that starts anew whenever the
condition fails (Baier, Klein, Klüppelholz and Märcker, "Computing conditional probabilities in Markovian models
efficiently", TACAS 2014): starting anew as often as it takes turns runs that do not count into such as do, and changes
no quotient. The product with an automaton for each of the formulas is taken first; a run that stays in an end component
where both hold may go to the goal, one where the condition fails may start anew, and one that does neither counts
against the path.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..automata.acceptance import Acceptance, Mark, complement, gate, replaced
from ..device.arrays import is_on_host, offsets
from ..device.errors import DeviceError
from ..graph import can_reach
from ..lang.expressions import Binary
from ..lang.properties import Given, Optimum
from ..lang.rendering import render
from ..lang.source import UnsupportedError
from ..model.sparse import Int32s, Mask, Model, Rewards
from ..model.values import Floats, Values
from . import paths
from .automaton_product import product
from .budgets.costs import of_single_choices
from .evaluation import UndefinedError
from .inspection import Terms
from .intervals import Numbers
from .ltl import automaton_of, linear_probability
from .quantity import Quantity, Work
from .unbounded.rewards import reachability_reward
from .unbounded.until import until

if TYPE_CHECKING:
    from ..solve.settings import Settings
    from .evaluation import Evaluation

__all__ = ["conditional_probability", "conditional_reward"]

_SHARE = 0.25  # of eps, for each part of a quotient


def conditional_probability(
    evaluation: Evaluation, formula: Given, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound the probability of a path given a condition in the states that matter; elsewhere the bounds are 0 and 1."""
    _refuse_elsewhere(evaluation, formula, settings)
    if optimum is None:
        return _quotient(evaluation, formula, settings)
    return _reset(evaluation, formula, optimum, settings)


def _impossible(evaluation: Evaluation, formula: Given, state: int) -> UndefinedError:
    message = f"the condition {render(formula.condition)} has probability 0 in {evaluation.state_name(state)}"
    return UndefinedError(
        f"{message}, so nothing can be said about the runs that satisfy it", evaluation.source, formula.span
    )


# Chains.


def _quotient(evaluation: Evaluation, formula: Given, settings: Settings) -> Quantity:
    finer = replace(settings, eps=settings.eps * _SHARE, relative=True)
    condition = linear_probability(evaluation, formula.condition, None, finer)
    states = evaluation.focused_model.initial
    impossible = condition.upper[states] == 0
    if impossible.any():
        raise _impossible(evaluation, formula, int(states[impossible][0]))
    both = Binary("&", formula.path, formula.condition, span=formula.span)
    joint = linear_probability(evaluation, both, None, finer)
    found = Numbers(joint.lower[states], joint.upper[states]) / Numbers(
        condition.lower[states], condition.upper[states]
    )
    lower, upper = np.zeros(len(joint.lower)), np.ones(len(joint.upper))
    lower[states] = np.clip(found.lower, 0.0, 1.0)
    upper[states] = np.clip(np.where(np.isnan(found.upper), 1.0, found.upper), 0.0, 1.0)
    proved = joint.proved and condition.proved
    if not proved:
        lower = upper
    return replace(joint, lower=lower, upper=upper, work=(*condition.work, *joint.work), proved=proved)


def conditional_reward(
    evaluation: Evaluation, formula: Given, structure: Rewards, name: str, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound the reward collected until a goal, among the runs of a chain that satisfy a condition.

    With h the probability of the condition from each state of the product on, what a run collects if it satisfies the
    condition has the mean of a reward r·h. Runs that fail for certain collect nothing more.
    """
    _refuse_elsewhere(evaluation, formula, settings)
    if optimum is not None:
        message = "rewards under a condition are not supported for an MDP"
        raise UnsupportedError(message, evaluation.source, formula.span)
    path = paths.shape(formula.path)
    if not isinstance(path, paths.Until) or path.negated or path.bound is not None or path.through != paths.TRUE:
        message = "rewards under a condition are collected until F …, and other formulas are not supported"
        raise UnsupportedError(message, evaluation.source, formula.path.span)
    if evaluation.model.is_continuous and structure.choice is not None and structure.choice.any():
        message = "rewards of the transitions of a CTMC under a condition are not supported"
        raise UnsupportedError(message, evaluation.source, formula.span)
    which = f'the reward structure "{name}"' if name else "the reward structure"
    structure = of_single_choices(evaluation, name, structure, which, formula.span)
    terms = Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)
    automaton, states = automaton_of(formula.condition, terms)
    initial = evaluation.focused_model.initial
    found = product(evaluation.model, automaton, [evaluation.mask(part) for part in states], initial)
    every = np.ones(found.model.n_states, dtype=np.bool_)
    finer = replace(settings, eps=settings.eps * _SHARE, relative=True)
    asked = replace(found.model, initial=np.arange(found.model.n_states, dtype=np.int32))
    likely = until(asked, every, found.accepting(automaton.acceptance), None, finer)
    starts = found.starts[initial]
    if (likely.upper[starts] == 0).any():
        raise _impossible(evaluation, formula, int(initial[likely.upper[starts] == 0][0]))
    over = evaluation.mask(path.goal)[found.states] | (likely.upper == 0)

    def collected(share: Floats, outwards: float) -> Quantity:
        state, choice = (
            None if part is None else np.maximum(np.nextafter(part[rows] * share, outwards), 0.0)
            for part, rows in ((structure.state, found.states), (structure.choice, found.rows))
        )
        return reachability_reward(found.model, Rewards(state, choice), over, None, finer)

    below, above = collected(likely.lower, -np.inf), collected(likely.upper, np.inf)
    joint = Numbers(below.lower[starts], above.upper[starts])
    quotient = joint / Numbers(likely.lower[starts], likely.upper[starts])
    n = evaluation.model.n_states
    lower, upper, infinite = np.zeros(n), np.full(n, np.finfo(np.float64).max), np.zeros(n, dtype=np.bool_)
    lower[initial], upper[initial] = np.maximum(quotient.lower, 0.0), quotient.upper
    infinite[initial] = np.isinf(above.upper[starts])
    lower[infinite], upper[infinite] = np.inf, np.inf
    proved = below.proved and above.proved and likely.proved
    work = (*likely.work, *below.work, *above.work)
    return Quantity(lower, upper if proved else lower, above.method, work, proved=proved, infinite=infinite)


def _refuse_elsewhere(evaluation: Evaluation, formula: Given, settings: Settings) -> None:
    if settings.strategy:
        message = "strategies for conditional probabilities are not supported"
        raise UnsupportedError(message, evaluation.source, formula.span)
    if not is_on_host(evaluation.model.columns) or evaluation.model.on_device:
        raise DeviceError("conditional probabilities are not checked on a device")


# MDPs.


def _reset(evaluation: Evaluation, formula: Given, optimum: Optimum, settings: Settings) -> Quantity:
    states = evaluation.focused_model.initial
    if len(states) > _MOST_STATES:
        message = f"the conditional probabilities of an MDP in {len(states):,} states at once are not supported"
        raise UnsupportedError(message, evaluation.source, formula.span, "ask for the initial state")
    begun = time.perf_counter()
    pair = _Pair(evaluation, formula, states)
    counts, wins = pair.acceptance(optimum)
    model = pair.product.model
    win, fail = pair.product.accepting(gate("&", (counts, wins))), pair.product.accepting(complement(counts))
    possible = can_reach(model, np.ones(model.n_states, dtype=np.bool_), pair.product.accepting(counts))
    size = f"{model.n_states:,} states, {model.n_transitions:,} transitions"
    work = [Work("product", size, seconds=time.perf_counter() - begun)]
    n = evaluation.model.n_states
    lower, upper, proved, method = np.zeros(n), np.ones(n), True, ""
    for state in states:
        start = int(pair.starts[state])
        if not possible[start]:
            raise _impossible(evaluation, formula, int(state))
        anew = _starting_anew(model, win, fail, start)
        every = np.ones(anew.n_states, dtype=np.bool_)
        goal = ~every
        goal[-1] = True
        found = until(anew, every, goal, "max", settings, negated=optimum == "min")
        lower[state], upper[state] = found.lower[start], found.upper[start]
        proved, method = proved and found.proved, found.method
        work += found.work
    return Quantity(lower, upper if proved else lower, method, tuple(work), proved=proved)


_MOST_STATES = 100


class _Pair:
    """The product of a model with the automata of a path and of its condition."""

    def __init__(self, evaluation: Evaluation, formula: Given, states: Int32s) -> None:
        terms = Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)
        self.path, path_states = automaton_of(formula.path, terms)
        self.condition, condition_states = automaton_of(formula.condition, terms)
        first = product(evaluation.model, self.path, [evaluation.mask(part) for part in path_states], states)
        # States of the first product read the same letters as those of the model.
        masks = [evaluation.mask(part)[first.states] for part in condition_states]
        second = product(first.model, self.condition, masks, np.unique(first.starts[states]))
        shift = self.path.n_marks
        marks = first.marks[second.states] | second.marks << shift
        self.product = replace(second, marks=marks)
        self.starts = np.where(first.starts >= 0, second.starts[first.starts], -1)

    def acceptance(self, optimum: Optimum) -> tuple[Acceptance, Acceptance]:
        """When a run counts and, among those, when it makes the path more likely or, for a minimum, less."""
        shift = self.path.n_marks
        counts = replaced(self.condition.acceptance, lambda mark: Mark(mark.operator, mark.number + shift))
        path = self.path.acceptance
        return counts, complement(path) if optimum == "min" else path


def _starting_anew(model: Model, win: Mask, fail: Mask, start: int) -> Model:
    """The model with one more state, the goal, to which states that win may go; those that fail may go to the start."""
    n, groups = model.n_states, model.row_groups.astype(np.int64)
    lengths = np.diff(model.row_starts)
    sizes = np.diff(groups)
    # The old rows of each state, then what it may do besides, then the row of the goal.
    counts = np.concatenate((sizes + win + fail, [1]))
    places = offsets(counts, np.int64)
    n_rows = int(places[-1])
    row_lengths = np.ones(n_rows, dtype=np.int64)
    old = np.arange(model.n_choices) + np.repeat(places[:-2] - groups[:-1], sizes)
    row_lengths[old] = lengths
    starts = offsets(row_lengths, np.int64)
    columns = np.empty(int(starts[-1]), dtype=np.int32)
    values = np.ones(int(starts[-1]))
    kept = np.repeat(starts[old] - model.row_starts[:-1], lengths) + np.arange(model.n_transitions)
    columns[kept] = model.columns
    values[kept] = model.values[:]
    ends = places[:-2] + sizes
    columns[starts[ends[win]]] = n
    columns[starts[(ends + win)[fail]]] = start
    columns[-1] = n
    return Model(
        type=model.type,
        choice_starts=places.astype(np.int32),
        row_starts=starts if starts[-1] >= 2**31 else starts.astype(np.int32),
        columns=columns,
        values=Values.compress(values),
        initial=np.array([start], dtype=np.int32),
        placement=model.placement,
    )
