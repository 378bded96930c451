"""Filters across ranks: from a value in every state of every rank to one value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...lang.properties import Filter
from ...lang.rendering import render
from ...lang.source import LanguageError
from ...model.states import PackedStates
from ..filters import _one_number, _one_truth, _sum
from ..intervals import Mask, Numbers, Truth

if TYPE_CHECKING:
    from .evaluation import RankEvaluation

__all__ = ["filtered"]

LISTED = ("print", "printall", "argmin", "argmax")


def filtered(evaluation: RankEvaluation, formula: Filter) -> Truth | Numbers:
    """The value of ``filter(operator, operand, states)``, the same in all states of all ranks."""
    if formula.operator in LISTED:
        raise evaluation.refuse(f"filters that list states ({formula.operator})", formula.span)
    world, n = evaluation.world, evaluation.model.n_states
    states: Mask = np.ones(n, dtype=bool) if formula.states is None else evaluation.mask(formula.states)
    count = world.total(int(states.sum()))
    if not count:
        assert formula.states is not None
        message = f"the filter is about no state: none satisfies {render(formula.states)}"
        raise LanguageError(message, evaluation.source, formula.states.span)
    with evaluation.focused(states):
        value = evaluation.value(formula.operand, states)
    if formula.operator == "state" and count > 1:
        message = f"the filter 'state' needs one state, and {count:,} satisfy it"
        raise LanguageError(message, evaluation.source, formula.span, "min, max, avg, range or first are for several")
    bounds = (value.must, value.may) if isinstance(value, Truth) else (value.lower, value.upper)
    found_bounds: list[Any] = [np.broadcast_to(bound, n)[states] for bound in bounds]
    low, high = found_bounds
    if formula.operator in ("state", "first"):
        chosen = _first(evaluation, states)
        low, high = next(filter(None, world.gathered((low[0], high[0]) if chosen else None)))
        return _one_truth(low, high) if isinstance(value, Truth) else _one_number(low, high, value.integral)
    if isinstance(value, Truth):
        match formula.operator:
            case "forall":
                return _one_truth(world.all(low.all()), world.all(high.all()))
            case "exists":
                return _one_truth(world.any(low.any()), world.any(high.any()))
        return _one_number(world.total(int(low.sum())), world.total(int(high.sum())), integral=True)
    integral = value.integral
    match formula.operator:
        case "min":
            found = world.least(low.min(initial=np.inf)), world.least(high.min(initial=np.inf))
        case "max":
            found = world.greatest(low.max(initial=-np.inf)), world.greatest(high.max(initial=-np.inf))
        case "range":
            found = world.least(low.min(initial=np.inf)), world.greatest(high.max(initial=-np.inf))
        case _:
            exact = integral and formula.operator == "sum"
            below, above = world.gathered(_sum(low, exact, -math.inf)), world.gathered(_sum(high, exact, math.inf))
            total = _sum(np.array(below), exact, -math.inf), _sum(np.array(above), exact, math.inf)
            if formula.operator == "sum":
                return _one_number(*total, integral=integral)
            return _one_number(*total) / Numbers.exactly(float(count))
    return _one_number(*found, integral=integral)


def _first(evaluation: RankEvaluation, states: Mask) -> bool:
    """Whether this rank has the first of some states, in canonical order."""
    named = evaluation.model.states
    assert isinstance(named, PackedStates)
    found = np.flatnonzero(states)
    mine = None if not len(found) else tuple(int(word) for word in named.words[found[0]])
    others = evaluation.world.gathered(mine)
    return mine is not None and mine == min(other for other in others if other is not None)
