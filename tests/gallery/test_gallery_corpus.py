"""Where a gallery model tells the same story as a published benchmark, it has the same number of states.

The benchmarks are not part of this repository; without the folder beside it, there is nothing to compare.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gallery import ENTRIES, SMALL, model_file, open_constants, program, title

from galton.explore import build

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
COUNTS = ("states", "choices", "transitions", "initial_states")

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the benchmarks are not here")


def benchmarks() -> dict[str, list[dict[str, Any]]]:
    """The cases of the benchmarks that have a gallery model, one for each instance, by the file of that model."""
    found = {}
    for entry in ENTRIES:
        path = CORPUS / entry["type"] / Path(entry["file"]).stem / "cases.json"
        if path.exists():
            cases = {
                json.dumps([case["model"], case["constants"]]): case for case in json.loads(path.read_text())["cases"]
            }
            found[entry["file"]] = list(cases.values())
    return found


def constants_of(file: str, case: dict[str, Any]) -> dict[str, Any]:
    """Those of the gallery model; what the benchmark has in its file name is a constant here."""
    given = {**case["constants"], **(case.get("file_params") or {})}
    return {name: given[name] for name in sorted(open_constants(model_file(file)))}


def pairs() -> list[Any]:
    found = {}
    for file, cases in benchmarks().items():
        for case in cases:
            if "transitions" in case and case["states"] <= SMALL:
                constants = constants_of(file, case)
                found[title(file, constants)] = (file, constants, case)
    return [pytest.param(*pair, id=name) for name, pair in found.items()]


@pytest.mark.parametrize(("file", "constants", "case"), pairs())
def test_small_instances_have_the_same_size(file: str, constants: dict[str, Any], case: dict[str, Any]) -> None:
    model = build(program(file, constants))
    found = (model.n_states, model.n_choices, model.n_transitions, len(model.initial))
    wrong = {key: (case[key], value) for key, value in zip(COUNTS, found, strict=True) if case.get(key, value) != value}
    assert wrong == {}


def test_the_catalogue_has_the_same_sizes() -> None:
    """Also those of instances too large to build here."""
    compared = 0
    for entry in ENTRIES:
        known = {json.dumps(i["constants"], sort_keys=True): i for i in entry["instances"]}
        for case in benchmarks().get(entry["file"], []):
            instance = known.get(json.dumps(constants_of(entry["file"], case), sort_keys=True))
            if instance:
                assert {key: instance[key] for key in COUNTS if key in case} == {
                    key: case[key] for key in COUNTS if key in case
                }, (entry["file"], instance["constants"])
                compared += 1
    assert compared >= 50
