"""From an answer to its certificate: propose bounds, complete them, verify them; with longer numbers if need be."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..checking.quantity import Quantity
from ..checking.result import Result
from ..device.arrays import on_host
from ..lang.depth import DeepRecursion
from ..lang.program import Program
from ..lang.rendering import render
from ..lang.resolution import Question as Asked
from ..lang.source import GaltonError
from ..model.sparse import Model
from ..verifier.api import decided, verify_claim
from ..verifier.certificate import Bound, Certificate, Side
from ..verifier.conditions import RefusedError, check_bound
from ..verifier.numbers import Exact, Vector, compare, dyadic, outward
from ..verifier.question import Question, UncertifiableError, read_question
from ..verifier.steps import bounds_of_steps
from .completion import completed
from .long import LongProblem
from .long_run import LongRun
from .ranks import Graph

__all__ = ["UncertifiedError", "certified"]

DIGITS = tuple(40 << k for k in range(8))  # decimal digits that are tried, one after the other


class UncertifiedError(GaltonError):
    """An answer that could not be certified: perhaps it is wrong."""

    kind = "numeric"


def certified(result: Result, context: Program, model: Model, asked: Asked) -> Certificate:
    """The certificate of an answer, verified. The answer must have kept its bounds in all states."""
    with DeepRecursion(asked.source):
        return _certified(result, context, model.to_host(), asked)


def _certified(result: Result, context: Program, model: Model, asked: Asked) -> Certificate:
    expression = asked.prop.expression
    question = read_question(expression, context, model, asked.source)
    if result.value is None:
        raise UncertifiableError("the property is undecided: there is nothing to certify")
    if not result.proved:
        raise UncertifiableError(f"{result.method} gives no bounds that could be certified; leave --method away")
    holds = result.value if isinstance(result.value, bool) else None
    claim = None if holds is not None else _claim(result)
    bounds: dict[Side, Bound] = {}
    if question.kind == "steps":
        low, high = bounds_of_steps(question)
    else:
        search = _Search(question, result.quantity, holds, claim)
        bounds = {"lower": search.bound("lower"), "upper": search.bound("upper")}
        low, high = bounds["lower"].values, bounds["upper"].values
    certificate = Certificate(
        prop=render(expression),
        constants={name: value for name, value in context.constants.items() if math.isfinite(value)},
        type=model.type,
        states=model.n_states,
        choices=model.n_choices,
        transitions=model.n_transitions,
        lower=_least(low, model) if claim is None else claim[0],
        upper=_greatest(high, model) if claim is None else claim[1],
        holds=holds,
        bounds=bounds,
    )
    try:
        verify_claim(question, certificate)
    except RefusedError as error:
        raise UncertifiedError(f"the answer could not be certified: {error}") from None
    return certificate


def _claim(result: Result) -> tuple[Exact, Exact]:
    """What the answer says: its bounds, if they can be bounds at all."""
    lower, upper = result.lower, result.upper
    if lower is None or upper is None or not 0 <= lower <= upper:
        raise UncertifiedError(f"the answer could not be certified: its bounds are {lower} and {upper}")
    low, high = (dyadic(float(bound)) if math.isfinite(bound) else None for bound in (lower, upper))
    return low, high


def _least(values: Vector, model: Model) -> Exact:
    found = [values[state] for state in model.initial.tolist()]
    least = found[0]
    for value in found:
        least = value if compare(value, least) < 0 else least
    return least


def _greatest(values: Vector, model: Model) -> Exact:
    found = [values[state] for state in model.initial.tolist()]
    most = found[0]
    for value in found:
        most = value if compare(value, most) > 0 else most
    return most


class _Search:
    """Bounds for each side that the verifier accepts, and that say what the answer says."""

    def __init__(
        self, question: Question, quantity: Quantity | None, holds: bool | None, claim: tuple[Exact, Exact] | None
    ) -> None:
        self.question, self.quantity, self.holds, self.claim = question, quantity, holds, claim
        self.graph = Graph(question.rows, question.model.n_states)
        self._long_run = LongRun(question, self.graph)
        self._problem: LongProblem | None = None

    def bound(self, side: Side) -> Bound:
        """The first bounds that will do."""
        reason = "no bounds were found"
        for bound in self._candidates(side):
            if bound is None:
                continue
            before = reason
            try:
                check_bound(self.question, side, bound)
            except RefusedError as error:
                reason = str(error)
                continue
            if self._says_enough(side, bound.values):
                return bound
            reason = self._proved(side, bound.values)
            if reason == before:
                break  # more digits do not change what is proved
        raise UncertifiedError(f"the answer could not be certified: {reason}")

    def _says_enough(self, side: Side, values: Vector) -> bool:
        """Whether the bounds are as narrow as the answer's, or decide what it decides."""
        question = self.question
        if self.claim is not None:
            if side == "lower":
                return compare(_least(values, question.model), self.claim[0]) >= 0
            return compare(_greatest(values, question.model), self.claim[1]) <= 0
        assert question.comparison is not None
        deciding = "lower" if (question.comparison[0] in (">", ">=")) == self.holds else "upper"
        if side != deciding:
            return True
        nothing = Vector.of_doubles(np.full(len(values), 0.0 if side == "upper" else np.inf))
        pair = (values, nothing) if side == "lower" else (nothing, values)
        return decided(question, *pair) == self.holds

    def _proved(self, side: Side, values: Vector) -> str:
        pick = _least if side == "lower" else _greatest
        number = outward(pick(values, self.question.model), up=side == "upper")
        return f"the {side} bound that can be proved is {number!r}, which does not confirm it"

    def _candidates(self, side: Side) -> Iterator[Bound | None]:
        question = self.question
        doubles = None
        if self.quantity is not None:
            array = on_host(self.quantity.lower if side == "lower" else self.quantity.upper)
            array = np.broadcast_to(array, question.model.n_states).astype(np.float64) + 0.0
            doubles = None if np.isnan(array).any() or (array < 0).any() else Vector.of_doubles(array)
        if question.kind == "average":
            yield from self._long_run.bounds(side, doubles, DIGITS)
            return
        if doubles is not None:
            yield completed(question, self.graph, side, doubles)
        if self._problem is None:
            self._problem = LongProblem(question, self.graph)
        for digits in DIGITS:
            values = self._problem.bounds(side, digits)
            yield None if values is None else completed(question, self.graph, side, values)
