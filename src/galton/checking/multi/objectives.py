"""What ``multi(…)`` asks: its objectives, all turned so that more is better."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from ...lang.expressions import Expression
from ...lang.properties import (
    Cumulative,
    ExpectedTime,
    Instantaneous,
    LongRun,
    Multi,
    Probability,
    Reward,
    SteadyState,
)
from ...lang.rationals import rational
from ...lang.rendering import render
from ...lang.source import LanguageError, Source, UnsupportedError
from .. import paths
from ..inspection import Terms, rewarded_path, step_count

__all__ = ["MOST_ASKED", "MOST_PROBABILITIES", "MOST_STEPS", "Objective", "objectives_of"]

MOST_PROBABILITIES = 8  # every set of them may be what a run ends with
MOST_STEPS = 1000  # of C<=k: each makes a copy of the model
MOST_ASKED = 6  # numbers of a Pareto set: facets multiply with each


@dataclass(frozen=True)
class Objective:
    """One objective.

    Internally all numbers grow with what is wanted: a probability to be minimised is that of the negated path, and
    other numbers to be minimised have their sign changed.

    Attributes
    ----------
    maximise
        Whether more of what the formula says is better.
    least
        What the internal number must be at least; None where its optimum is asked for.
    steps
        How many steps a reward counts for; None for all.
    until
        The co-safe path formula until which a reward counts; None for all of the run.
    text
        The objective as it was written.
    """

    formula: Probability | Reward | SteadyState
    maximise: bool
    least: Fraction | None
    steps: int | None = None
    until: Expression | None = None
    text: str = ""

    @property
    def is_probability(self) -> bool:
        return isinstance(self.formula, Probability)

    @property
    def is_long_run(self) -> bool:
        """Whether this is an average over the long run."""
        formula = self.formula
        return isinstance(formula, SteadyState) or (
            isinstance(formula, Reward) and isinstance(formula.objective, LongRun)
        )

    @property
    def is_cost(self) -> bool:
        """Whether this is a sum of rewards to be minimised."""
        return not self.is_probability and not self.is_long_run and not self.maximise

    @property
    def is_share(self) -> bool:
        """Whether the number is at most 1: a probability, or a share of the time."""
        return isinstance(self.formula, (Probability, SteadyState))

    @property
    def is_trivial(self) -> bool:
        """Whether every strategy meets the bound: ``P>=0``, ``P<=1``, ``R>=0``."""
        if self.least is None or (self.until is not None and not self.maximise):
            return False
        if self.maximise or self.is_probability:
            return self.least <= 0
        return self.is_share and self.least <= -1

    def turned(self, number: Fraction) -> Fraction:
        """Return the number that the formula means from the internal one, or the other way round."""
        if self.maximise:
            return number
        return 1 - number if self.is_probability else -number


def objectives_of(formula: Multi, terms: Terms) -> tuple[Objective, ...]:
    """Return the objectives of ``multi(…)``; an error for those that make no sense or are not supported."""
    if not terms.nature.has_choices:
        message = "multi(…) is about the strategies of an MDP, and a chain has none"
        hint = "ask for its objectives one by one"
        raise LanguageError(message, terms.source, formula.span, hint)
    found = tuple(replace(_objective(part, terms), text=_written(part, terms.source)) for part in formula.objectives)
    if sum(objective.is_probability for objective in found) > MOST_PROBABILITIES:
        message = f"more than {MOST_PROBABILITIES} probabilities in one multi(…) are not supported"
        raise UnsupportedError(message, terms.source, formula.span)
    asked = [objective for objective in found if objective.least is None]
    if len(asked) > MOST_ASKED:
        message = f"Pareto sets of more than {MOST_ASKED} objectives are not supported"
        hint = f"give all but {MOST_ASKED} of them bounds, one by one, instead of =?"
        raise UnsupportedError(message, terms.source, formula.span, hint)
    if len(asked) > 1 and len(found) > len(asked):
        message = "a Pareto set under further bounds is not supported"
        raise UnsupportedError(message, terms.source, formula.span, "leave the bounds away, or all =? but one")
    return found


def _written(part: Expression, source: Source) -> str:
    """An objective as it was written: with the names of formulas, which have been expanded since."""
    text = " ".join(source.text[part.span.start : part.span.end].split())
    return text if text[:1] in ("P", "R", "S", "L") and text.endswith("]") else render(part)


def _objective(part: Expression, terms: Terms) -> Objective:
    match part:
        case Probability():
            maximise, least = _direction(part, terms)
            if not maximise and least is not None:
                least = 1 - least
            return Objective(part, maximise, least)
        case Reward(Instantaneous()):
            message = "rewards at a moment, I=k, are not supported in multi(…)"
            hint = "R of C, C<=k, F and S is"
            raise UnsupportedError(message, terms.source, part.span, hint)
        case Reward(objective) | SteadyState(objective):
            maximise, least = _direction(part, terms)
            if not maximise and least is not None:
                least = -least
            if isinstance(part, SteadyState) or isinstance(objective, LongRun):
                return Objective(part, maximise, least)
            if not isinstance(objective, Cumulative):
                rewarded_path(objective, terms)
                return Objective(part, maximise, least, until=objective)
            steps = None if objective.bound is None else step_count(objective, terms)
            if steps is not None and steps > MOST_STEPS:
                message = f"rewards of more than {MOST_STEPS:,} steps are not supported in multi(…)"
                raise UnsupportedError(message, terms.source, objective.span)
            return Objective(part, maximise, least, steps)
        case ExpectedTime():
            message = f"{render(part)} is not supported in multi(…)"
            hint = "ask for R of a reward structure that pays 1 in each step"
            raise UnsupportedError(message, terms.source, part.span, hint)
    message = "the objectives of multi(…) are P, R and S, with a bound or =?"
    raise LanguageError(message, terms.source, part.span)


def _direction(part: Probability | Reward | SteadyState, terms: Terms) -> tuple[bool, Fraction | None]:
    """Whether more is better, and the bound as it is written."""
    letter = "P" if isinstance(part, Probability) else "R" if isinstance(part, Reward) else "S"
    if part.comparison is None:
        if part.optimum is None:
            hint = f"ask for {letter}min=? or {letter}max=?"
            raise LanguageError(f"{letter}=? does not say what is better", terms.source, part.span, hint)
        return part.optimum == "max", None
    operator = part.comparison.operator
    if part.optimum is not None:
        message = f"a bound in multi(…) is about one strategy, so there is no {letter}{part.optimum}{operator}"
        raise LanguageError(message, terms.source, part.span, f"write {letter}{operator}…")
    if operator in ("<", ">"):
        message = "bounds in multi(…) cannot be strict"
        raise LanguageError(message, terms.source, part.span, f"write {letter}{operator}=…")
    paths.threshold(part, terms.constants, terms.source)  # which complains about what no bound can be
    bound = paths.constant(part.comparison.bound, terms.constants, terms.source)
    exact = rational(bound)
    if exact is None:
        raise LanguageError(f"this bound is {bound:g}, and has to be finite", terms.source, part.comparison.bound.span)
    # The numbers of a model are rounded to doubles. A bound that is no double is met by what it says, and by all that
    # rounds to the double next to it.
    double = Fraction(float(bound))
    half = Fraction(math.ulp(float(bound))) / 2 if double != exact else Fraction(0)
    return operator == ">=", min(exact, double - half) if operator == ">=" else max(exact, double + half)
