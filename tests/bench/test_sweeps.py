"""Document 002: the segmented scan and single precision, and what is measured once."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from played import played_device

from galton.bench import questions, sweeps
from galton.bench.experiment import Experiment, Found, Options
from galton.bench.families import FAMILIES

MODELS = Path(__file__).parents[2] / "models"


def find(name: str) -> Experiment:
    (experiment,) = (one for one in sweeps.EXPERIMENTS if one.name == name)
    return experiment


def answered(device: str, **choices: Any) -> dict[str, Any]:
    question = FAMILIES["tandem"]
    given = {"method": "jacobi", "max_iterations": 10_000, **choices}
    return questions.answer(str(MODELS / "tandem.prism"), {"c": 5}, question.prop, device, given)


@pytest.mark.parametrize("choices", [{}, {"format": "segmented"}, {"single": True}])
def test_sweeps_on_a_device_have_the_answer_of_the_cpu(choices: dict[str, Any]) -> None:
    known = answered("cpu", threads=1)
    with played_device():
        found = answered("cuda", **choices)
    assert found["placement"]["backend"] == "cuda"
    assert found["value"] == pytest.approx(known["value"], rel=1e-5)
    assert abs(found["iterations"] - known["iterations"]) <= 5


def test_without_a_device_auto_is_the_cpu_and_measured_once() -> None:
    seen: list[str] = []

    def noted(*given: Any, device: str, **more: Any) -> dict[str, Any]:
        seen.append(device)
        return {}

    instance = questions.Instance(FAMILIES["tandem"], 5)
    with patch.object(questions, "measured", noted), patch.object(questions, "why_no_device", lambda: "there is none"):
        for device in ("auto", "cpu"):
            questions.ask(instance, Options(device=device, models=MODELS))
        assert questions.ask(instance, Options(device="cuda", models=MODELS)) == {"error": "there is none"}
    assert seen == ["cpu", "cpu"]
    with patch.object(questions, "why_no_device", lambda: ""):
        assert questions.place_of("auto") == "auto"


def fake(seconds: float, backend: str = "cuda") -> dict[str, Any]:
    placement = {"backend": backend, "reason": "too large for the device"}
    if backend == "none":
        return {"error": "too large for the device"}
    return {"seconds": seconds, "solve_s": seconds, "iterations": 10, "n": 100, "value": 2.0, "placement": placement}


def test_the_segmented_scan_beside_the_cpu_and_the_paper() -> None:
    def asked(instance: Any, options: Any, *, device: str, **choices: Any) -> dict[str, Any]:
        return fake(6.0, "cpu") if device == "cpu" else fake(2.0, "cuda" if instance.size != 2047 else "none")

    held = {"segmented canonical": {"bytes": 2**20 - 16, "size": 1}}
    with patch.object(sweeps, "ask", asked), patch.object(sweeps, "formats_of", lambda *given, **more: held):
        rows = {row.instance: row for row in find("002-table-5").run(Options(sizes="paper", models=MODELS))}
    herman = rows["herman 15"]
    assert herman.printed == {"par_time_s": 3.99, "factor": 2.6, "gpu_mem_mb": 164}
    assert herman.measured == {"par_time_s": 2.0, "our_factor": 3.0, "bytes": 2**20 - 16, "gpu_mem_mb": 1.0}
    assert "par_time_s" not in rows["tandem 2,047"].measured
    assert rows["tandem 2,047"].skipped == "too large for the device"


def test_a_device_that_did_not_answer_is_no_answer_of_a_device() -> None:
    instance = questions.Instance(FAMILIES["tandem"], 7)
    placement = {"backend": "cpu", "reason": "too large for the device"}
    with (
        patch.object(questions, "why_no_device", lambda: ""),
        patch.object(questions, "measured", lambda *given, **more: {"seconds": 1.0, "placement": placement}),
    ):
        assert questions.ask(instance, Options(), device="cuda") == {"error": "too large for the device"}
        assert questions.ask(instance, Options(device="cpu"), device="cuda") == {"error": "--device cpu was asked for"}
        assert questions.ask(instance, Options(), device="cpu")["seconds"] == 1.0


def test_two_answers_to_one_question_are_wrong() -> None:
    def asked(instance: Any, options: Any, *, device: str, **choices: Any) -> dict[str, Any]:
        return {**fake(1.0, device), "value": 2.0 if device == "cpu" else 2.1}

    with patch.object(sweeps, "ask", asked):
        rows = list(find("002-table-4").run(Options(models=MODELS)))
    assert {row.wrong for row in rows} == {"values differ: 2.0 and 2.1"}


def test_single_and_double_precision_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    times = {"cpu": 1.0, "cuda": 0.1}

    def asked(instance: Any, options: Any, *, device: str, **choices: Any) -> dict[str, Any]:
        return fake(times[device] / (2 if choices.get("single") else 1), device)

    experiment = find("002-figure-2")
    with patch.object(sweeps, "ask", asked):
        rows = tuple(experiment.run(Options(models=MODELS)))
    assert rows[0].measured == {"n": 100, "cpu_s": 0.1, "double_s": 0.01, "single_s": 0.005}
    assert experiment.draw is not None
    experiment.draw(Found(experiment=experiment, rows=rows, seconds=1.0), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000
