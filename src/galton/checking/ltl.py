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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..automata import Automaton, Formula, translate
from ..automata.acceptance import complement
from ..automata.from_property import path_formula
from ..device.arrays import is_on_host
from ..device.errors import DeviceError
from ..graph import can_reach, zero_and_one
from ..lang.expressions import Expression
from ..lang.properties import Optimum, TimeBound
from ..lang.rendering import render
from ..lang.source import LanguageError, UnsupportedError
from ..model.sparse import Int32s, Mask, Model, Rewards
from . import paths
from .automaton_product import Product, product
from .inspection import Terms
from .quantity import Quantity, Work
from .unbounded.rewards import reachability_reward
from .unbounded.until import until

if TYPE_CHECKING:
    from ..solve.settings import Settings
    from .evaluation import Evaluation

__all__ = [
    "automaton_of",
    "linear_probability",
    "linear_reward",
    "linear_zero_one",
    "refuse_unless_cosafe",
    "some_path",
]


def linear_probability(
    evaluation: Evaluation, path: Expression, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound the probability of a path formula in the states that matter; elsewhere the bounds are 0 and 1."""
    found = _product(evaluation, evaluation.model, path, evaluation.focused_model.initial, settings)
    value = until(
        found.model, found.everywhere, found.goal(optimum), optimum and "max", settings, negated=optimum == "min"
    )
    there = found.product.starts >= 0
    places = found.product.starts[there]
    lower, upper = np.zeros(len(there)), np.ones(len(there))
    lower[there], upper[there] = value.lower[places], value.upper[places]
    if not value.proved:
        lower = upper
    return replace(value, lower=lower, upper=upper, work=(*found.work, *value.work))


def linear_zero_one(evaluation: Evaluation, path: Expression, optimum: Optimum | None) -> tuple[Mask, Mask]:
    """The states where the probability of a path formula is exactly 0, and exactly 1."""
    found = _product(evaluation, evaluation.model, path)
    zero, one = zero_and_one(found.model, found.everywhere, found.goal(optimum), optimum and "max")
    if optimum == "min":
        zero, one = one, zero
    return zero[found.product.starts], one[found.product.starts]


def some_path(evaluation: Evaluation, free: Model, path: Expression, *, negated: bool) -> Mask:
    """The states where some path satisfies a path formula or, ``negated``, does not.

    ``free`` is the model with each transition as a choice, so that its end components are where paths may stay.
    """
    found = _product(evaluation, free, path)
    return can_reach(found.model, found.everywhere, found.goal("min" if negated else "max"))[found.product.starts]


def linear_reward(
    evaluation: Evaluation, path: Expression, structure: Rewards, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound the reward that is collected until a co-safe formula is sure to hold, in every state.

    As in PRISM the formula has to be read to be sure: ``X true`` takes a step.
    """
    found = _product(evaluation, evaluation.model, path, settings=settings, counting=True)
    product = found.product
    sure = np.array([found.automaton.accepts_everything(state) for state in range(found.automaton.n_states)])
    rewards = Rewards(
        state=None if structure.state is None else structure.state[product.states],
        choice=None if structure.choice is None else structure.choice[product.rows],
    )
    asked = replace(found.model, initial=np.unique(product.starts[evaluation.focused_model.initial]))
    value = reachability_reward(asked, rewards, sure[product.after], optimum, settings)
    lower, upper = value.lower[product.starts], value.upper[product.starts]
    infinite = None if value.infinite is None else value.infinite[product.starts]
    return replace(value, lower=lower, upper=upper, infinite=infinite, work=(*found.work, *value.work))


@dataclass(frozen=True, eq=False)
class _Asked:
    """A product, and what was done for it."""

    automaton: Automaton
    product: Product
    work: tuple[Work, ...]

    @property
    def model(self) -> Model:
        return self.product.model

    @property
    def everywhere(self) -> Mask:
        return np.ones(self.model.n_states, dtype=np.bool_)

    def goal(self, optimum: Optimum | None) -> Mask:
        """The states from which the formula is sure or, for a minimum, its negation, by some strategy."""
        acceptance = self.automaton.acceptance
        return self.product.accepting(complement(acceptance) if optimum == "min" else acceptance)


def _product(
    evaluation: Evaluation,
    model: Model,
    path: Expression,
    starts: Int32s | None = None,
    settings: Settings | None = None,
    counting: bool = False,
) -> _Asked:
    """The product of a model, with the states of the evaluation, and the automaton of a formula."""
    if settings is not None and settings.strategy:
        message = "strategies for formulas with more than one temporal operator (LTL) are not supported"
        raise UnsupportedError(message, evaluation.source, path.span)
    if not is_on_host(model.columns):
        raise DeviceError("formulas with more than one temporal operator (LTL) are not checked on a device")
    begun = time.perf_counter()
    terms = Terms(evaluation.model.nature, evaluation.program.constants, evaluation.source)
    automaton, states = automaton_of(path, terms, counting=counting)
    masks = [evaluation.mask(part) for part in states]
    made = time.perf_counter()
    every = np.arange(model.n_states, dtype=np.int32)
    found = product(model, automaton, masks, every if starts is None else starts)
    size = f"{found.model.n_states:,} states, {found.model.n_transitions:,} transitions"
    work = (
        Work("automaton", f"{automaton.n_states:,} states, {automaton.n_marks} marks", seconds=made - begun),
        Work("product", size, seconds=time.perf_counter() - made),
    )
    return _Asked(automaton, found, work)


def automaton_of(path: Expression, terms: Terms, *, counting: bool = False) -> tuple[Automaton, tuple[Expression, ...]]:
    """Return the automaton of a path formula, and the state formulas that its propositions are.

    ``counting`` says whether ``X true`` takes a step.
    """
    formula, states = _formula_of(path, terms, counting)
    return translate(formula, [render(part) for part in states]), states


def refuse_unless_cosafe(path: Expression, terms: Terms) -> None:
    """Raise an error for a formula that no finite path makes true for certain, as far as syntax shows it."""
    if not _formula_of(path, terms, counting=True)[0].is_cosafe:
        message = "this is not co-safe: no finite path makes it true, so rewards until then mean nothing"
        raise LanguageError(message, terms.source, path.span)


def _formula_of(path: Expression, terms: Terms, counting: bool) -> tuple[Formula, tuple[Expression, ...]]:
    def steps(bound: TimeBound) -> tuple[int, int | None]:
        limit = bound.low if bound.high is None else bound.high
        assert limit is not None
        if bound.is_budget:
            message = "paths within budgets, F^{rew{…}<=k}, beside other temporal operators are not supported"
            raise UnsupportedError(message, terms.source, limit.span)
        if terms.nature.is_continuous:
            message = "a bound on time beside other temporal operators (LTL) is not supported"
            hint = "without bounds, a formula of a CTMC is about the order of its states"
            raise UnsupportedError(message, terms.source, limit.span, hint)
        return paths.steps(bound, terms.constants, terms.source)

    return path_formula(path, terms.source, steps, counting=counting)
