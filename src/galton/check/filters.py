"""Filters: from a value in every state to one value, or to the states worth a look.

A property without a filter is about the initial states: a truth must hold in all of them, a number is that of the only
one, or the range over several.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lang.properties import Filter
from ..lang.rendering import render
from ..lang.source import LanguageError
from .intervals import Floats, Mask, Numbers, Truth
from .result import Result, shown

if TYPE_CHECKING:
    from .evaluation import Evaluation

MANY = 10_000  # states that are listed


def filtered(evaluation: Evaluation, formula: Filter) -> Truth | Numbers:
    """The value of ``filter(operator, operand, states)``, the same in all states unless it leaves the operand alone."""
    states = _states(evaluation, formula)
    with evaluation.focused(states):
        value = evaluation.value(formula.operand, states)
    if formula.operator in ("print", "printall"):
        evaluation.listings.append((formula, states, value))
        return value
    if isinstance(value, Truth):
        return _of_truths(evaluation, formula, value, states)
    return _of_numbers(evaluation, formula, value, states)


def _states(evaluation: Evaluation, formula: Filter) -> Mask:
    if formula.states is None:
        return np.ones(evaluation.model.n_states, dtype=np.bool_)
    states = evaluation.mask(formula.states)
    if not states.any():
        message = f"the filter is about no state: none satisfies {render(formula.states)}"
        raise LanguageError(message, evaluation.source, formula.states.span)
    return states


def _only(evaluation: Evaluation, formula: Filter, states: Mask) -> int:
    """The one state that a filter ``state`` is about."""
    found = np.flatnonzero(states)
    if len(found) > 1:
        message = f"the filter 'state' needs one state, and {len(found):,} satisfy it"
        hint = "min, max, avg, range or first are for several"
        raise LanguageError(message, evaluation.source, formula.span, hint)
    return int(found[0])


def _of_truths(evaluation: Evaluation, formula: Filter, value: Truth, states: Mask) -> Truth | Numbers:
    n = evaluation.model.n_states
    must, may = np.broadcast_to(value.must, n), np.broadcast_to(value.may, n)
    match formula.operator:
        case "forall":
            return Truth(np.asarray(must[states].all()), np.asarray(may[states].all()))
        case "exists":
            return Truth(np.asarray(must[states].any()), np.asarray(may[states].any()))
        case "count":
            least, most = (np.asarray(float((mask & states).sum())) for mask in (must, may))
            return Numbers(least, most, integral=True)
    state = _only(evaluation, formula, states) if formula.operator == "state" else int(states.argmax())
    return Truth(np.asarray(must[state]), np.asarray(may[state]))


def _of_numbers(evaluation: Evaluation, formula: Filter, value: Numbers, states: Mask) -> Truth | Numbers:
    n = evaluation.model.n_states
    lower, upper = np.broadcast_to(value.lower, n), np.broadcast_to(value.upper, n)
    if formula.operator in ("argmin", "argmax"):
        best = _best(lower, upper, states) if formula.operator == "argmin" else _best(-upper, -lower, states)
        evaluation.listings.append((formula, best.may, value))
        return best
    low, high = lower[states], upper[states]
    match formula.operator:
        case "min":
            bounds = low.min(), high.min()
        case "max":
            bounds = low.max(), high.max()
        case "sum":
            bounds = _sum(low, value.integral, -math.inf), _sum(high, value.integral, math.inf)
        case "avg":
            total = Numbers.exactly(float(len(low)))
            sums = np.asarray(_sum(low, False, -math.inf)), np.asarray(_sum(high, False, math.inf))
            return Numbers(*sums) / total
        case "range":
            bounds = low.min(), high.max()
        case _:
            state = _only(evaluation, formula, states) if formula.operator == "state" else int(states.argmax())
            bounds = lower[state], upper[state]
    return Numbers(np.asarray(bounds[0], dtype=float), np.asarray(bounds[1], dtype=float), value.integral)


def listing(evaluation: Evaluation) -> list[str]:
    """What ``print``, ``printall``, ``argmin`` and ``argmax`` want to be seen: a line per state.

    As in PRISM, ``print`` leaves out states where the value is zero or false.
    """
    lines = []
    for formula, states, value in evaluation.listings:
        n = evaluation.model.n_states
        if isinstance(value, Truth):
            low, high = np.broadcast_to(value.must, n), np.broadcast_to(value.may, n)
        else:
            low, high = np.broadcast_to(value.lower, n), np.broadcast_to(value.upper, n)
        chosen = states & (high != 0) if formula.operator == "print" else states
        numbers = np.flatnonzero(chosen)
        for state in numbers[:MANY].tolist():
            lines.append(f"{evaluation.state_name(state)}  {_shown(low[state], high[state])}")
        if len(numbers) > MANY:
            lines.append(f"… and {len(numbers) - MANY:,} more")
    return lines


def _shown(low: Any, high: Any) -> str:
    if isinstance(low, np.bool_):
        return str(bool(low)).lower() if low == high else "undecided"
    if low == high:
        return shown(float(low))
    return Result(formula="", value=float(low + (high - low) / 2), lower=float(low), upper=float(high)).text


def _best(lower: Floats, upper: Floats, states: Mask) -> Truth:
    """The states whose number is smallest: perhaps, unless another's is for certain; surely, if no other's can be."""
    may = states & (lower <= upper[states].min())
    lowest = np.partition(lower[states], 1)[:2] if states.sum() > 1 else np.array([lower[states][0], math.inf])
    others = np.where(lower == lowest[0], lowest[1], lowest[0])  # the lowest bound among the other states
    return Truth(may & (upper <= others), may)


def _sum(values: Floats, exact: bool, towards: float) -> float:
    """A sum rounded in one direction; ``fsum`` is off by at most half a unit in the last place."""
    if not np.isfinite(values).all():
        return float(values.sum())
    total = math.fsum(values.tolist())
    return total if exact else math.nextafter(total, towards)
