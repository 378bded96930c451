"""HTML for notebooks: small tables, with everything escaped that is not ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["facts", "grid"]

_LEFT = "text-align:left;vertical-align:top"


def facts(rows: Iterable[tuple[str, str]], caption: str = "") -> str:
    """A table with a name and a text in each row; rows without a text are left out.

    >>> "<td" in facts([("type", "DTMC")]), "rewards" in facts([("rewards", "")]), "a &amp; b" in facts([], "a & b")
    (True, False, True)
    """
    cells = "".join(
        f"<tr><th style='{_LEFT}'>{escape(name)}</th><td style='{_LEFT}'>{escape(text)}</td></tr>"
        for name, text in rows
        if text
    )
    return f"<table>{_caption(caption)}{cells}</table>"


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table with a head.

    >>> grid(["N"], [["3"]])
    '<table><thead><tr><th>N</th></tr></thead><tbody><tr><td>3</td></tr></tbody></table>'
    """
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{_caption(caption)}<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _caption(text: str) -> str:
    return f"<caption style='{_LEFT}'>{escape(text)}</caption>" if text else ""
