"""Which valuations can be initial at all.

``init … endinit`` is a condition on states, and the explorer tries every valuation. Conjuncts about a single variable,
such as ``x=0``, shrink its range first, so that fixing variables costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..lang import EvaluationError, LanguageError, evaluate
from ..lang.evaluation import evaluate_state, fold
from ..lang.expressions import Binary, Expression, Name, Value, children
from ..lang.program import Program

LARGEST_RANGE = 1 << 16  # values of one variable that are tried one by one
LARGEST_SPACE = 1 << 36  # valuations that are tried at all: some minutes


def initial_ranges(program: Program) -> tuple[tuple[int, int], ...]:
    """For each variable the least and greatest value that its own conjuncts allow; empty without init … endinit."""
    if program.initial is None:
        return ()
    ranges = {v.name: (v.low, v.high) for v in program.variables}
    booleans = {v.name for v in program.variables if v.type == "bool"}
    for conjunct in _conjuncts(program.initial):
        names = {name for name in _names(conjunct) if name in ranges}
        if len(names) != 1:
            continue
        (name,) = names
        low, high = ranges[name]
        if (fixed := _fixed(conjunct, name, program.constants)) is not None:
            ranges[name] = (min(max(fixed, low), high),) * 2
            continue
        if high - low >= LARGEST_RANGE:
            continue
        values = range(low, high + 1)
        condition = fold(conjunct, program.constants)
        try:
            allowed = [
                value
                for value in values
                if evaluate_state(condition, {name: bool(value) if name in booleans else value})
            ]
        except EvaluationError:  # it may never be reached: the explorer evaluates the whole, from left to right
            continue
        ranges[name] = (allowed[0], allowed[-1]) if allowed else (low, low)  # none: the condition fails everywhere
    space = math.prod(high - low + 1 for low, high in ranges.values())
    if space > LARGEST_SPACE:
        raise LanguageError(
            f"init … endinit leaves {space:.2g} valuations to try",
            program.source,
            program.initial.span,
            "give more variables a value there, or smaller ranges",
        )
    return tuple(ranges.values())


def _fixed(conjunct: Expression, name: str, constants: Mapping[str, Value]) -> int | None:
    """The value that ``name = constant`` gives; a range may be too large to try all its values."""
    if not isinstance(conjunct, Binary) or conjunct.operator != "=" or not isinstance(conjunct.left, Name):
        return None
    if conjunct.left.name != name or name in _names(conjunct.right):
        return None
    try:
        value = evaluate(conjunct.right, constants)
    except EvaluationError:
        return None
    return int(value) if value == int(value) else None


def _conjuncts(expression: Expression) -> list[Expression]:
    if isinstance(expression, Binary) and expression.operator == "&":
        return [*_conjuncts(expression.left), *_conjuncts(expression.right)]
    return [expression]


def _names(expression: Expression) -> set[str]:
    if isinstance(expression, Name):
        return {expression.name}
    return {name for child in children(expression) for name in _names(child)}
