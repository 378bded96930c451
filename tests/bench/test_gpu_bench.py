"""Benchmarks of a device, as far as they run without one: tables, going on, and what they compare."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from played import played_device

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench() -> Iterator[None]:
    """The folder of the benchmarks can be imported from."""
    sys.path.insert(0, str(ROOT / "bench"))
    yield
    sys.path.remove(str(ROOT / "bench"))


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "bench" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_the_table_in_the_docs_is_that_of_the_measurements() -> None:
    done = run("gpu.py", "--table", str(ROOT / "docs" / "gpu" / "solve.json"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (ROOT / "docs" / "gpu" / "solve.md").read_text()


def test_going_on_keeps_what_there_is(tmp_path: Path) -> None:
    known = json.loads((ROOT / "docs" / "gpu" / "solve.json").read_text())
    path = tmp_path / "solve.json"
    path.write_text(json.dumps([{**record, "cpu": None} for record in known]))
    done = run("gpu.py", "--go-on", "--cpu", "60", "--only", "wlan MAX_BACKOFF=6,COL=2", "--json", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(path.read_text())
    assert [record["name"] for record in found] == [record["name"] for record in known]
    assert [record["name"] for record in found if record["cpu"]] == ["wlan MAX_BACKOFF=6,COL=2"]
    assert [record["cuda"] for record in found] == [record["cuda"] for record in known]


def test_going_on_needs_a_file() -> None:
    done = run("gpu.py", "--go-on")
    assert done.returncode == 2
    assert "--go-on needs the file of --json" in done.stderr


@pytest.mark.usefixtures("bench")
def test_steps_over_boxes_are_compared_with_the_cpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import gpu_regions

    from galton.backend.cpu import regions as cpu_regions

    (case,) = (case for case in gpu_regions.CASES if case.name == "approximate majority")
    with played_device():
        records = gpu_regions.measured(case, [3, 8], 10)
        assert [(record.states, record.boxes) for record in records] == [(120, 3), (120, 3), (120, 8), (120, 8)]
        assert all(record.us > 0 for record in records)
        assert re.search(r"approximate majority +8 ell, interleaved +[\d.]+ us", capsys.readouterr().out)

        def off(self: Any, boxes: int, right: Any = gpu_regions.Steps.bounds) -> Any:
            found = right(self, boxes)
            return found if self.width == 8 and isinstance(self.rows.kernel, cpu_regions.RegionRows) else found + 1e-9

        monkeypatch.setattr(gpu_regions.Steps, "bounds", off)
        with pytest.raises(SystemExit, match="away from the CPU"):
            gpu_regions.measured(case, [8], 10)


@pytest.mark.usefixtures("bench")
def test_beyond_the_numbers_of_a_matrix(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The benchmark of large models, on a small one: with proposals, and without."""
    with played_device():
        import beyond

        for options in (["--only", "c2"], ["--propose", "--only", "c1,steps_max"]):
            monkeypatch.setattr(sys, "argv", ["beyond.py", "coin", "--small", *options])
            beyond.main()
    lines = capsys.readouterr().out.splitlines()
    found = {row["property"]: row for row in (json.loads(line) for line in lines if line.startswith("{"))}
    assert found["c2"]["least"][0] <= 49 / 128 <= found["c2"]["least"][1]
    assert found["c1"]["value"] is True
    assert found["steps_max"]["value"] == pytest.approx(75)
    assert all(row["states"] == 272 for row in found.values())
