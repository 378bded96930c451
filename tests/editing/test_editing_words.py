"""The words of the language are told once: what an editor knows of them is compared with the parsers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from galton.editing.files import MODEL_SUFFIXES, PROPERTY_SUFFIXES, model_for
from galton.editing.names import SOFT_KEYWORDS
from galton.editing.words import FILTER_WORDS, KEYWORD_WORDS, about
from galton.lang.lexer import KEYWORDS
from galton.lang.operations import BINARY, FUNCTIONS, OPERATIONS, UNARY
from galton.lang.property_parser import FILTERS

VSCODE = Path(__file__).parents[2] / "editors" / "vscode"


def test_every_word_has_a_meaning() -> None:
    assert set(KEYWORD_WORDS) == KEYWORDS | SOFT_KEYWORDS
    assert set(FILTER_WORDS) == set(FILTERS)
    assert all(row.about.endswith(".") for row in OPERATIONS)
    for text in (*BINARY, *FUNCTIONS, *UNARY, "?"):
        assert "→" in (about(text) or "")


def grammar_words() -> set[str]:
    """The words in the alternatives of the grammar's patterns."""
    grammar = json.loads((VSCODE / "syntaxes" / "prism.tmLanguage.json").read_text())
    patterns = [*grammar["repository"]["keyword"]["patterns"], grammar["repository"]["function"]]
    return {word for pattern in patterns for word in re.findall(r"[A-Za-z]{2,}|\b[A-Z]\b", pattern["match"])}


def test_the_grammar_of_the_extension_has_all_words() -> None:
    assert grammar_words() == KEYWORDS | set(FUNCTIONS) | {"multi", "quantile"}


def test_the_extension_knows_the_names_of_files() -> None:
    languages = json.loads((VSCODE / "package.json").read_text())["contributes"]["languages"]
    models, properties = (set(language["extensions"]) for language in languages)
    assert models == set(MODEL_SUFFIXES) - {".jani"}
    assert properties == set(PROPERTY_SUFFIXES)


def test_which_model_properties_belong_to() -> None:
    assert model_for("a.props", ["b.pm", "a.nm", "a.props"]) == "a.nm"
    assert model_for("q.pctl", ["b.pm", "c.pctl"]) == "b.pm"
    assert model_for("q.pctl", ["b.pm", "c.pm"]) is None
