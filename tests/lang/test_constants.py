from __future__ import annotations

import pytest

from galton.lang import (
    GaltonError,
    LanguageError,
    Scope,
    Source,
    Value,
    check_program,
    parse_constants,
    parse_model,
    parse_properties,
    resolve_constants,
)
from galton.lang.constants import convert

MODEL = "const int N; const double p; const bool fast; const int M = 3; module m endmodule"


def constants(**given: Value | str) -> dict[str, Value]:
    return dict(check_program(parse_model(Source("test.prism", MODEL)), given).constants)


def test_values_and_texts() -> None:
    assert constants(N="15", p="1/3", fast="true") == {"N": 15, "p": 1 / 3, "fast": True, "M": 3}
    assert constants(N=-2, p=1, fast=False) == {"N": -2, "p": 1.0, "fast": False, "M": 3}
    assert isinstance(constants(p=1)["p"], float)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"N": 2.5}, "the constant 'N' is of type int, and this is of type double"),
        ({"N": "2.5"}, "the constant 'N' is of type int, and this is of type double"),
        ({"N": True}, "the constant 'N' is of type int, and this is of type bool"),
        ({"fast": 1}, "the constant 'fast' is of type bool, and this is of type int"),
        ({"N": 2**31}, "integers end at 2147483647"),
        ({"N": "2:2:20"}, "the constant 'N' needs one value here, not a range"),
        ({"N": "M"}, "unknown name 'M'"),
        ({"N": "pow(2,-1)"}, "negative exponent"),
        ({"M": 4}, "the constant 'M' has a value already"),
        ({"fasst": True}, "test.prism has no constant 'fasst'; did you mean 'fast'?"),
    ],
)
def test_refused(given: dict[str, Value | str], message: str) -> None:
    with pytest.raises(GaltonError) as info:
        constants(**given)
    assert message in str(info.value)


def test_numbers_of_other_libraries() -> None:
    numpy = pytest.importorskip("numpy")
    assert convert(numpy.int64(3), "int", "N") == 3
    assert type(convert(numpy.float32(0.5), "double", "p")) is float


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("N=15", {"N": "15"}),
        (" N = 15 , p=0.5,flag=true", {"N": "15", "p": "0.5", "flag": "true"}),
        ("k=2:2:20,N=min(1,2)", {"k": "2:2:20", "N": "min(1,2)"}),
    ],
)
def test_command_line(text: str, expected: dict[str, str]) -> None:
    assert parse_constants(text) == expected


@pytest.mark.parametrize("text", ["N", "N=", "=3", "N=1,,M=2", "N=1,N=2", "2x=3"])
def test_broken_command_line(text: str) -> None:
    with pytest.raises(LanguageError):
        parse_constants(text)


def test_property_files_may_use_the_constants_of_the_model() -> None:
    model = parse_model(Source("m", "const int N; const int K; module m endmodule"))
    outer = resolve_constants(model.constants, {"N": 2}, Scope(model.source, {"N": "int", "K": "int"}))
    file = parse_properties(Source("p", "const int M = N*2; const int x = K; const int y; const double z = M/4;"))
    scope = Scope(file.source, {**outer.types, "M": "int", "x": "int", "y": "int", "z": "double"})
    found = resolve_constants(file.constants, {"y": 7}, scope, outer)
    assert found.values == {"N": 2, "M": 4, "y": 7, "z": 1.0}
    assert found.open == {"K": "int"}
    assert found.blocked == {"x": ("K",)}

    twice = parse_properties(Source("p", "const int a = 1; const int N = 3;"))
    with pytest.raises(LanguageError, match="there is a constant 'N' already"):
        resolve_constants(twice.constants, {}, Scope(twice.source, {"a": "int", "N": "int"}), outer)
