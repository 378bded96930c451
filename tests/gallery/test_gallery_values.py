"""The values of the gallery's properties, on instances that do not take long."""

from __future__ import annotations

from typing import Any

import pytest
from gallery import ENTRIES, assert_value, title

MOST_STATES = 20_000


def questions() -> list[Any]:
    found = []
    for entry in ENTRIES:
        sizes = {frozenset(i["constants"].items()): i["states"] for i in entry["instances"]}
        names = {name for constants in sizes for name, _ in constants}
        for value in entry["properties"]:
            own = frozenset((name, v) for name, v in value["constants"].items() if name in names)
            if sizes.get(own, 0) > MOST_STATES:
                continue
            name = title(entry["file"], value["constants"], value["name"])
            found.append(pytest.param(entry, value, id=name))
    return found


@pytest.mark.parametrize(("entry", "expected"), questions())
def test_value(entry: dict[str, Any], expected: dict[str, Any]) -> None:
    assert_value(entry, expected)


def test_enough_values() -> None:
    assert len(questions()) >= 80
