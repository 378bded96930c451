"""All properties of the smallest instance of each model of the gallery, wherever models are built."""

from __future__ import annotations

from typing import Any

import pytest
from gallery import ENTRIES, assert_value, title

from galton.explore import build

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
    result = assert_value(entry, expected)
    # A model that was built on a device is checked there: the CPU stepping in would show nothing of the device.
    assert result.device == build.__kwdefaults__["device"]
