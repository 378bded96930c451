from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from galton.lang import LanguageError, Source, evaluate, parse_expression, render
from galton.lang.expressions import Binary, Call, Expression, Name, children


def parse(text: str) -> Expression:
    return parse_expression(Source("test", text))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a | b & c", "a | (b & c)"),
        ("!a & b", "(!a) & b"),
        ("!x = 1", "!(x = 1)"),
        ("!!a", "!(!a)"),
        ("a = !b", "a = (!b)"),
        ("a => b => c", "(a => b) => c"),
        ("a <=> b | c", "a <=> (b | c)"),
        ("a => b <=> c", "a => (b <=> c)"),
        ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
        ("a ? b ? c : d : e", "a ? (b ? c : d) : e"),
        ("a => b ? c : d", "(a => b) ? c : d"),
        ("x - y - z", "(x - y) - z"),
        ("x / y * z", "(x / y) * z"),
        ("x < y = z < w", "(x < y) = (z < w)"),
        ("-x * y", "(-x) * y"),
        ("x * -y", "x * (-y)"),
        ("--x", "-(-x)"),
        ("-x^2", "-(x^2)"),
        ("x^y^z", "x^(y^z)"),
        ("x^-y", "x^(-y)"),
        ("2 * x^2", "2 * (x^2)"),
        ("x<-1", "x < (-1)"),
    ],
)
def test_precedence(text: str, same: str) -> None:
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("x = 1..3", "x >= 1 & x <= 3"),
        ("x != 1..3", "!(x >= 1 & x <= 3)"),
        ("x+1 = 0..n-1 & y", "(x+1 >= 0 & x+1 <= n-1) & y"),
        ("func(min, a, b)", "min(a, b)"),
        ("func(pow, a, b)", "pow(a, b)"),
    ],
)
def test_old_spellings(text: str, same: str) -> None:
    assert parse(text) == parse(same)


def test_names_of_functions_are_names_without_parentheses() -> None:
    assert parse("floor + log") == Binary("+", Name("floor"), Name("log"))
    assert parse("floor(log)") == Call("floor", (Name("log"),))


def test_spans_cover_the_text_with_its_parentheses() -> None:
    text = "(a + b) * (c)"
    expression = parse(text)
    assert isinstance(expression, Binary)
    assert text[expression.span.start : expression.span.end] == text
    assert text[expression.left.span.start : expression.left.span.end] == "a + b"


def depth(expression: Expression) -> int:
    return 1 + max(map(depth, children(expression)), default=0)


def test_long_chains_stay_shallow_and_mean_the_same() -> None:
    for operator, neutral in (("|", "x<0"), ("&", "x>=0")):
        expression = parse(f" {operator} ".join([neutral] * 5000 + ["x=7"]))
        assert depth(expression) < 20
        assert [evaluate(expression, {"x": x}) for x in (6, 7)] == [False, True]


def test_deep_nesting_is_read_and_bottomless_nesting_refused() -> None:
    assert parse("(" * 500 + "x" + ")" * 500) == Name("x")
    with pytest.raises(LanguageError, match="nested too deeply"):
        parse("(" * 100_000)


# Python agrees with PRISM about the operators below, so it can say what a text without parentheses is worth.
_NUMBERS = st.integers(0, 9).map(str)
_SUMS = st.lists(st.tuples(st.sampled_from(["+", "-", "*", "+ -", "* -"]), _NUMBERS), max_size=6).flatmap(
    lambda tail: _NUMBERS.map(lambda head: head + "".join(f" {operator} {number}" for operator, number in tail))
)
_COMPARISONS = st.tuples(st.sampled_from(["", "! "]), _SUMS, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), _SUMS)
_CONDITIONS = st.lists(st.tuples(_COMPARISONS.map(" ".join), st.sampled_from(["&", "|"])), min_size=1, max_size=4)
_PYTHON = {"!": "not", "=": "==", "&": "and", "|": "or"}


@given(_CONDITIONS)
def test_values_agree_with_python(conditions: list[tuple[str, str]]) -> None:
    text = " ".join(word for pair in conditions for word in pair)[:-2]
    python = " ".join(_PYTHON.get(word, word) for word in text.split())
    assert evaluate(parse(text), {}) == eval(python)


@given(st.text("xy01(){}[]<>=!&|+-*/^?:;,.'\" \nFPU", max_size=40))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        shown = render(parse(text))
    except LanguageError as error:
        shown = str(error)
    assert shown
