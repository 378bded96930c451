"""Arrays from one place to another, inside of whatever holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np

from .arrays import is_array, on_host

__all__ = ["moved", "to_host"]

T = TypeVar("T")


def moved(value: T, move: Callable[[Any], Any]) -> T:
    """A value with all its arrays moved: those of tuples, dictionaries and dataclasses, however deep.

    What holds no array that moves is the same object as before.

    >>> moved({"a": np.zeros(2), "b": "text"}, lambda array: array + 1)
    {'a': array([1., 1.]), 'b': 'text'}
    """
    return cast("T", _moved(value, move))


def _moved(value: Any, move: Callable[[Any], Any]) -> Any:
    found = value
    if is_array(value):
        found = move(value) if np.ndim(value) else value
    elif type(value) is tuple:
        parts = tuple(_moved(part, move) for part in value)
        if any(new is not old for new, old in zip(parts, value, strict=True)):
            found = parts
    elif isinstance(value, dict):
        items = {name: _moved(part, move) for name, part in value.items()}
        if any(items[name] is not value[name] for name in value):
            found = items
    elif is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changed = {name: new for name, part in old.items() if (new := _moved(part, move)) is not part}
        if changed:
            found = replace(value, **changed)
    return found


def to_host(value: T) -> T:
    """A value with all its arrays on the host; the value itself if they are there."""
    return moved(value, on_host)
