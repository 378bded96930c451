"""JSON from a file that somebody may have changed: every value is looked at before it is used."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

__all__ = ["BadField", "as_int", "as_list", "as_number", "as_object", "as_text", "get", "one_of", "read_json", "shown"]


class BadField(ValueError):
    """A value that is not what it should be, in words."""


def read_json(path: str | Path) -> Any:
    """What a file holds; :class:`BadField` where that is no JSON."""
    return parse_json(Path(path).read_bytes())


def parse_json(text: str | bytes) -> Any:
    """What a text holds."""
    try:
        return json.loads(text)
    except RecursionError:
        raise BadField("it is nested too deeply") from None
    except ValueError as error:  # of JSON, of UTF-8, and of numbers with thousands of digits
        raise BadField(str(error)) from None


def shown(value: Any) -> str:
    """A value in a message."""
    text = json.dumps(value) if not isinstance(value, int) or abs(value) < 10**20 else f"{'-' * (value < 0)}10000…"
    return text if len(text) <= 40 else f"{text[:39]}…"


def get(owner: dict[str, Any], name: str) -> Any:
    """A value that has to be there."""
    if name not in owner:
        raise BadField(f'there is no "{name}"')
    return owner[name]


def as_object(value: Any, what: str) -> dict[str, Any]:
    """A value with names in it."""
    if not isinstance(value, dict):
        raise BadField(f"{what} should be an object {{…}}, not {shown(value)}")
    return value


def as_list(value: Any, what: str, length: int | None = None) -> list[Any]:
    """A list, of so many values."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise BadField(f"{what} should be a list{f' of {length}' if length is not None else ''}, not {shown(value)}")
    return value


def as_text(value: Any, what: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise BadField(f"{what} should be a text, not {shown(value)}")
    return value


def one_of(value: Any, known: tuple[str, ...], what: str) -> str:
    """One of the known texts."""
    if value not in known:
        raise BadField(f"{what} should be one of {', '.join(known)}, not {shown(value)}")
    return str(value)


def as_int(value: Any, what: str, low: int, high: int) -> int:
    """A whole number within its range."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadField(f"{what} should be a whole number from {low} to {high}, not {shown(value)}")
    return value


def as_number(value: Any, what: str, *, finite: bool = True) -> float:
    """A number; an infinite one only where that may be."""
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, (int, float)) else float(value)
    except OverflowError:
        number = math.nan
    if math.isnan(number) or (finite and math.isinf(number)):
        raise BadField(f"{what} should be a {'finite ' if finite else ''}number, not {shown(value)}")
    return number
