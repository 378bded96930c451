"""The values of the gallery's properties, as far as Galton can check them already: unbounded F and U."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from gallery import ENTRIES, built, open_constants, program, property_file, title

from galton.check import check, resolve
from galton.lang import Expression
from galton.lang.properties import BinaryPath, Probability, UnaryPath

MOST_STATES = 20_000
RELATIVE = 1e-6


def can_be_checked(expression: Expression) -> bool:
    match expression:
        case Probability(UnaryPath("F", _, None) | BinaryPath("U", _, _, None)):
            return True
    return False


def questions() -> list[Any]:
    found = []
    for entry in ENTRIES:
        expressions = {p.name: p.expression for p in property_file(entry["properties_file"]).properties}
        sizes = {frozenset(i["constants"].items()): i["states"] for i in entry["instances"]}
        names = {name for constants in sizes for name, _ in constants}
        for value in entry["properties"]:
            own = frozenset((name, v) for name, v in value["constants"].items() if name in names)
            if sizes.get(own, 0) > MOST_STATES or not can_be_checked(expressions[value["name"]]):
                continue
            name = title(entry["file"], value["constants"], value["name"])
            found.append(pytest.param(entry, value, id=name))
    return found


def number(value: float | str) -> float:
    """A value of the catalogue: a number, or a fraction as a text."""
    return float(Fraction(value)) if isinstance(value, str) else float(value)


@pytest.mark.parametrize(("entry", "expected"), questions())
def test_value(entry: dict[str, Any], expected: dict[str, Any]) -> None:
    constants = expected["constants"]
    file = property_file(entry["properties_file"])
    given = {name: constants[name] for name in open_constants(file) if name in constants}
    context, resolved = resolve(file, program(entry["file"], constants), given)
    (question,) = [question for question in resolved if question.prop.name == expected["name"]]
    result = check(context, built(entry["file"], constants), question)
    if isinstance(expected["value"], bool):
        assert result.value is expected["value"]
    else:
        tolerance = max(RELATIVE, expected.get("rtol", 0.0))
        assert result.value == pytest.approx(number(expected["value"]), rel=tolerance, abs=0)


def test_enough_values() -> None:
    assert len(questions()) >= 80
