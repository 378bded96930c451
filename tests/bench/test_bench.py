"""The benchmarks run, and their answers agree: what nobody runs rots."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CORPUS = ROOT.parent / "shared" / "corpus"
pytest.importorskip("stormpy")


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "bench" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the corpus")
def test_file_to_answer_beside_storm(tmp_path: Path) -> None:
    out = tmp_path / "measured.json"
    done = run("check.py", "--quick", "--json", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "times faster in the geometric mean of 3" in done.stdout
    for record in json.loads(out.read_text()):
        for tool in ("galton", "storm-default", "storm-plain"):
            assert record[tool]["s"] > 0
            assert "error" not in record[tool]


def test_long_run_beside_storm() -> None:
    done = run("long_run.py", "--quick", "--storm", "--only", "kanban", "--markdown")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| kanban t=1 | 160 | 616 | 0.0925846" in done.stdout


def test_linear_temporal_logic_beside_storm() -> None:
    done = run("ltl.py", "--quick", "--only", "patrol", "--threads", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "times faster in the geometric mean of 1" in done.stdout


def test_linear_temporal_logic_in_stages() -> None:
    done = run("ltl_device.py", "--size", "7", "--device", "cpu", "--repeat", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is in [0.7" in done.stdout
    assert "explored with the model" in done.stdout


def test_pareto_sets_beside_storm() -> None:
    done = run("multi.py", "--quick", "--markdown")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["walk N=10", "queues N=5"]
    for row in rows:  # both tools within the precision, as far as either says
        assert float(row[8]) <= 1.5
        assert float(row[11]) <= 1.5


def test_both_directions_of_synthesis() -> None:
    done = run("directions.py", "--only", "kanban")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "forward / backward" in done.stdout


@pytest.mark.slow
def test_both_directions_of_time_bounds() -> None:
    done = run("timed.py", "--only", "gfs", "--repeat", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[1].endswith("adaptive-uniformisation")


def test_stiff_time_beside_steps_and_storm() -> None:
    done = run("stiff.py", "--quick", "--repeat", "1", "--cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" not in done.stdout


def test_a_missing_corpus_is_told(tmp_path: Path) -> None:
    done = run("check.py", "--corpus", str(tmp_path / "none"))
    assert done.returncode == 1
    assert "--corpus FOLDER" in done.stderr


def test_too_little_time_counts_as_that_time(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        from check import cells, ratio
        from measure import Question, measure
    finally:
        sys.path.pop(0)
    question = Question("dtmc/die/all/six", str(ROOT / "models" / "die.prism"), {}, "P=? [ F d=6 ]")
    assert measure("storm-default", question, timeout=0.01) == {"s": 0.01, "timeout": True}
    ours = measure("galton", question, timeout=60)
    runs = {"galton": ours, "storm-default": {"s": 1.0, "timeout": True}, "storm-plain": {"s": 1.0, "error": "no"}}
    assert ratio(runs, "storm-default", "s") == 1.0 / ours["s"]
    assert ratio(runs, "storm-plain", "s") is None
    row = cells(question, runs, "s")
    assert ">1" in row
    assert any(cell.startswith(">=") for cell in row)
    assert "error" in row


def test_disagreement_is_loud() -> None:
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        from check import disagreements
        from measure import Question
    finally:
        sys.path.pop(0)
    question = Question("dtmc/a/b/c", "a.prism", {}, "P=? [ F a ]", expected=(0.5, 0.5))
    ours = {"s": 1.0, "lower": 0.4999999, "upper": 0.5000001}
    assert disagreements(question, {"galton": ours, "storm-default": {"value": 0.5000004}}) == []
    wrong = disagreements(question, {"galton": {**ours, "upper": 0.49999995}, "storm-default": {"value": 0.6}})
    assert len(wrong) == 2
    assert all(text.startswith("DISAGREE dtmc/a/b/c") for text in wrong)


def test_every_reduction_beside_the_full_model() -> None:
    done = run("reductions.py", "--only", "random", "--seeds", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.splitlines()
    for reduction in ("symmetry", "slices", "lumping"):
        lines = [line for line in told if line.startswith(f"  {reduction}: asked")]
        assert len(lines) == 2
        assert all("with fewer states" in line for line in lines)
