from __future__ import annotations

import pytest

from galton.lang import LanguageError, Scope, Source, Type, parse_expression, parse_properties
from galton.lang.property_types import PropertyScope

NAMES: dict[str, Type] = {"b": "bool", "i": "int", "j": "int", "d": "double"}


def type_of(text: str) -> Type:
    source = Source("test", text)
    return Scope(source, NAMES).type_of(parse_expression(source))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i+j", "int"),
        ("i*d", "double"),
        ("i/j", "double"),
        ("-i", "int"),
        ("-d", "double"),
        ("i^j", "int"),
        ("i^d", "double"),
        ("pow(i,j)", "int"),
        ("pow(d,j)", "double"),
        ("log(i,j)", "double"),
        ("mod(i,j)", "int"),
        ("floor(d)", "int"),
        ("round(i)", "int"),
        ("min(i,j)", "int"),
        ("max(i,d,j)", "double"),
        ("i<d", "bool"),
        ("i=d", "bool"),
        ("b=(i<j)", "bool"),
        ("b&!b=>b<=>b|b", "bool"),
        ("b?i:j", "int"),
        ("b?i:d", "double"),
        ("b?b:!b", "bool"),
    ],
)
def test_types(text: str, expected: Type) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b+1", "an operand of '\\+' must be a number, but this is a bool"),
        ("!i", "the operand of '!' must be a bool, but this is an int"),
        ("-b", "the operand of '-' must be a number"),
        ("b&i", "an operand of '&' must be a bool, but this is an int"),
        ("i=>b", "an operand of '=>'"),
        ("b<b", "an operand of '<' must be a number"),
        ("b=1", "'=' cannot compare different types: a bool and an int"),
        ("d!=b", "'!=' cannot compare different types: a double and a bool"),
        ("i?1:2", "the condition before '\\?' must be a bool"),
        ("b?1:b", "the branches of '\\?:' must have one type"),
        ("mod(d,i)", "an argument of 'mod' must be an int, but this is a double"),
        ("floor(b)", "an argument of 'floor' must be a number"),
        ("floor(i,j)", "'floor' takes 1 argument, not 2"),
        ("pow(i)", "'pow' takes 2 arguments, not 1"),
        ("sqrt(i)", "unknown function 'sqrt'"),
        ("k", "unknown name 'k'"),
    ],
)
def test_type_errors(text: str, message: str) -> None:
    with pytest.raises(LanguageError, match=message):
        type_of(text)


def property_type(text: str) -> Type:
    source = Source("test", text)
    scope = PropertyScope(source, NAMES, labels={"up": "bool", "count": "int"})
    return scope.type_of(parse_properties(source).properties[0].expression)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('P=? [ F<=i "up" ]', "double"),
        ('P>=d [ X "up" ]', "bool"),
        ('1 - Pmax=? [ "up" U b ]', "double"),
        ('round(P=? [ F "init" ]) + "count"', "int"),
        ("R{1}=? [ C<=d ]", "double"),
        ("R<i [ F b ]", "bool"),
        ("S>0.5 [ i=1 ]", "bool"),
        ("T=? [ F b ]", "double"),
        ('A [ G "up" ]', "bool"),
        ("filter(count, b, i=1)", "int"),
        ("filter(sum, i)", "int"),
        ("filter(avg, i, true)", "double"),
        ("filter(argmax, d)", "bool"),
        ("filter(state, P=? [ F b ], b)", "double"),
        ("multi(Pmax=? [ F b ], P>=0.5 [ F b ])", "double"),
    ],
)
def test_types_of_properties(text: str, expected: Type) -> None:
    assert property_type(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P=? [ F i ]", "the operand of 'F' must be a bool"),
        ("P>=b [ F b ]", "what follows '>=' must be a number"),
        ("P=? [ F<=b b ]", "a bound must be a number"),
        ("P=? [ F b ] & b", "an operand of '&' must be a bool, but this is a double"),
        ('P=? [ F "down" ]', 'unknown label "down"'),
        ('P=? [ F "b" ]', 'unknown label "b"'),
        ("R{d}=? [ S ]", "the number of a reward structure must be an int"),
        ("S=? [ i ]", "the formula between the brackets must be a bool"),
        ("filter(forall, i)", "what 'forall' filters must be a bool"),
        ("filter(max, d, i)", "the states of a filter must be a bool"),
    ],
)
def test_type_errors_of_properties(text: str, message: str) -> None:
    with pytest.raises(LanguageError, match=message):
        property_type(text)
