"""``P``, ``A`` and ``E`` of formulas of linear temporal logic: reachability in the product with an automaton.

A run of the product ends up in a bottom component of a chain and meets all of it infinitely often, so that the
component decides whether it is accepted. In an MDP a strategy can stay in an end component and meet all of it; for a
generalised Rabin pair these are the end components without the states that the pair forbids, which have all that it
asks for (de Alfaro, "Formal verification of probabilistic systems", 1997; Chatterjee, Gaiser and Křetínský, "Automata
with generalized Rabin pairs for probabilistic model checking and LTL synthesis", CAV 2013). The probability is that of
getting to such components, and least where that of the complement, which has the same automaton, is greatest.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..automata import Automaton, translate
from ..automata.acceptance import complement
from ..automata.from_property import path_formula
from ..device.arrays import is_on_host
from ..device.errors import DeviceError
from ..graph import can_reach, zero_and_one
from ..lang.expressions import Expression
from ..lang.properties import Optimum, TimeBound
from ..lang.rendering import render
from ..lang.source import UnsupportedError
from ..model.sparse import Int32s, Mask, Model
from . import paths
from .automaton_product import Product, product
from .inspection import Terms
from .quantity import Quantity, Work
from .unbounded.until import until

if TYPE_CHECKING:
    from ..solve.settings import Settings
    from .evaluation import Evaluation

__all__ = ["automaton_of", "linear_probability", "linear_zero_one", "some_path"]


def linear_probability(
    evaluation: Evaluation, path: Expression, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound the probability of a path formula in the states that matter; elsewhere the bounds are 0 and 1."""
    if settings.strategy:
        message = "strategies for formulas with more than one temporal operator (LTL) are not supported"
        raise UnsupportedError(message, evaluation.source, path.span)
    found, goal, work = _reduced(evaluation, path, optimum, evaluation.focused_model.initial)
    everywhere = np.ones(found.model.n_states, dtype=np.bool_)
    least = optimum == "min"
    value = until(found.model, everywhere, goal, "max" if optimum else None, settings, negated=least)
    there = found.starts >= 0
    lower, upper = np.zeros(len(there)), np.ones(len(there))
    lower[there], upper[there] = value.lower[found.starts[there]], value.upper[found.starts[there]]
    if not value.proved:
        lower = upper
    return replace(value, lower=lower, upper=upper, work=(*work, *value.work), choices=None)


def linear_zero_one(evaluation: Evaluation, path: Expression, optimum: Optimum | None) -> tuple[Mask, Mask]:
    """The states where the probability of a path formula is exactly 0, and exactly 1."""
    states = np.arange(evaluation.model.n_states, dtype=np.int32)
    found, goal, _ = _reduced(evaluation, path, optimum, states)
    everywhere = np.ones(found.model.n_states, dtype=np.bool_)
    zero, one = zero_and_one(found.model, everywhere, goal, "max" if optimum else None)
    if optimum == "min":
        zero, one = one, zero
    return zero[found.starts], one[found.starts]


def some_path(evaluation: Evaluation, free: Model, path: Expression, *, negated: bool) -> Mask:
    """The states where some path satisfies a path formula or, ``negated``, does not.

    ``free`` is the model with each transition as a choice, so that its end components are where paths may stay.
    """
    states = np.arange(free.n_states, dtype=np.int32)
    found, goal, _ = _reduced(evaluation, path, "min" if negated else "max", states, free)
    everywhere = np.ones(found.model.n_states, dtype=np.bool_)
    return can_reach(found.model, everywhere, goal)[found.starts]


def _reduced(
    evaluation: Evaluation, path: Expression, optimum: Optimum | None, starts: Int32s, model: Model | None = None
) -> tuple[Product, Mask, list[Work]]:
    """The product, the states that decide, and what was done; for a minimum these are the complement's."""
    model = evaluation.model if model is None else model
    if not is_on_host(model.columns):
        raise DeviceError("formulas with more than one temporal operator (LTL) are not checked on a device")
    begun = time.perf_counter()
    terms = Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)
    automaton, states = automaton_of(path, terms)
    masks = [evaluation.mask(part) for part in states]
    made = time.perf_counter()
    found = product(model, automaton, masks, starts)
    goal = found.accepting(complement(automaton.acceptance) if optimum == "min" else automaton.acceptance)
    size = f"{found.model.n_states:,} states, {found.model.n_transitions:,} transitions"
    work = [
        Work("automaton", f"{automaton.n_states:,} states, {automaton.n_marks} marks", seconds=made - begun),
        Work("product", f"{size}, {int(goal.sum()):,} in deciding components", seconds=time.perf_counter() - made),
    ]
    return found, goal, work


def automaton_of(path: Expression, terms: Terms) -> tuple[Automaton, tuple[Expression, ...]]:
    """Return the automaton of a path formula, and the state formulas that its propositions are."""

    def steps(bound: TimeBound) -> tuple[int, int | None]:
        limit = bound.low if bound.high is None else bound.high
        assert limit is not None
        if bound.reward is not None:
            message = "paths bounded by a reward, F^{rew{…}<=k}, are not supported"
            raise UnsupportedError(message, terms.source, limit.span)
        if terms.nature.is_continuous:
            message = "a bound on time beside other temporal operators (LTL) is not supported"
            hint = "without bounds, a formula of a CTMC is about the order of its states"
            raise UnsupportedError(message, terms.source, limit.span, hint)
        return paths.steps(bound, terms.constants, terms.source)

    formula, states = path_formula(path, terms.source, steps)
    return translate(formula, [render(part) for part in states]), states
