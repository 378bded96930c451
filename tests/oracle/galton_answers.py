"""What Galton says, through its public interface, and what makes such an answer a good one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from exact import Number
from queries import Probability, Query
from random_models import RandomModel

import galton

WIDTH = Fraction(2, 10**6)  # twice the default eps, relative to the value
ROUNDING = Fraction(1, 10**9)  # what 1/3 in a double may do to a result; see `RandomModel.strict`
DIGITS = Fraction(1, 10**100)  # where the exponential of a matrix stops


@dataclass(frozen=True)
class Answer:
    """Bounds on a value."""

    lower: Number
    upper: Number

    def contains(self, value: Number, relative: Fraction, absolute: Fraction = DIGITS) -> bool:
        """Whether this is the true value, or as near to it as allowed; an infinite value has to be exact."""
        if math.isinf(value) or math.isinf(self.upper) or math.isinf(self.lower):
            return self.lower == self.upper == value
        room = abs(value) * relative + absolute
        return self.lower - room <= value <= self.upper + room

    def mistake(self, value: Number, slack: Fraction, floor: Fraction = DIGITS) -> str | None:
        """In words, what is wrong with the bounds when this is the true value; None where nothing is."""
        if not self.contains(value, slack):
            return f"{show(value)} is not in [{show(self.lower)}, {show(self.upper)}]"
        if not math.isinf(value) and self.upper - self.lower > WIDTH * max(abs(self.lower), abs(self.upper)) + floor:
            return f"[{show(self.lower)}, {show(self.upper)}] is wide"
        return None


def floor(query: Query) -> Fraction:
    """The width that is always allowed: none, but for G, W and R that begin late.

    They are 1 minus an until, and have its absolute width.
    """
    late = isinstance(query, Probability) and query.path.bound and not query.path.bound.relation.startswith("<")
    return WIDTH if late and query.path.until[0] else DIGITS


def show(value: Number) -> str:
    """All digits that could matter."""
    return f"{float(value):.17g}"


def fraction(value: object) -> Number:
    """A bound as the fraction it is."""
    assert isinstance(value, int | float), value
    return value if isinstance(value, float) and math.isinf(value) else Fraction(value)


def ask(subject: galton.Program | galton.Model, text: str) -> Answer:
    """The bounds of the answer to a property that has a number for an answer."""
    result = galton.check(subject, text)
    assert result.proved
    assert result.lower <= result.value <= result.upper
    return Answer(fraction(result.lower), fraction(result.upper))


def decided(subject: galton.Program | galton.Model, text: str) -> galton.Result | None:
    """The answer, or None where an operator with a bound is too near to it to tell."""
    try:
        result = galton.check(subject, text)
    except galton.GaltonError as error:
        if error.kind == "numeric":
            return None
        raise
    return None if result.value is None else result


def in_state(model: RandomModel, state: int, query: Query) -> str:
    """The same property, asked in one of the reachable states."""
    place = "&".join(f"{name}={value}" for name, value in model.values(model.kept[state]).items())
    return f"filter(state, {query.text()}, {place})"
