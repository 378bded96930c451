"""Every instance of the gallery has the size that independent tools found for it."""

from __future__ import annotations

from typing import Any

import pytest
from gallery import ENTRIES, MEDIUM, SMALL, built, model_file, open_constants, program, title

from galton.explore import build


def instances() -> list[Any]:
    found = []
    for entry in ENTRIES:
        for instance in entry["instances"]:
            marks = [pytest.mark.slow] if instance["states"] > SMALL else []
            name = title(entry["file"], instance["constants"])
            if instance["states"] <= MEDIUM:
                found.append(pytest.param(entry, instance, id=name, marks=marks))
    return found


@pytest.mark.parametrize(("entry", "instance"), instances())
def test_counts(entry: dict[str, Any], instance: dict[str, Any]) -> None:
    assert set(instance["constants"]) == open_constants(model_file(entry["file"]))
    model = build(program(entry["file"], instance["constants"]))
    assert model.type == entry["type"]
    assert (model.n_states, model.n_choices) == (instance["states"], instance["choices"])
    assert model.n_transitions == instance["transitions"]
    assert len(model.initial) == instance["initial_states"]


def test_enough_instances() -> None:
    assert len(instances()) >= 120


@pytest.mark.parametrize(
    ("name", "constants"),
    [
        ("consensus.prism", {"N": 4, "K": 4}),
        ("crowds.prism", {"CrowdSize": 10, "TotalRuns": 4}),
        ("fms.prism", {"n": 3}),
    ],
    ids=["consensus", "crowds", "fms"],
)
def test_threads_never_change_the_model(name: str, constants: dict[str, Any]) -> None:
    """Many builds by several threads at a time: what goes wrong between them goes wrong seldom."""
    expected = built(name, constants)
    expected.validate()
    once = program(name, constants)
    for repetition in range(12):
        found = build(once, threads=2 + repetition % 3)
        assert list(found.differences(expected)) == []
