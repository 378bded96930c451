"""What the papers leave open: the measurements, on the CPU and on a device that it plays."""

from __future__ import annotations

from pathlib import Path

import pytest
from played import played_device

from galton.bench import open_questions
from galton.bench.experiment import Options
from galton.bench.registry import all_experiments, find

MODELS = Path(__file__).parents[2] / "models"
TANDEM = str(MODELS / "tandem.prism")


def test_each_question_is_an_experiment() -> None:
    names = [experiment.name for experiment in find(["open"])]
    assert names == sorted(name for name in all_experiments() if name.startswith("open-"))
    assert len(names) == len(open_questions.EXPERIMENTS) == 8
    assert all(experiment.paper and experiment.notes for experiment in open_questions.EXPERIMENTS)


def test_loads_of_a_warp_are_counted() -> None:
    """With one warp or less, a load touches at most a sector a thread; breadth first, tandem's rows differ more."""
    found = open_questions.counted(TANDEM, {"c": 15}, ["canonical", "bfs"])
    for order in ("canonical", "bfs"):
        assert 1 <= found[order]["values"] <= found[order]["sectors"] * 4 <= 4 * 32
    assert found["canonical"]["values"] < found["bfs"]["values"]


def test_breadth_first_numbering_leaves_herman_as_it_is() -> None:
    found = open_questions.counted(str(MODELS / "herman.prism"), {"N": 7}, ["canonical", "bfs"])
    assert found["canonical"] == found["bfs"]


def test_sweeps_are_timed_in_each_format_on_a_device() -> None:
    forms, vectors = ["csr", "segmented"], list(open_questions.VECTORS)
    with played_device():
        found = open_questions.swept(TANDEM, {"c": 5}, "cuda", forms, vectors)
    assert found["placement"] == "cuda"
    assert all(found[f"{form} {vector}"] > 0 for form in forms for vector in vectors)
    assert found["segmented bytes"] > found["csr bytes"] > 0


def test_halves_exchange_what_they_refer_to() -> None:
    """The part of the states that the other half refers to gets smaller as the model gets larger."""
    found = open_questions.halo(TANDEM, {"c": 3})
    assert 0 < found["exchanged"] <= found["n"]
    larger = open_questions.halo(TANDEM, {"c": 31})
    assert larger["exchanged"] / larger["n"] < found["exchanged"] / found["n"]  # a border is shorter than a field


@pytest.mark.parametrize("name", ["open-sizes", "open-zeros", "open-single"])
def test_what_needs_a_device_says_so(name: str) -> None:
    (experiment,) = find([name])
    rows = list(experiment.run(Options(device="cpu", models=MODELS, limit=60)))
    assert rows
    assert all(row.skipped if name == "open-single" else row.measured for row in rows)
