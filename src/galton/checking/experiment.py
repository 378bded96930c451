"""Experiments: constants that run through ranges or lists of values, and all their combinations.

A range is a text, ``low:high``, in steps of 1, or ``low:step:high``. Its numbers are exact, as they were written:
``0.1:0.1:0.3`` ends with 0.3, not beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import product

from ..lang.evaluation import EvaluationError, evaluate
from ..lang.expression_parser import parse_expression
from ..lang.expressions import Value
from ..lang.rationals import quotient, rational
from ..lang.source import GaltonError, LanguageError, Source, Span
from ..lang.types import Scope

MOST = 1_000_000  # values of one range; more is a slip of the keyboard


Given = Value | str | Iterable[Value | str]  # the value of a constant, a range, or many values
Valuation = dict[str, Value | str]


def ranges(given: Mapping[str, Given]) -> dict[str, list[Value | str]]:
    """The constants that are given as ranges or lists, with their values.

    >>> ranges({"N": "2:4", "K": 7, "p": (0.5, "1/3"), "q": "1/2"})
    {'N': [2, 3, 4], 'p': [0.5, '1/3']}
    """
    found: dict[str, list[Value | str]] = {}
    for name, value in given.items():
        if isinstance(value, str):
            if is_range(value):
                found[name] = [*values(name, value)]
        elif isinstance(value, Iterable):
            found[name] = [*value]
            if not found[name]:
                raise GaltonError(f"the constant '{name}' is given no value: what it runs through is empty")
    return found


def is_range(text: str) -> bool:
    """Whether a constant's text is a range; ``a ? b : c`` is none."""
    return ":" in text and "?" not in text


@lru_cache(maxsize=8)  # who counts the rows asks for them once more
def values(name: str, text: str, place: str | None = None) -> tuple[Value, ...]:
    """Return the values of a range, exactly as they were written; ``place`` is where they were, for errors.

    >>> values("x", "0.1:0.1:0.3"), values("N", "2:4")
    ((0.1, 0.2, 0.3), (2, 3, 4))
    """
    source = Source(place or f"constant {name}", text)
    pieces = text.split(":")
    whole = Span(0, len(text))
    if len(pieces) not in (2, 3) or not all(piece.strip() for piece in pieces):
        raise LanguageError("a range is low:high or low:step:high", source, whole)
    numbers = [_number(piece, source.name) for piece in pieces]
    low, high = numbers[0], numbers[-1]
    step = numbers[1] if len(numbers) == 3 else Fraction(1)
    if step <= 0:
        raise LanguageError(f"the step of a range must be positive, and this is {float(step):g}", source, whole)
    if low > high:
        raise LanguageError(f"the range is empty: {float(low):g} is above {float(high):g}", source, whole)
    count = math.floor((high - low) / step) + 1
    if count > MOST:
        many = f"{count:,}" if count < 10**15 else f"{Decimal(count):.3g}"
        raise LanguageError(f"the range has {many} values; at most {MOST:,} are supported", source, whole)
    integral = all(number.denominator == 1 and "." not in piece for number, piece in zip(numbers, pieces, strict=True))
    unit = math.lcm(low.denominator, step.denominator)
    first, each = int(low * unit), int(step * unit)
    numerators = range(first, first + count * each, each)
    return tuple(numerators) if integral else tuple(quotient(numerator, unit) for numerator in numerators)


def _number(text: str, place: str) -> Fraction:
    """A number of a range; an expression such as ``1/3`` will do."""
    source = Source(place, text.strip())
    expression = parse_expression(source)
    Scope(source, {}).type_of(expression)
    try:
        value = evaluate(expression, {})
    except EvaluationError as error:
        raise error.at(source) from None
    exact = None if isinstance(value, bool) else rational(value)
    if exact is None:
        raise GaltonError(f"{place}: a range needs numbers, not {text.strip()}")
    return exact


def valuations(given: Mapping[str, Given]) -> Iterator[Valuation]:
    """Go through all combinations of the values of ranges; the constant given first changes last."""
    spread = ranges(given)
    for combination in product(*spread.values()):
        yield {**given, **dict(zip(spread, combination, strict=True))}  # type: ignore[dict-item]
