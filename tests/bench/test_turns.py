"""Cells that are measured beside each other: who waits for whom."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from galton.bench import child
from galton.bench.experiment import Experiment, Options, Row
from galton.bench.running import run_all


class Seen:
    """Plays the process of a cell: it takes a moment, and notes who is at work."""

    def __init__(self) -> None:
        self.lock, self.at_work, self.calls = threading.Lock(), [], []  # type: ignore[var-annotated]
        self.most, self.most_on_device = 0, 0

    def once(self, function: str, limit: float, arguments: str, *_: Any) -> dict[str, Any]:
        device = json.loads(arguments)["device"]
        with self.lock:
            self.at_work.append(device)
            self.calls.append(arguments)
            self.most = max(self.most, len(self.at_work))
            self.most_on_device = max(self.most_on_device, self.at_work.count("cuda"))
        time.sleep(0.02)
        with self.lock:
            self.at_work.remove(device)
        return {"seconds": 1.0}


def found_by(jobs: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Seen, list[str]]:
    seen = Seen()
    monkeypatch.setattr(child, "_once", seen.once)
    options = Options(jobs=jobs, measurements=child.Measurements(jobs=jobs))

    def rows(options: Options, start: int) -> Any:
        for number in range(start, start + 4):
            for device in ("cpu", "cuda"):
                child.measured("f", options, device=device, number=number)
                yield Row(instance=f"{number} {device}")

    experiments = [
        Experiment(name=f"000-table-{start}", title="", run=lambda options, start=start: rows(options, start))  # type: ignore[misc]
        for start in range(6)
    ]
    found = list(run_all(experiments, options, lambda experiment, row: None))
    return seen, [one.experiment.name for one in found]


def test_one_job_measures_one_cell_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, _ = found_by(1, monkeypatch)
    assert seen.most == 1


def test_several_jobs_share_the_processor_and_take_turns_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, names = found_by(3, monkeypatch)
    assert 1 < seen.most <= 3
    assert seen.most_on_device == 1
    assert names == [f"000-table-{start}" for start in range(6)]  # in their order, whoever is first
    assert len(seen.calls) == len(set(seen.calls)) == 2 * 9  # what two experiments ask is measured once


def sleep(device: str) -> None:
    """For a process of its own."""
    time.sleep(60)


def test_who_gives_up_ends_the_processes_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    told: list[str] = []
    options = Options(jobs=2, limit=60, measurements=child.Measurements(jobs=2))

    def fails(options: Options) -> Any:
        time.sleep(1)
        raise KeyboardInterrupt
        yield Row(instance="")

    def waits(options: Options) -> Any:
        yield Row(instance=child.measured(f"{Path(__file__).stem}:sleep", options, device="cpu")["error"])

    both = [Experiment(name=f"000-table-{n}", title="", run=run) for n, run in enumerate((fails, waits))]
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(run_all(both, options, lambda experiment, row: told.append(row.instance)))
    assert time.monotonic() - start < 30
    assert told == ["given up"]
