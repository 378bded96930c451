"""Which reward structure is meant."""

from __future__ import annotations

import pytest

from galton.lang.evaluation import evaluate
from galton.lang.expressions import Expression
from galton.lang.properties import Reward
from galton.lang.property_parser import parse_properties
from galton.lang.reward_structures import structure_name
from galton.lang.source import LanguageError, Source

NAMES = ["steps", "energy"]


def meant(text: str, names: list[str] = NAMES) -> str:
    def constant(expression: Expression) -> float:
        return evaluate(expression, {"k": 2})

    source = Source("asked", text)
    formula = parse_properties(source).properties[0].parsed
    assert isinstance(formula, Reward)
    return structure_name(formula, names, constant, source)


@pytest.mark.parametrize(
    ("braces", "name"),
    [("", "steps"), ('{"energy"}', "energy"), ("{1}", "steps"), ("{2}", "energy"), ("{k}", "energy")],
)
def test_by_name_by_number_or_the_first(braces: str, name: str) -> None:
    assert meant(f"R{braces}=? [ C ]") == name


@pytest.mark.parametrize(
    ("braces", "names", "message"),
    [
        ("", [], "the model has no rewards"),
        ('{"enrgy"}', NAMES, 'unknown reward structure "enrgy"'),
        ("{0}", NAMES, "the model has 2 reward structures, and this is number 0"),
        ("{k}", ["steps"], "the model has 1 reward structure, and this is number 2"),
    ],
)
def test_what_there_is_not(braces: str, names: list[str], message: str) -> None:
    with pytest.raises(LanguageError, match=message):
        meant(f"R{braces}=? [ C ]", names)
