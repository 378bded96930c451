"""JSON as people like to read it: what is short stands on one line. Numbers keep the digits they were written with."""

from __future__ import annotations

import json
from collections.abc import Mapping

from .json_text import Number

__all__ = ["Json", "json_text"]

Json = bool | int | str | None | list["Json"] | Mapping[str, "Json"]

WIDTH = 110


def json_text(value: Json, indent: int = 0) -> str:
    """The text of a value.

    >>> json_text({"x": [True, Number("0.10")]})
    '{"x": [true, 0.10]}'
    """
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Mapping):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {json_text(part, indent + 1)}" for key, part in value.items()]
        return _enclosed("{", parts, "}", indent)
    if isinstance(value, list):
        return _enclosed("[", [json_text(part, indent + 1) for part in value], "]", indent)
    return json.dumps(value, ensure_ascii=False)


def _enclosed(opening: str, parts: list[str], closing: str, indent: int) -> str:
    if sum(map(len, parts)) + 2 * len(parts) + indent <= WIDTH and not any("\n" in part for part in parts):
        return f"{opening}{', '.join(parts)}{closing}"
    margin = " " * (indent + 1)
    return f"{opening}\n{margin}" + f",\n{margin}".join(parts) + f"\n{' ' * indent}{closing}"
