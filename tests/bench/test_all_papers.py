"""Every table and figure of the papers is an experiment, and all of them run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from galton.bench.experiment import PAPERS, Found, Row
from galton.bench.registry import all_experiments

ROOT = Path(__file__).parents[2]
SEEDS = ROOT.parent / "shared" / "seeds" / "tables.json"
NAMES = {
    *(f"000-figure-{number}" for number in range(1, 8)),
    *("000-table-1", "001-figure-3", *(f"001-table-{number}" for number in range(1, 6))),
    *("002-example-1", "002-example-2", "002-figure-2", *(f"002-table-{number}" for number in range(1, 6))),
    *("003-example", "003-figure-2", "003-figure-3", *(f"003-table-{number}" for number in range(1, 6))),
    *("004-facts", *(f"004-figure-{number}" for number in range(12, 33))),
}


def test_no_table_or_figure_is_missing() -> None:
    known = set(all_experiments())
    assert {name for name in known if not name.startswith("open-")} == NAMES
    assert {name.partition("-")[0] for name in known} == set(PAPERS)


@pytest.mark.skipif(not SEEDS.exists(), reason="the list of the papers' tables is not here")
def test_the_list_is_that_of_the_papers() -> None:
    for table in json.loads(SEEDS.read_text())["tables"]:
        kind, number = table["table"].lower().split()[:2]
        named = {"figures": "figure", "example": "example", "examples": "example", "inline": "facts"}.get(kind, kind)
        numbers = number.split("-") if number[0].isdigit() else [""]
        for one in numbers:
            name = f"{table['source'][:3]}-{named}{f'-{one}' if one else ''}"
            assert any(known.startswith(name) for known in NAMES), name


@pytest.mark.parametrize("name", ["000-figure-5", "001-figure-3", "002-figure-2", "004-figure-13", "004-figure-28"])
@pytest.mark.filterwarnings("error")
def test_a_picture_is_drawn_although_everything_was_stopped(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    experiment = all_experiments()[name]
    assert experiment.draw
    rows = (Row(instance="one", skipped="stopped after 1 s"),)
    experiment.draw(Found(experiment=experiment, rows=rows, seconds=1.0), tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1_000


@pytest.mark.slow
def test_all_experiments_at_small_size(tmp_path: Path) -> None:
    """From the command line, in a folder of their own: what people get."""
    command = [sys.executable, "-m", "galton", "bench", "all", "--sizes", "small", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    index = (tmp_path / "index.html").read_text()
    for name in NAMES:
        record = json.loads((tmp_path / f"{name}.json").read_text())
        assert record["rows"], name
        assert record["command"] in (tmp_path / f"{name}.html").read_text()
        assert f"href='{name}.html'" in index
        for row in record["rows"]:
            assert row["measured"] or row["skipped"], (name, row["instance"])
            assert "wrong" not in row, (name, row)
        # Without a device some tables have nothing to measure, and say so; nothing else may be missing.
        reasons = [row["skipped"] for row in record["rows"] if not row["measured"]]
        known = ("CUDA", "device", "the gallery has no such model")
        assert all(any(why in reason for why in known) for reason in reasons), (name, reasons)
        if all_experiments()[name].draw and any(row["measured"] for row in record["rows"]):
            assert (tmp_path / f"{name}.png").stat().st_size > 5_000, name
