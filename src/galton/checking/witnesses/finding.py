"""Counterexamples: the fewest paths that together show that a property is false.

The fewest that pass a bound are the likeliest ones, from the first on (Han, Katoen and Damman 2009). Their sum is
rounded down, so that it proves that the property is false. Where loops make the paths too many, a part of the states is
shown instead, whose paths alone pass the bound: those on the likeliest paths, about as few of them as do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...lang.depth import DeepRecursion
from ...lang.program import Program
from ...lang.properties import (
    BinaryPath,
    ExpectedTime,
    Given,
    PathQuantifier,
    Probability,
    Reward,
    SteadyState,
    UnaryPath,
)
from ...lang.resolution import Question, parts
from ...lang.source import GaltonError, UnsupportedError
from ...model.sparse import Model
from ...solve.settings import Settings
from .. import paths
from ..answering import check
from ..evaluation import Evaluation
from ..inspection import Terms, UsageError, interval_of
from ..result import Result
from ..strategies.strategy import Strategy
from .counterexample import Counterexample, Path, in_words
from .downward import Downward
from .evidence import Evidence, evidence_of
from .likeliest import cheapest_paths

__all__ = ["MOST_PATHS", "check_explained", "find_counterexample"]

MOST_PATHS = 1_000
MOST_STEPS = 100_000  # of all paths together
FINENESS = 100  # states of a subsystem are counted up to one in so many


def check_explained(question: Question, terms: Terms, settings: Settings) -> None:
    """Refuse properties that no paths are a counterexample to, before anything is built."""
    formula = question.prop.expression
    if settings.fair:
        raise UsageError("--fair and --counterexample do not go together: no table holds a fair strategy")
    if isinstance(formula, PathQuantifier):
        return
    if not isinstance(formula, Probability) or formula.comparison is None:
        message = "there are counterexamples to bounds on probabilities, such as P<=0.1 [ … ], and to A and E"
        hint = "give it a bound" if isinstance(formula, Probability) else None
        if isinstance(formula, (Reward, ExpectedTime, SteadyState)):
            message += ", not to averages, which no set of paths shows"
        raise UnsupportedError(message, terms.source, formula.span, hint)
    if isinstance(formula.path, Given):
        message = "counterexamples to bounds on conditional probabilities are not supported"
        raise UnsupportedError(message, terms.source, formula.path.span)
    for part in parts(formula.path):
        if isinstance(part, (UnaryPath, BinaryPath)) and not paths.is_plain(part.bound):
            message = "counterexamples to paths bounded by a reward are not supported"
            raise UnsupportedError(message, terms.source, part.span)
    path = paths.shape(formula.path)
    if isinstance(path, paths.Linear) and terms.nature.has_choices:
        message = "for MDPs, counterexamples to bounds on formulas with more than one temporal operator (LTL) are not"
        raise UnsupportedError(f"{message} supported", terms.source, formula.path.span, "there are some to A and E")
    if isinstance(path, paths.Until):
        low, high, timed = interval_of(path, terms)
        if timed:
            message = "counterexamples to bounds on time are not supported: a path has no single time"
            raise UnsupportedError(message, terms.source, formula.path.span)
        if low and high is None:
            message = "counterexamples to bounds without an upper end are not supported"
            raise UnsupportedError(message, terms.source, formula.path.span)


def find_counterexample(
    program: Program,
    model: Model,
    question: Question,
    settings: Settings | None = None,
    *,
    result: Result | None = None,
    most: int = MOST_PATHS,
) -> Counterexample | None:
    """Find what shows that a property is false; None where it is true. For ``E`` it is the other way round.

    ``result`` is the answer where it is known, with its strategy if the model is an MDP. ``most`` is the number of
    paths up to which they are listed.
    """
    settings = settings or Settings()
    check_explained(question, Terms(model.nature, program.constants, question.source), settings)
    formula = question.prop.expression
    assert isinstance(formula, (Probability, PathQuantifier))
    model = model.to_host()
    if result is None:
        follow = model.has_choices and isinstance(formula, Probability)
        result = check(program, model, question, settings, strategy=follow)
    if result.value is None:
        raise GaltonError("whether the property is true is not decided, so there is no counterexample to it")
    evaluation = Evaluation(model, program, question.source, replace(settings, method=None, strategy=False, watch=None))
    with DeepRecursion(question.source):
        if isinstance(formula, PathQuantifier):
            from .single import find_path

            found = find_path(evaluation, formula, question.prop.text, holds=result.value is True)
        else:
            found = None if result.value else _passing(evaluation, formula, question.prop.text, result, most)
    return None if found is None else replace(found, constants=program.constants)


def _passing(evaluation: Evaluation, formula: Probability, text: str, result: Result, most: int) -> Counterexample:
    """The likeliest paths that pass a bound; where they are too many, states."""
    bound = paths.threshold(formula, evaluation.program.constants, evaluation.source)
    assert formula.comparison is not None
    assert bound is not None
    operator = formula.comparison.operator
    above = operator in ("<", "<=")  # the probability of the formula is too large; otherwise that of its negation
    start = _start(evaluation, formula)
    strategy = result.strategy
    assert strategy is None or isinstance(strategy, Strategy)  # several objectives have no counterexamples
    evidence = evidence_of(evaluation, paths.shape(formula.path), strategy, start, holds=above)
    listed = Counterexample(
        formula=text,
        model=evaluation.model,
        kind="paths",
        paths=(),
        shows=in_words(formula.path, holds=above),
        least=Fraction(bound) if above else 1 - Fraction(bound),
        strictly=operator in ("<=", ">="),
        strategy=strategy,
    )
    total, found, length = Downward(0), list[Path](), 0
    for steps in cheapest_paths(evidence.search, evidence.place):
        path, worth = evidence.path(start, steps)
        found.append(path)
        total, length = total + worth, length + len(path)
        if listed.passes(total.fraction) or len(found) >= most or length > MOST_STEPS:
            break
    complete = listed.passes(total.fraction)
    listed = replace(listed, paths=tuple(found), probability=float(total), complete=complete)
    return listed if complete else _subsystem(listed, evidence)


def _start(evaluation: Evaluation, formula: Probability) -> int:
    """The initial state that a property is false in; the first of several."""
    initial = evaluation.model.initial
    if len(initial) == 1:
        return int(initial[0])
    may = np.broadcast_to(evaluation.truth(formula).may, evaluation.model.n_states)[initial]
    return int(initial[0 if may.all() else np.flatnonzero(~may)[0]])


def _subsystem(listed: Counterexample, evidence: Evidence) -> Counterexample:
    """About the fewest states, in the order of the likeliest path through each, whose paths pass the bound."""
    many = f"the first {len(listed):,} paths are not enough"
    if evidence.alone is None:
        return replace(listed, note=f"{many}, and for this formula states alone do not show it")
    alone, costs = evidence.alone, evidence.search.through(evidence.place)
    order = np.argsort(costs, kind="stable")[: int(np.isfinite(costs).sum())]
    if evidence.home is not None:
        order = evidence.home[order]

    def worth(count: int) -> float:
        states = np.zeros(listed.model.n_states, dtype=np.bool_)
        states[order[:count]] = True
        return alone(states)

    def passes(count: int) -> bool:
        return listed.passes(Fraction(worth(count)))

    if not passes(len(order)):
        why = "the probability is too close to the bound for states to show it"
        return replace(listed, note=f"{many}; {why}")
    low, high = 0, len(order)  # so many do not pass, so many do
    for count in _doubling(len(order)):
        if passes(count):
            high = count
            break
        low = count
    while high - low > 1 + high // FINENESS:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    states = np.sort(order[:high]).astype(np.int32)
    return replace(listed, kind="subsystem", states=states, probability=worth(high), complete=True, note=many)


def _doubling(most: int) -> Iterator[int]:
    count = 1
    while count < most:
        yield count
        count *= 2
