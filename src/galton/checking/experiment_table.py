"""The answers of an experiment as cells of a table, with one number in a cell.

For each property there is its value, where it is the same in all initial states; for numbers, the smallest and the
largest value over the initial states, and the bounds.
"""

from __future__ import annotations

from .result import Number, ParetoSet, Result

__all__ = ["PARTS", "cells_of", "spread_of", "title_of"]

PARTS = ("", " min", " max", " lower", " upper")  # what is added to a title for each cell of an answer
LONG = 44  # characters of a property in a title


def title_of(name: str | None, text: str) -> str:
    """A property in few words."""
    short = name or " ".join(text.split())
    return short if len(short) <= LONG else f"{short[: LONG - 1]}…"


def cells_of(answer: Result) -> tuple[bool | str | Number | None, ...]:
    """A cell for each of :data:`PARTS`; None where there is nothing to say."""
    low, high = spread_of(answer) or (None, None)
    single = _alone(answer) if low is None else low if low == high else None
    bounds = (answer.lower, answer.upper) if answer.proved else (None, None)
    return single, low, high, *bounds


def spread_of(answer: Result) -> tuple[Number, Number] | None:
    """The smallest and the largest number over the initial states; None where the answer is no number."""
    value = answer.value
    if value is None or isinstance(value, (bool, ParetoSet)):
        return None
    return value if isinstance(value, tuple) else (value, value)


def _alone(answer: Result) -> bool | str | None:
    """A truth value, the points of a Pareto set as text, or None for an answer that is undecided."""
    return answer.value if answer.value is None or isinstance(answer.value, bool) else answer.text
