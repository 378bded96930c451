"""All properties of the smallest instance of each model of the gallery, wherever models are built."""

from __future__ import annotations

from typing import Any

import pytest
from gallery import ENTRIES, built, open_constants, program, property_file, title
from test_gallery_values import RELATIVE, number

from galton.check import check, resolve

MOST_STATES = 1_500


def questions() -> list[Any]:
    found = []
    for entry in ENTRIES:
        least = min(entry["instances"], key=lambda instance: instance["states"])
        if least["states"] > MOST_STATES:
            continue
        for value in entry["properties"]:
            if least["constants"].items() <= value["constants"].items():
                found.append(pytest.param(entry, value, id=title(entry["file"], value["constants"], value["name"])))
    return found


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
