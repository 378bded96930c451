"""From a property to its exact answer."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ...explore.evaluate import evaluate_states
from ...lang.depth import DeepRecursion
from ...lang.expressions import Expression
from ...lang.program import Program
from ...lang.properties import Filter
from ...lang.resolution import Question
from ...model.sparse import Mask, Model
from ..answering import about_initial
from ..exploration import terminal
from ..result import Result
from .choices import refuse_without_answer
from .constants import ExactConstants
from .evaluation import ExactEvaluation, Values
from .expressions import is_whole
from .filters import listing, range_of
from .limits import Watchman, check_size
from .model import ExactModel, ExactNumbers, NumbersOfDoubles
from .numbers import Number, as_fraction, less, nearest
from .program_numbers import NumbersOfProgram, numbers_of

__all__ = ["check_exactly", "exact_values", "terminal_for_exact"]


def check_exactly(program: Program, model: Model, question: Question) -> Result:
    """Answer a property in rational numbers.

    ``program`` is that of the model, where it was built from one; the numbers are those of its text then. Otherwise
    they are the doubles of the model.
    """
    start = time.perf_counter()
    model = model.to_host()
    with DeepRecursion(question.source):
        evaluation = _evaluation(program, model, question, terminal([(program, question)]))
        found = evaluation.value(question.prop.expression, model.initial.tolist())
        return _result(evaluation, question, found, time.perf_counter() - start)


def exact_values(
    program: Program, model: Model, question: Question
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """The value of a property in all states of a model, all of which was explored, and twice again as its bounds."""
    with DeepRecursion(question.source):
        evaluation = _evaluation(program, model, question, None)
        found = evaluation.value(question.prop.expression, evaluation.everywhere)
        values = [found[state] for state in evaluation.everywhere]
    if found.kind == "bool":
        array: npt.NDArray[Any] = np.array(values, dtype=np.bool_)
    elif found.kind == "int":
        array = np.array([int(value) for value in values])
    else:
        array = np.empty(len(values), dtype=object)
        array[:] = [_fraction(value) for value in values]
    return array, array, array


def _evaluation(program: Program, model: Model, question: Question, end: Expression | None) -> ExactEvaluation:
    """What it takes to evaluate a property exactly, where nobody asks what follows states in which ``end`` holds."""
    refuse_without_answer(question, program, model.type)
    check_size(model.n_transitions)
    constants = ExactConstants(program, question.source)
    numbers: ExactNumbers
    if program.modules:
        numbers = numbers_of(program, model, constants)
        if end is None or terminal_for_exact(end, program) is not None:
            numbers.require(_needed(program, model, question, end))
        else:  # doubles may have left out what follows states that are no targets in exact numbers
            numbers.require(np.ones(model.n_states, dtype=np.bool_), lazily=False)
    else:
        numbers = NumbersOfDoubles(model)
    return ExactEvaluation(ExactModel(model, numbers), program, question.source, constants, Watchman())


def terminal_for_exact(end: Expression | None, program: Program) -> Expression | None:
    """A condition past which a model need not be explored, if doubles tell where it holds; None otherwise."""
    return end if end is not None and is_whole(end, program.constants, program.labels) else None


def _needed(program: Program, model: Model, question: Question, end: Expression | None) -> Mask:
    """The states whose transitions matter; those of the others may not have been explored."""
    if end is None:
        return np.ones(model.n_states, dtype=np.bool_)
    return ~evaluate_states(program, model, [end], question.source)[0]


def _result(evaluation: ExactEvaluation, question: Question, found: Values, seconds: float) -> Result:
    expression, model = question.prop.expression, evaluation.model
    values = [found[state] for state in model.initial.tolist()]
    about = about_initial(evaluation.graph)
    if found.alone and isinstance(expression, Filter):
        about, values = "the states of the filter", values[:1]
    warnings = [*model.warnings, *evaluation.warnings]
    if isinstance(evaluation.exact.numbers, NumbersOfProgram) and evaluation.exact.numbers.warning:
        warnings = [evaluation.exact.numbers.warning, *evaluation.warnings]
    common: dict[str, Any] = {
        "formula": question.prop.text,
        "about": about,
        "method": "exact arithmetic",
        "steps": tuple(evaluation.steps),
        "warnings": tuple(dict.fromkeys(warnings)),
        "listing": tuple(listing(evaluation)),
        "seconds": seconds,
    }
    if found.kind == "bool":
        return Result(value=all(values), **common)
    if isinstance(expression, Filter) and expression.operator == "range":
        low, high = range_of(evaluation, expression)
        several = True
    else:
        low, high, several = _least(values), _greatest(values), len(values) > 1
    if found.kind == "int" and not several:
        whole = int(values[0])
        return Result(value=whole, lower=whole, upper=whole, exact=Fraction(whole), **common)
    ends = _fraction(low), _fraction(high)
    value = (nearest(low), nearest(high)) if several else nearest(low)
    return Result(
        value=value, lower=_below(ends[0]), upper=_above(ends[1]), exact=ends if several else ends[0], **common
    )


def _least(values: list[Number]) -> Number:
    best = values[0]
    for value in values[1:]:
        best = value if less(value, best) else best
    return best


def _greatest(values: list[Number]) -> Number:
    best = values[0]
    for value in values[1:]:
        best = value if less(best, value) else best
    return best


def _fraction(value: Number) -> Fraction | float:
    return value if isinstance(value, float) else as_fraction(value)


def _below(value: Fraction | float) -> float:
    """The greatest double that is not above a number."""
    double = nearest(value)
    return math.nextafter(double, -math.inf) if double > value else double


def _above(value: Fraction | float) -> float:
    """The least double that is not below a number."""
    double = nearest(value)
    return math.nextafter(double, math.inf) if double < value else double
