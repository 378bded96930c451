"""Filters: from a value in every state to one value, or to the states worth a look.

A property without a filter is about the initial states: a truth must hold in all of them, a number is that of the only
one, or the range over several.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device.arrays import namespace, on_host
from ..lang.properties import Filter
from ..lang.rendering import render
from ..lang.source import LanguageError
from .intervals import Floats, Mask, Numbers, Truth
from .result import Result, shown

if TYPE_CHECKING:
    from ..lang.expressions import Expression
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
        everywhere: Mask = namespace(evaluation.model.columns).ones(evaluation.model.n_states, dtype=np.bool_)
        return everywhere
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
    must, may = evaluation.everywhere(value.must), evaluation.everywhere(value.may)
    match formula.operator:
        case "forall":
            return _one_truth(must[states].all(), may[states].all())
        case "exists":
            return _one_truth(must[states].any(), may[states].any())
        case "count":
            return _one_number((must & states).sum(), (may & states).sum(), integral=True)
    state = _only(evaluation, formula, states) if formula.operator == "state" else int(states.argmax())
    return _one_truth(must[state], may[state])


def _of_numbers(evaluation: Evaluation, formula: Filter, value: Numbers, states: Mask) -> Truth | Numbers:
    lower, upper = evaluation.everywhere(value.lower), evaluation.everywhere(value.upper)
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
            return _one_number(_sum(low, False, -math.inf), _sum(high, False, math.inf)) / total
        case "range":
            bounds = low.min(), high.max()
        case _:
            state = _only(evaluation, formula, states) if formula.operator == "state" else int(states.argmax())
            bounds = lower[state], upper[state]
    return _one_number(*bounds, integral=value.integral)


def _one_truth(must: Any, may: Any) -> Truth:
    """A truth that is the same in all states; where it was found on a device, it comes from there now."""
    found: list[Any] = [np.bool_(bool(bound)) for bound in (must, may)]
    return Truth(*found)


def _one_number(lower: Any, upper: Any, integral: bool = False) -> Numbers:
    """A number that is the same in all states; where it was found on a device, it comes from there now."""
    found: list[Any] = [np.float64(float(bound)) for bound in (lower, upper)]
    return Numbers(found[0], found[1], integral)


def lists_states(formula: Expression) -> bool:
    """Whether an answer is the states that it lists, and no truth or number."""
    return isinstance(formula, Filter) and formula.operator in ("argmin", "argmax")


def listing(evaluation: Evaluation) -> list[str]:
    """Return the lines that ``print``, ``printall``, ``argmin`` and ``argmax`` show: one for each state.

    As in PRISM, ``print`` leaves out states where the value is zero or false.
    """
    lines = []
    for formula, states, value in evaluation.listings:
        bounds = (value.must, value.may) if isinstance(value, Truth) else (value.lower, value.upper)
        low, high = map(evaluation.everywhere, bounds)
        chosen = states & (high != 0) if formula.operator == "print" else states
        numbers = np.flatnonzero(chosen)
        listed = numbers[:MANY]
        for state, *found in zip(*map(on_host, (listed, low[listed], high[listed])), strict=True):
            lines.append(f"{evaluation.state_name(int(state))}  {_shown(*found)}")
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
    inside = lower[states]
    lowest = on_host(np.partition(inside, 1)[:2]) if len(inside) > 1 else (float(inside[0]), math.inf)
    others = np.where(lower == lowest[0], lowest[1], lowest[0])  # the lowest bound among the other states
    return Truth(may & (upper <= others), may)


def _sum(values: Floats, exact: bool, towards: float) -> float:
    """A sum rounded in one direction; ``fsum`` is off by at most half a unit in the last place."""
    if not namespace(values).isfinite(values).all():
        return float(values.sum())
    total = math.fsum(values.tolist())
    return total if exact else math.nextafter(total, towards)
