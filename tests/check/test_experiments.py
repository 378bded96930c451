"""Ranges of constants."""

from __future__ import annotations

import pytest

from galton.checking.experiment import valuations, values
from galton.lang import LanguageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:3", [1, 2, 3]),
        ("2:2:8", [2, 4, 6, 8]),
        ("2:2:9", [2, 4, 6, 8]),
        ("5:5", [5]),
        ("0.1:0.1:0.5", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("0:0.25:1", [0.0, 0.25, 0.5, 0.75, 1.0]),
        ("-1:1", [-1, 0, 1]),
        ("1/4:1/4:3/4", [0.25, 0.5, 0.75]),
        ("1:2*2", [1, 2, 3, 4]),
        ("1e-3:1e-3:3e-3", [0.001, 0.002, 0.003]),
    ],
)
def test_ranges(text: str, expected: list[float]) -> None:
    found = values("x", text)
    assert list(found) == expected
    assert {isinstance(value, int) for value in found} == {isinstance(value, int) for value in expected}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3:1", "the range is empty: 3 is above 1"),
        ("1:0:3", "the step of a range must be positive, and this is 0"),
        ("1:2:3:4", "a range is low:high or low:step:high"),
        ("1:", "a range is low:high or low:step:high"),
        ("1:1e9", "the range has 1,000,000,000 values; at most 1,000,000 are supported"),
        (f"1:{'9' * 4301}", "integers end at 2147483647"),
        ("1:1e999999999", "this number is too large for a double"),
        ("1:1e300", "the range has 1.00e+300 values; at most 1,000,000 are supported"),
        ("0:1e-300:1e300", "the range has 1.00e+600 values; at most 1,000,000 are supported"),
        ("nan:inf", "unknown name 'nan'"),
        ("1:y", "unknown name 'y'"),
    ],
)
def test_ranges_that_are_none(text: str, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        values("x", text)
    assert caught.value.message == message


def test_all_combinations() -> None:
    found = list(valuations({"a": "1:2", "b": "7", "c": "0.5:0.5:1"}))
    assert found == [
        {"a": 1, "b": "7", "c": 0.5},
        {"a": 1, "b": "7", "c": 1.0},
        {"a": 2, "b": "7", "c": 0.5},
        {"a": 2, "b": "7", "c": 1.0},
    ]


def test_a_condition_is_no_range() -> None:
    assert list(valuations({"a": "true ? 1 : 2"})) == [{"a": "true ? 1 : 2"}]
