"""``galton bench``: experiments by name, in processes of their own, and pages of what came out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import galton

from galton.bench.child import measured
from galton.bench.experiment import PAPERS, Experiment, Options, Row, printed
from galton.bench.registry import all_experiments, find
from galton.bench.report import html, markdown, read
from galton.bench.running import run, write
from galton.lang import GaltonError

MODELS = Path(__file__).parents[2] / "models"
SEEDS = Path(__file__).parents[3] / "shared" / "seeds" / "tables.json"

ROWS = [
    Row(instance="small", printed={"n": 10, "time_s": 8.0}, measured={"n": 10, "time_s": 2.0}),
    Row(instance="large", printed={"n": 10**6, "time_s": None}, skipped="too large <b>"),
]
EXAMPLE = Experiment(name="002-table-9", title="An example", run=lambda options: ROWS, notes=("It is made up.",))


def test_a_table_has_ours_and_theirs_and_the_ratio() -> None:
    found = run(EXAMPLE, Options())
    assert found.table().splitlines() == [
        "instance   n    printed  ratio  time s  printed  ratio",
        "small     10         10      1       2        8      4",
        "large         1,000,000                                 too large <b>",
    ]


def test_what_is_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("galton.bench.report.all_experiments", lambda: {EXAMPLE.name: EXAMPLE})
    write(run(EXAMPLE, Options()), tmp_path)
    (record,) = read(tmp_path)
    assert record["rows"][0]["ratios"] == {"n": 1.0, "time_s": 4.0}
    assert record["rows"][1]["skipped"] == "too large <b>"
    page = html([record], tmp_path)
    assert "too large &lt;b&gt;" in page
    assert PAPERS["002"].split(",")[0] in page
    assert "http" not in page
    assert "| small | 10 | 10 | 1 | 2 | 8 | 4 |" in markdown([record])
    (tmp_path / "002-table-9.json").write_text("{}")
    with pytest.raises(GaltonError, match=r"002-table-9\.json is not as galton bench writes it"):
        read(tmp_path)


def test_gains_have_no_ratio_and_wrong_rows_say_so() -> None:
    """A gain of 2 beside one of 4 in print was told as twice as good."""
    row = Row(instance="one", printed={"factor": 4.0}, measured={"factor": 2.0}, wrong="values differ")
    found = run(Experiment(name="002-table-9", title="", run=lambda options: [row]), Options())
    assert row.ratios == {}
    assert found.table().splitlines() == ["instance  factor  printed", "one            2        4  values differ"]


def test_wrong_rows_end_the_command_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Experiment(name="002-table-9", title="", run=lambda options: [Row(instance="one", wrong="values differ")])
    monkeypatch.setattr("galton.bench.registry.find", lambda names: [wrong])
    outcome = galton("bench", "002-table-9")
    assert outcome.code == 1
    assert "1 rows are wrong" in outcome.err


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(GaltonError, match="there is nothing in"):
        read(tmp_path)


def test_names_of_experiments() -> None:
    assert [one.name for one in find(["002-table-2", "002-table-1"])] == ["002-table-2", "002-table-1"]
    assert {one.name for one in find(["all"])} == set(all_experiments())
    assert {one.name[:3] for one in find(["002"])} == {"002"}
    with pytest.raises(GaltonError, match="there is no experiment '002-tabel-1'; did you mean '002-table-1'"):
        find(["002-tabel-1"])


def test_a_function_in_a_process_of_its_own() -> None:
    found = measured("galton.bench.questions:answer", 60.0, path=str(MODELS / "die.prism"), constants={},
                     prop="P=? [ F d=6 ]", device="cpu", choices={})  # fmt: skip
    assert found["n"] == 13
    assert found["value"] == pytest.approx(1 / 6)
    assert found["memory_mb"] > 10
    wrong = measured("galton.bench.questions:answer", 60.0, path=str(MODELS / "none.prism"), constants={},
                     prop="P=? [ F d=6 ]", device="cpu", choices={})  # fmt: skip
    assert "none.prism" in wrong["error"]
    assert measured("subprocess:run", 0.5, args=["sleep", "3"]) == {"error": "no answer in 0.5 s"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["002-tabel-1"], "there is no experiment '002-tabel-1'"),
        (["002-table-1", "--sizes", "huge"], "--sizes is small or paper or beyond, and not huge"),
        (["002-table-1", "--against", "spin"], "--against is storm or prism, and not spin"),
    ],
)
def test_slips_on_the_command_line(words: list[str], said: str) -> None:
    outcome = galton("bench", *words)
    assert outcome.code != 0
    assert said in outcome.err


def test_the_command_line_writes_figures_and_a_page(tmp_path: Path) -> None:
    outcome = galton("bench", "002-table-4", "--out", tmp_path, "--models", MODELS)
    assert outcome.code == 0, outcome.err
    assert "002-table-4: tandem" in outcome.out
    record = json.loads((tmp_path / "002-table-4.json").read_text())
    assert all(row["measured"] for row in record["rows"])
    assert galton("bench", "report", tmp_path).code == 0
    assert (tmp_path / "report.html").exists()


@pytest.mark.skipif(not SEEDS.exists(), reason="the papers' figures are not here")
def test_the_printed_figures_are_those_of_the_papers() -> None:
    for table in json.loads(SEEDS.read_text())["tables"]:
        name = f"{table['source'][:3]}-{table['table'].lower().replace(' ', '-')}"
        if table["rows"] and name in _named():
            assert printed(name) == [{key: row.get(key) for key in table["columns"]} for row in table["rows"]]


def _named() -> set[str]:
    data = Path(sys.modules["galton.bench"].__file__ or "").with_name("printed.json")
    return set(json.loads(data.read_text()))
