"""The table of operations holds together, and everything in it can be written and is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from galton.lang import Source, parse_expression
from galton.lang.expressions import Binary, Call, Unary
from galton.lang.operations import BINARY, BY_OP, FUNCTIONS, OPERATIONS, UNARY, Op, Operation

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "language.md").read_text()


def test_every_operation_of_the_core_has_one_row() -> None:
    numbered = [row.op for row in OPERATIONS if row.op is not None]
    assert sorted(numbered) == sorted({*Op} - {Op.CONST, Op.VAR, Op.TO_REAL})
    assert list(BY_OP) == numbered


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: f"{row.text[0]}/{row.arity}")
def test_a_row_is_whole(row: Operation) -> None:
    assert (row.op is None) is (row.via is not None)
    if row.gives in ("int", "double", "widest"):
        assert row.range is not None  # the expression graph asks for it
    if row.gives in ("int", "widest"):
        assert row.integers is not None
    if row.domain is not None:
        assert 0 <= row.domain.operand < row.arity


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_read_and_documented(name: str) -> None:
    arguments = ", ".join("ab"[: FUNCTIONS[name].arity])
    assert isinstance(parse_expression(Source("test", f"{name}({arguments})")), Call)
    assert f"`{name}({arguments}" in DOCUMENTED


@pytest.mark.parametrize("sign", BINARY)
def test_operators_are_read_and_documented(sign: str) -> None:
    read = parse_expression(Source("test", f"a {sign} b"))
    assert isinstance(read, Binary)
    assert read.operator == sign
    assert f"a{sign.replace('|', '&#124;')}b" in DOCUMENTED


@pytest.mark.parametrize("sign", UNARY)
def test_signs_are_read_and_documented(sign: str) -> None:
    assert isinstance(parse_expression(Source("test", f"{sign}a")), Unary)
    assert f"`{sign}a`" in DOCUMENTED


TYPES = {"bool": "bool", "int": "int", "number": "number", "alike": "two numbers or two bools", "choice": "a bool, and"}
GIVEN = {"bool": "a `bool`", "int": "an `int`", "double": "a `double`", "widest": "", "branch": "a `double` if one"}


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: f"{row.text[0]}/{row.arity}")
def test_the_tables_say_what_every_operation_takes_and_gives(row: Operation) -> None:
    for text in row.text:
        line = documented_row(text, row.arity)
        assert TYPES[row.takes] in line, line
        assert GIVEN[row.gives] in line, line
        assert row.gives != "widest" or "an `int` if" in line or "its type" in line, line
        if row.settled_by is not None:
            assert f"`b` is not evaluated where `a` is {str(row.settled_by).lower()}" in line, line


def documented_row(text: str, arity: int) -> str:
    """The line of the tables that has an operation in its first cell."""
    shown = (
        f"{text}({'a, b'[: 3 * arity - 2]}"
        if text.isidentifier()
        else {1: f"{text}a", 2: f"a{text}b"}.get(arity, "c ? a")
    )
    shown = shown.replace("|", "&#124;")
    lines = [line for line in DOCUMENTED.splitlines() if line.startswith("| ")]
    (found,) = [line for line in lines if re.search(rf"[`>]{re.escape(shown)}[`<,) ]", line.split("|")[1])]
    return found
