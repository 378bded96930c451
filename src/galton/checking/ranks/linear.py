"""Formulas of linear temporal logic across ranks, by an automaton that was explored with the program (:mod:`..ltl`).

A component meets a mark if a state with it can be reached inside the component: it is a search like any other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...automata.acceptance import Acceptance, generalised_rabin, marks_of
from ...backend.petsc.graph import RankGraph
from ...lang.expressions import Expression
from ...lang.properties import Optimum
from ...model.sparse import Mask
from ...solve.settings import Settings
from ..automaton_product import Marks, accepted_where, asked_by
from ..ltl import Asked
from ..quantity import Quantity, Work
from .unbounded import until

if TYPE_CHECKING:
    from .evaluation import RankEvaluation

__all__ = ["linear_goal", "linear_probability", "linear_zero_one"]


def linear_probability(
    evaluation: RankEvaluation, path: Expression, optimum: Optimum | None, settings: Settings
) -> Quantity:
    """Bound the probability of a path formula."""
    asked = _asked(evaluation, path)
    aim = asked.aim(optimum)
    found = until(evaluation.graph, asked.everywhere, aim.goal, aim.optimum, settings, negated=aim.negated)
    return replace(found, work=(*asked.work, *found.work))


def linear_zero_one(evaluation: RankEvaluation, path: Expression, optimum: Optimum | None) -> tuple[Mask, Mask]:
    """The states where the probability of a path formula is exactly 0, and exactly 1."""
    asked = _asked(evaluation, path)
    aim = asked.aim(optimum)
    zero, one = evaluation.graph.zero_and_one(asked.everywhere, aim.goal, aim.optimum)
    return (one, zero) if aim.negated else (zero, one)


def linear_goal(evaluation: RankEvaluation, path: Expression) -> tuple[Mask, tuple[Work, ...]]:
    """The states where rewards are collected no more, because a co-safe formula is sure to hold."""
    asked = _asked(evaluation, path)
    return asked.surely, asked.work


def _asked(evaluation: RankEvaluation, path: Expression) -> Asked:
    if evaluation.reading is None:
        what = "formulas of LTL that are not the whole property, or are about more than variables,"
        raise evaluation.refuse(what, path.span)
    return Asked.of(evaluation.reading, evaluation.model, partial(_accepting_states, evaluation.graph))


def _accepting_states(graph: RankGraph, marks: Marks, acceptance: Acceptance, *, within: Mask | None) -> Mask:
    """See :func:`..automaton_product.accepting_states`."""
    n = graph.model.n_states
    if not graph.model.has_choices:
        inside = graph.bottom()[:n] >= 0
        if within is not None:
            inside &= within
        return _meeting(graph, inside, None, marks, acceptance)
    goal = np.zeros(n, dtype=bool)
    for pair in generalised_rabin(acceptance):
        allowed, wanted = asked_by(pair, marks, within)
        ends = graph.end_components(np.ones(n, dtype=bool) if allowed is None else allowed)
        goal |= _meeting(graph, ends.root[:n] >= 0, ends.staying, marks, wanted)
    return goal


def _meeting(graph: RankGraph, inside: Mask, staying: Mask | None, marks: Marks, acceptance: Acceptance) -> Mask:
    """The states of components that are accepted, whose choices ``staying`` never leave them."""
    met = {mark: graph.reach_some(inside, inside & (marks >> mark & 1 != 0), staying) for mark in marks_of(acceptance)}
    return inside & accepted_where(acceptance, met, np.ones_like(inside))
