"""From a property to its answer: evaluate, see whether the bounds say enough, and ask again more precisely if not."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..device.arrays import on_host
from ..lang.depth import DeepRecursion
from ..lang.expressions import Expression
from ..lang.program import Program
from ..lang.properties import ExpectedTime, Filter, Multi, Probability, Quantile, Reward, SteadyState
from ..lang.rendering import render
from ..lang.resolution import Question
from ..lang.source import GaltonError
from ..lang.wording import worded
from ..model.sparse import Int32s, Model
from ..solve.settings import FINEST, Settings
from .behind import no_number, number_behind
from .evaluation import Evaluation, UndecidedError
from .filters import listing
from .inspection import check_choices, kept_besides, makes_steps
from .intervals import Numbers, Truth
from .result import Number, Result, Solved

if TYPE_CHECKING:
    from .automaton_reading import Reading
    from .strategies.strategy import Strategy

LONG = 80  # characters of a state that is named in passing
AGAIN = 1e3  # how much narrower to ask when bounds do not decide


def check(
    program: Program,
    model: Model,
    question: Question,
    settings: Settings | None = None,
    *,
    strategy: bool = False,
    certificate: bool = False,
    reading: Reading | None = None,
) -> Result:
    """Check a property that was resolved against a program, on the model built from that program.

    ``reading`` is the automaton that was explored with the model, if there was one. The strategy that attains the value
    of an MDP is only kept where it is asked for, and so are the bounds in all states, which a ``certificate`` is made
    from (:func:`galton.certify.certified`).
    """
    settings = settings or Settings()
    settings.check_eps()
    if model.is_shared:
        from .ranks.answering import refuse_on_ranks

        refuse_on_ranks(question, settings, strategy=strategy, certificate=certificate)
    devices = max(len(model.placement.devices), 1)
    if settings.exact:
        from .exact import check_exactly, refuse_beside_exact

        refuse_beside_exact(settings, strategy=strategy, certificate=certificate)
        return replace(check_exactly(program, model, question), name=question.prop.name)
    beside = kept_besides(strategy=strategy, certificate=certificate)
    check_choices(question, program, settings, type=model.type, devices=devices, beside=beside)

    def check(model: Model, settings: Settings) -> Result:
        if isinstance(question.prop.expression, Multi):
            from .multi import answer

            with DeepRecursion(question.source):
                return answer(program, model, question, question.prop.expression, settings, strategy=strategy)
        if isinstance(question.prop.expression, Quantile):
            from .quantiles import answer_quantile

            with DeepRecursion(question.source):
                return answer_quantile(program, model, question, question.prop.expression, settings, strategy=strategy)
        found = _check(program, model, question, settings, strategy, reading)
        return found if certificate else replace(found, quantity=None)

    if model.is_shared:
        from .ranks.answering import guarded

        return replace(guarded(model, lambda: check(model, settings)), name=question.prop.name)
    if not model.on_device:
        found = check(model, replace(settings, stream=settings.stream or model.placement.streams))
        return replace(found, placement=model.placement, name=question.prop.name)
    from .on_device import checked

    return replace(checked(check, model, settings, strategy=strategy), name=question.prop.name)


def _check(
    program: Program, model: Model, question: Question, settings: Settings, strategy: bool, reading: Reading | None
) -> Result:
    start = time.perf_counter()
    expression = question.prop.expression
    wanted = settings
    result: Result | None = None
    answered: Evaluation | None = None  # what the result is from
    undecided: UndecidedError | None = None
    # Steps in single precision round more than any method makes up for: to ask for more would give the same again.
    rounded = settings.single and model.on_device and makes_steps(question, program, model.type)
    final = settings.by_hand or rounded
    with DeepRecursion(question.source):
        while True:
            evaluation = _evaluation_of(model)(model, program, question.source, wanted, reading=reading)
            if strategy:
                evaluation.strategy_of = _outermost(expression)
            try:
                value = evaluation.value(expression)
            except GaltonError as error:
                if result is not None and error.kind in ("numeric", "limit"):
                    break  # the last answer was right, only not narrow enough
                if undecided is not None and error.kind in ("numeric", "limit"):
                    raise undecided from None  # no method is precise enough to tell
                if not isinstance(error, UndecidedError) or wanted.eps <= FINEST or final:
                    raise
                value, undecided = None, error
            if value is not None:
                found = _result(evaluation, expression, value, question.prop.text)
                if result is not None and _width(found) > _width(result):
                    break  # asking for more gave less
                result, answered = found, evaluation
            missing = AGAIN if result is None else _missing(result, settings)
            if missing <= 1 or wanted.eps <= FINEST or final:
                break
            wanted = wanted.tighter(min(missing, wanted.eps / FINEST))
        assert result is not None
        if strategy and answered is not None:
            result = replace(result, strategy=_strategy(answered, expression))
    if note := _note(result, settings, rounded):
        result = replace(result, warnings=(*result.warnings, note))
    return replace(result, seconds=time.perf_counter() - start)


def _evaluation_of(model: Model) -> type[Evaluation]:
    """What evaluates formulas over a model, or over the part of one that this rank has."""
    if not model.is_shared:
        return Evaluation
    from .ranks.evaluation import RankEvaluation

    return RankEvaluation


def _note(result: Result, settings: Settings, rounded: bool) -> str:
    """What a person should know about bounds that do not say what was asked; empty where they do."""
    if _missing(result, settings) <= 1:
        return ""
    if result.value is None:
        return worded("single precision rounds too much to tell; leave --single away") if rounded else ""
    apart = (result.upper or 0) - (result.lower or 0)
    why = "no method at hand comes closer"
    if rounded:
        why = worded(f"single precision rounds that much in {result.iterations:,} steps: leave --single away")
    return f"the bounds are {apart:.2g} apart, which is more than eps asks for; {why}"


def _width(result: Result) -> float:
    """Return how far the bounds are apart; 0 where there are none."""
    return 0.0 if result.lower is None or result.upper is None else float(result.upper - result.lower)


def _missing(result: Result, settings: Settings) -> float:
    """Return how many times narrower the bounds must be to say what was asked; 1 where they say it."""
    if result.value is None:
        return AGAIN
    if result.lower is None or result.upper is None or not result.proved or isinstance(result.value, tuple):
        return 1.0
    if not np.isfinite(result.lower) or not np.isfinite(result.upper):
        return 1.0
    if settings.tolerance.accepts(result.lower, result.upper):
        return 1.0
    return max(2 * settings.tolerance.excess(result.lower, result.upper), 10.0)


def _result(evaluation: Evaluation, expression: Expression, value: Truth | Numbers, text: str) -> Result:
    about, states = _about(evaluation, expression, value)
    steps = evaluation.steps
    methods = dict.fromkeys(step.quantity.method for step in steps)
    found: bool | Number | tuple[Number, Number] | None
    lower: Number | None = None
    upper: Number | None = None
    behind: Result | None = None
    if isinstance(value, Truth):
        must, may = evaluation.at(value.must, states), evaluation.at(value.may, states)
        found = True if must.all() else False if not may.all() else None
        behind = number_behind(evaluation, expression, states)
    else:
        low, high = evaluation.at(value.lower, states), evaluation.at(value.upper, states)
        lower, upper = _number(low.min(), value.integral), _number(high.max(), value.integral)
        several = len(low) > 1 or (states is evaluation.model.initial and evaluation.model.n_initial > 1)
        is_range = isinstance(expression, Filter) and expression.operator == "range"
        found = single_number(low, high, value.integral, is_range, several=several)
        if isinstance(found, float) and math.isnan(found):
            raise no_number(evaluation, expression, states)
    return Result(
        formula=text,
        value=found,
        lower=lower,
        upper=upper,
        about=about,
        method=", ".join(methods) or "evaluation",
        steps=tuple(Solved(step.formula, step.quantity.method, step.quantity.work) for step in steps),
        proved=all(step.quantity.proved for step in steps),
        warnings=tuple(dict.fromkeys([*evaluation.model.warnings, *evaluation.warnings])),
        listing=tuple(listing(evaluation)),
        quantity=steps[-1].quantity if steps else None,
        behind=behind,
    )


def _outermost(expression: Expression) -> Expression:
    """Return the property inside all filters."""
    while isinstance(expression, Filter):
        expression = expression.operand
    return expression


def _about(evaluation: Evaluation, expression: Expression, value: Truth | Numbers) -> tuple[str, Int32s]:
    """Which states the answer is about, in words, and the numbers of those to look at."""
    model = evaluation.model
    if isinstance(expression, Filter) and np.ndim(value.must if isinstance(value, Truth) else value.lower) == 0:
        return "the states of the filter", model.initial[:1]
    return about_initial(evaluation), model.initial


def about_initial(evaluation: Evaluation) -> str:
    """The initial states in words."""
    model = evaluation.model
    if (many := model.n_initial) > 1:
        return f"{many:,} initial states"
    name = evaluation.first_state_name()
    return f"the initial {name if len(name) <= LONG and name != 'state ()' else 'state'}"


def single_number(
    low: np.ndarray, high: np.ndarray, integral: bool = False, is_range: bool = False, *, several: bool | None = None
) -> Number | tuple[Number, Number] | None:
    """One number, or the range over several states; one number may stand for several states that have the same."""
    if integral and (low != high).any():
        return None
    with np.errstate(invalid="ignore"):
        middle = np.where(low == high, low, low + (high - low) / 2)
    if is_range:
        return _number(low.min(), integral), _number(high.max(), integral)
    smallest, largest = _number(middle.min(), integral), _number(middle.max(), integral)
    if np.isnan(middle).any():
        return float("nan")
    return (smallest, largest) if (len(middle) > 1 if several is None else several) else smallest


def _number(value: float, integral: bool) -> Number:
    return int(value) if integral and np.isfinite(value) else float(value)


def _strategy(evaluation: Evaluation, expression: Expression) -> Strategy | None:
    """Return the strategy of the outermost operator; None for a chain, and for arithmetic on top of operators.

    A strategy that does not attain the answer is an error.
    """
    formula, model = _outermost(expression), evaluation.model
    if not model.has_choices or not isinstance(formula, (Probability, Reward, ExpectedTime, SteadyState)):
        return None
    from .strategies.strategy import Strategy
    from .strategies.strategy_value import require_attained

    text = render(formula)
    answer = next(step.quantity for step in reversed(evaluation.steps) if step.formula == text)
    choices = answer.choices
    if choices is None or not len(choices):  # what is settled at once leaves nothing to decide
        choices = np.full(model.n_states, -1, dtype=np.int32)
    memory = None if evaluation.reading is None else evaluation.reading.reader
    found = Strategy(model, on_host(choices), memory)
    require_attained(found, formula, evaluation, answer)
    return found
