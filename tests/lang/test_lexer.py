from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from galton.lang import Source
from galton.lang.lexer import KEYWORDS, tokenize


def kinds(text: str) -> list[str]:
    return [token.kind for token in tokenize(Source("test", text))][:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[0..7]", ["[", "integer", "..", "integer", "]"]),
        ("1e-3 .5 2.5E+7 0.1 7", ["decimal", "decimal", "decimal", "decimal", "integer"]),
        ("x'=x+1", ["name", "'", "=", "name", "+", "integer"]),
        ("<<1>>", ["<<", "integer", ">", ">"]),
        ("a<=>b<=c=>d", ["name", "<=>", "name", "<=", "name", "=>", "name"]),
        ("x<-1", ["name", "<", "-", "integer"]),
        ('P=? ["up"]', ["P", "=", "?", "[", "string", "]"]),
        ("Pmax P Pmaximum", ["Pmax", "P", "name"]),
        ("\ufeffa // b\r\nc", ["name", "name"]),
        ("a/b /* c", ["name", "/", "name", "bad", "name"]),
    ],
)
def test_kinds(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


def test_a_string_loses_quotes_and_blanks_but_its_span_does_not() -> None:
    token = tokenize(Source("test", '  " done "'))[0]
    assert (token.text, token.span.start, token.span.end) == ("done", 2, 10)


@given(st.text())
def test_any_text_becomes_tokens_in_order_that_cover_what_they_say(text: str) -> None:
    source = Source("test", text)
    position = 0
    for token in tokenize(source):
        assert token.span.start >= position
        position = token.span.end
        if token.kind != "string":
            assert text[token.span.start : token.span.end] == token.text


def test_no_kind_of_token_is_a_keyword_too() -> None:
    """``s=int`` was once read as a number, because numbers had the kind of the keyword."""
    texts = ["x", "7", "0.5", '"up"', "@", ""]
    assert not KEYWORDS & {tokenize(Source("test", text))[0].kind for text in texts}
