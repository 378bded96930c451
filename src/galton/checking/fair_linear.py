"""``P``, ``A`` and ``E`` of formulas of linear temporal logic, for fair strategies and fair paths.

As for all strategies, a formula holds with the probability of getting to end components of the product that are
accepted; but of these only such count in which all choices of all states are taken (:func:`.fairness.fair_ends`). The
product is always that with a model that was built before, because fairness is about the choices of its states.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..automata.acceptance import complement, generalised_rabin
from ..device.arrays import is_on_host
from ..device.errors import DeviceError
from ..graph import bottom_components, can_reach, zero_and_one
from ..lang.expressions import Expression
from ..lang.properties import Optimum
from ..model.sparse import Int32s, Mask, Model
from .automaton_product import Product, product
from .fairness import choice_of, fair_ends
from .inspection import Terms
from .ltl import automaton_of
from .quantity import Quantity, Work
from .unbounded.until import until

if TYPE_CHECKING:
    from ..solve.settings import Settings
    from .evaluation import Evaluation

__all__ = ["fair_linear_probability", "fair_linear_zero_one", "some_fair_path"]


def fair_linear_probability(evaluation: Evaluation, path: Expression, optimum: Optimum, settings: Settings) -> Quantity:
    """Bound the probability of a path formula in the states that matter; elsewhere the bounds are 0 and 1."""
    aim = _aim(evaluation, evaluation.model, path, evaluation.focused_model.initial, negated=optimum == "min")
    value = until(aim.model, aim.everywhere, aim.goal, "max", settings, negated=optimum == "min")
    there = aim.product.starts >= 0
    places = aim.product.starts[there]
    lower, upper = np.zeros(len(there)), np.ones(len(there))
    lower[there], upper[there] = value.lower[places], value.upper[places]
    if not value.proved:
        lower = upper
    return replace(value, lower=lower, upper=upper, work=(*aim.work, *value.work))


def fair_linear_zero_one(evaluation: Evaluation, path: Expression, optimum: Optimum) -> tuple[Mask, Mask]:
    """The states where the probability of a path formula is exactly 0, and exactly 1."""
    aim = _aim(evaluation, evaluation.model, path, negated=optimum == "min")
    zero, one = zero_and_one(aim.model, aim.everywhere, aim.goal, "max")
    if optimum == "min":
        zero, one = one, zero
    return zero[aim.product.starts], one[aim.product.starts]


def some_fair_path(evaluation: Evaluation, free: Model, path: Expression, *, negated: bool) -> Mask:
    """The states where some fair path satisfies a path formula or, ``negated``, does not.

    ``free`` is the model with each transition as a choice.
    """
    aim = _aim(evaluation, free, path, negated=negated)
    return can_reach(aim.model, aim.everywhere, aim.goal)[aim.product.starts]


@dataclass(frozen=True, eq=False)
class _Aim:
    """The states of a product from which a formula, or its negation, is sure by some fair strategy."""

    product: Product
    goal: Mask
    work: tuple[Work, ...]

    @property
    def model(self) -> Model:
        return self.product.model

    @property
    def everywhere(self) -> Mask:
        return np.ones(self.model.n_states, dtype=np.bool_)


def _aim(
    evaluation: Evaluation, moves: Model, path: Expression, starts: Int32s | None = None, *, negated: bool
) -> _Aim:
    """Multiply a model, or one with its transitions as choices, with the automaton of a formula."""
    model = evaluation.model
    if not is_on_host(model.columns):
        raise DeviceError(
            "fair strategies for formulas with more than one temporal operator (LTL) are not for a device"
        )
    begun = time.perf_counter()
    automaton, states = automaton_of(path, Terms(model.nature, evaluation.program.constants, evaluation.source))
    masks = [evaluation.mask(part) for part in states]
    every = np.arange(model.n_states, dtype=np.int32)
    made = product(moves, automaton, masks, every if starts is None else starts)
    within, choice = np.ones(made.model.n_states, dtype=np.bool_), made.rows
    if moves is model:
        within = (bottom_components(model).component >= 0)[made.states]  # nowhere else do fair runs stay
    else:
        choice = choice_of(model)[made.rows]
    goal = np.zeros_like(within)
    for pair in generalised_rabin(complement(automaton.acceptance) if negated else automaton.acceptance):
        ends = fair_ends(made.model, model, within & (made.marks & pair.fin == 0), made.states, choice)
        inside = ends.component >= 0
        met = np.zeros(ends.count + 1, dtype=np.int64)
        np.bitwise_or.at(met, ends.component[inside], made.marks[inside])
        goal |= inside & (met[ends.component] & pair.inf == pair.inf)
    detail = (
        f"{automaton.n_states:,} states, {made.model.n_states:,} with the model, {int(goal.sum()):,} accepted fairly"
    )
    return _Aim(made, goal, (Work("automaton", detail, seconds=time.perf_counter() - begun),))
