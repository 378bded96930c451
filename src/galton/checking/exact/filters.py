"""Filters over exact values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...lang.properties import Filter
from ...lang.rendering import render
from ...lang.source import LanguageError
from ..filters import MANY
from .numbers import Number, less, rational
from .text import shown_exactly

if TYPE_CHECKING:
    from .evaluation import ExactEvaluation, Values

__all__ = ["filtered", "listing"]


def filtered(evaluation: ExactEvaluation, formula: Filter) -> Values:
    """The value of ``filter(operator, operand, states)``."""
    from .evaluation import Values

    states = _states(evaluation, formula)
    found = evaluation.value(formula.operand, states)
    if formula.operator in ("print", "printall"):
        evaluation.listings.append((formula, states, found))
        return found
    values = [found[state] for state in states]
    match formula.operator:
        case "forall":
            return Values("bool", [all(values)], alone=True)
        case "exists":
            return Values("bool", [any(values)], alone=True)
        case "count":
            return Values("int", [sum(values)], alone=True)
        case "min" | "range":
            return Values(found.kind, [_extreme(values, least=True)], alone=True)
        case "max":
            return Values(found.kind, [_extreme(values, least=False)], alone=True)
        case "sum":
            return Values(found.kind, [_sum(values)], alone=True)
        case "avg":
            total = _sum(values)
            mean = total if isinstance(total, float) else (rational(0) + total) / len(values)
            return Values("double", [mean], alone=True)
        case "argmin" | "argmax":
            best = _extreme(values, least=formula.operator == "argmin")
            chosen = [state for state in states if found[state] == best]
            evaluation.listings.append((formula, chosen, found))
            inside = np.zeros(evaluation.model.n_states, dtype=np.bool_)
            inside[chosen] = True
            return Values("bool", inside.tolist())
    if formula.operator == "state" and len(states) > 1:
        message = f"the filter 'state' needs one state, and {len(states):,} satisfy it"
        hint = "min, max, avg, range or first are for several"
        raise LanguageError(message, evaluation.source, formula.span, hint)
    return Values(found.kind, [values[0]], alone=True)


def range_of(evaluation: ExactEvaluation, formula: Filter) -> tuple[Number, Number]:
    """The least and the greatest value of ``filter(range, …)``."""
    states = _states(evaluation, formula)
    found = evaluation.value(formula.operand, states)
    values = [found[state] for state in states]
    return _extreme(values, least=True), _extreme(values, least=False)


def _states(evaluation: ExactEvaluation, formula: Filter) -> list[int]:
    if formula.states is None:
        return evaluation.everywhere
    found: list[int] = np.flatnonzero(evaluation.mask(formula.states)).tolist()
    if not found:
        message = f"the filter is about no state: none satisfies {render(formula.states)}"
        raise LanguageError(message, evaluation.source, formula.states.span)
    return found


def _extreme(values: Sequence[Number], *, least: bool) -> Number:
    best = values[0]
    for value in values[1:]:
        if less(value, best) if least else less(best, value):
            best = value
    return best


def _sum(values: Sequence[Any]) -> Any:
    infinite = [value for value in values if isinstance(value, float)]
    return infinite[0] if infinite else sum(values[1:], values[0])


def listing(evaluation: ExactEvaluation) -> list[str]:
    """The lines that ``print``, ``printall``, ``argmin`` and ``argmax`` show: one for each state.

    As in PRISM, ``print`` leaves out states where the value is zero or false.
    """
    lines = []
    for formula, states, found in evaluation.listings:
        chosen = [state for state in states if formula.operator != "print" or found[state]]
        lines += [f"{evaluation.state_name(state)}  {shown_exactly(found[state])}" for state in chosen[:MANY]]
        if len(chosen) > MANY:
            lines.append(f"… and {len(chosen) - MANY:,} more")
    return lines
