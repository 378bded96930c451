"""What tells JANI from the PRISM language; alone in its file, because every text that is read is asked."""

from __future__ import annotations

from ..source import Source

__all__ = ["is_jani"]


def is_jani(source: Source) -> bool:
    """Whether a text is JANI: by the name of its file, or because it begins as no text of the PRISM language does.

    >>> is_jani(Source("model.jani", "")), is_jani(Source("text", ' {"jani-version": 1}'))
    (True, True)
    >>> is_jani(Source("text", "mdp"))
    False
    """
    return source.name.endswith(".jani") or source.text[:64].lstrip("\ufeff \t\r\n").startswith("{")
