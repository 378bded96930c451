"""Colours for models and properties, with the keywords of Galton's own lexer."""

from __future__ import annotations

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text
from sphinx.application import Sphinx

from galton.lang.lexer import KEYWORDS
from galton.lang.operations import FUNCTIONS


class PrismLexer(RegexLexer):
    """The PRISM language."""

    name = "PRISM"
    aliases = ("prism",)
    tokens = {  # noqa: RUF012  (as Pygments has it)
        "root": [
            (r"//.*", Comment.Single),
            (r'"[^"\n]*"', String),
            (words(sorted(KEYWORDS), prefix=r"\b", suffix=r"\b"), Keyword),
            (words(sorted(FUNCTIONS), prefix=r"\b", suffix=r"\b(?=\()"), Name.Function),
            (r"\d+(\.\d+)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?", Number),
            (r"[A-Za-z_]\w*'?", Name),
            (r"->|<=>|=>|!=|<=|>=|\.\.|[-+*/^&|!<>=?:]", Operator),
            (r"[\[\](){},;]", Punctuation),
            (r"\s+", Text),
        ]
    }


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_lexer("prism", PrismLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
