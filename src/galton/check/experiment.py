"""Experiments: constants that run through ranges, ``N=2:2:20``, and all their combinations.

A range is ``low:high``, in steps of 1, or ``low:step:high``. Its numbers are computed in decimal, as they were written:
``0.1:0.1:0.3`` ends with 0.3, not beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import product

from ..lang.evaluation import EvaluationError, evaluate
from ..lang.expression_parser import parse_expression
from ..lang.expressions import Value
from ..lang.source import GaltonError, LanguageError, Source, Span
from ..lang.types import Scope

MOST = 1_000_000  # values of one range; more is a slip of the keyboard

LEAST, GREATEST = Decimal("1e-100"), Decimal("1e100")  # of the numbers of a range; those beyond are slips as well

Valuation = dict[str, Value | str]


def ranges(given: Mapping[str, str]) -> dict[str, list[Value]]:
    """The constants that are given as ranges, with their values."""
    return {name: values(name, text) for name, text in given.items() if is_range(text)}


def is_range(text: str) -> bool:
    """Whether a constant's text is a range; ``a ? b : c`` is none."""
    return ":" in text and "?" not in text


def values(name: str, text: str) -> list[Value]:
    """The values of a range.

    >>> values("x", "0.1:0.1:0.3"), values("N", "2:4")
    ([0.1, 0.2, 0.3], [2, 3, 4])
    """
    source = Source(f"constant {name}", text)
    pieces = text.split(":")
    whole = Span(0, len(text))
    if len(pieces) not in (2, 3) or not all(piece.strip() for piece in pieces):
        raise LanguageError("a range is low:high or low:step:high", source, whole)
    numbers = [_number(piece, name) for piece in pieces]
    low, high = numbers[0], numbers[-1]
    step = numbers[1] if len(numbers) == 3 else Decimal(1)
    if step <= 0:
        raise LanguageError(f"the step of a range must be positive, and this is {step}", source, whole)
    if low > high:
        raise LanguageError(f"the range is empty: {low} is above {high}", source, whole)
    intervals = (high - low) / step + Decimal("1e-9")
    if intervals >= MOST:
        count = math.floor(intervals) + 1
        raise LanguageError(f"the range has {float(count):,.15g} values; at most {MOST:,} are supported", source, whole)
    count = int(intervals) + 1
    integral = all(
        number == number.to_integral_value() and "." not in piece for number, piece in zip(numbers, pieces, strict=True)
    )
    found = [low + i * step for i in range(count)]
    return [int(value) for value in found] if integral else [float(value) for value in found]


def _number(text: str, name: str) -> Decimal:
    """A number of a range: a decimal one as it stands, or an expression such as ``1/3``."""
    text = text.strip()
    source = Source(f"constant {name}", text)
    try:
        number = Decimal(text)
    except InvalidOperation:
        expression = parse_expression(source)
        Scope(source, {}).type_of(expression)
        try:
            value = evaluate(expression, {})
        except EvaluationError as error:
            raise error.at(source) from None
        if isinstance(value, bool):
            raise GaltonError(f"a range of the constant '{name}' needs numbers, not {text}") from None
        number = Decimal(repr(value))
    if not number.is_finite() or (number and not LEAST <= number.copy_abs() <= GREATEST):
        message = f"the numbers of a range lie between {LEAST:g} and {GREATEST:g}"
        raise LanguageError(message, source, Span(0, len(text)))
    return number


def valuations(given: Mapping[str, str]) -> Iterator[Valuation]:
    """All combinations; the constant given first changes last."""
    spread = ranges(given)
    for combination in product(*spread.values()):
        yield {**given, **dict(zip(spread, combination, strict=True))}
