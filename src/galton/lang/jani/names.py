"""Names of JANI, which may be any text, as identifiers of the PRISM language.

Most stay as they are. Others could not be written in a property: characters that no identifier has become ``_``, and a
keyword or a name that is taken gets something behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..lexer import KEYWORDS

__all__ = ["Names", "identifier"]

_RESERVED = frozenset((*KEYWORDS, "deadlock"))


def identifier(name: str) -> str:
    """A name that the PRISM language takes.

    >>> identifier("x"), identifier("process 1.x"), identifier("P"), identifier("1st")
    ('x', 'process_1_x', 'P_', '_1st')
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    if plain[0].isdigit():
        plain = f"_{plain}"
    return f"{plain}_" if plain in _RESERVED else plain


class Names:
    """Names that are taken; each new one differs from all of them."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken: set[str] = set(taken)

    def new(self, *wanted: str) -> str:
        """The first of some names that is free, or the last one with a number behind it."""
        for name in map(identifier, wanted):
            if name not in self._taken:
                break
        else:
            number = 2
            while f"{name}_{number}" in self._taken:
                number += 1
            name = f"{name}_{number}"
        self._taken.add(name)
        return name
