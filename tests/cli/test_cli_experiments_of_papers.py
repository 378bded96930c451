"""``galton bench``: experiments by name, in processes of their own, and pages of what came out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import galton

from galton.bench import child
from galton.bench.child import Measurements, measured
from galton.bench.experiment import PAPERS, Experiment, Options, Row, printed
from galton.bench.registry import all_experiments, find
from galton.bench.report import html, markdown, read, readable
from galton.bench.running import machine, run, write
from galton.bench.tables import Column, table_of
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
    assert str(table_of(found.to_json())).splitlines() == [
        "instance   n    printed  ratio  time (s)  printed  ratio",
        "small     10         10      1         2        8      4",
        "large         1,000,000                                   too large <b>",
    ]


def test_what_all_rows_leave_out_is_told_once() -> None:
    rows = [Row(instance=name, measured={"n": 1}, skipped="there is no device") for name in ("one", "two")]
    found = run(Experiment(name="002-table-9", title="", run=lambda options: rows), Options())
    assert str(table_of(found.to_json())).splitlines()[-2:] == ["two       1", "All rows: there is no device"]


def test_a_word_among_numbers_does_not_move_them_to_the_left() -> None:
    """One cell of a paper says o.o.m in a column of seconds."""
    rows = [Row(instance=name, printed={"par_time_s": cell}) for name, cell in (("one", 1386.1), ("two", "o.o.m"))]
    rows[1] = replace(rows[1], skipped="cpu: stopped after 1 s; cuda: none")
    rows[0] = replace(rows[0], skipped="cuda: none")
    found = run(Experiment(name="002-table-9", title="", run=lambda options: rows), Options())
    assert str(table_of(found.to_json())).splitlines() == [
        "instance  device (s), printed",
        "one                      1386",
        "two                     o.o.m  cpu: stopped after 1 s",
        "All rows: cuda: none",
    ]


def test_ratios_are_better_or_worse_for_costs_alone() -> None:
    """More states than in print are not worse, but another model."""
    assert [Column("time_s", "ratio").verdict(ratio) for ratio in (4.0, 1.04, 0.5)] == ["better", "", "worse"]
    assert [Column("n", "ratio").verdict(ratio) for ratio in (4.0, 1.0, 0.5)] == ["unlike", "", "unlike"]


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
    assert "<td class='ratio better'>4" in page
    assert "href='#002-table-9'" in page
    text = markdown([record], tmp_path, tmp_path)
    assert "| small | 10 | 10 | 1 | 2 | 8 | 4 |" in text
    assert "|---|---:|---:|---:|---:|---:|---:|" in text
    assert "`galton bench 002-table-9`" in text
    (tmp_path / "002-table-9.json").write_text("{}")
    assert readable(tmp_path) == []  # what another version wrote does not end a run
    with pytest.raises(GaltonError, match=r"002-table-9\.json is not as galton bench writes it"):
        read(tmp_path)


def test_gains_have_no_ratio_and_wrong_rows_say_so() -> None:
    """A gain of 2 beside one of 4 in print was told as twice as good."""
    row = Row(instance="one", printed={"factor": 4.0}, measured={"factor": 2.0}, wrong="values differ")
    found = run(Experiment(name="002-table-9", title="", run=lambda options: [row]), Options())
    assert row.ratios == {}
    lines = str(table_of(found.to_json())).splitlines()
    assert lines == ["instance  factor  printed", "one            2        4  values differ"]


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
    with pytest.raises(GaltonError, match=r"there is no experiment '002-tabel-1'; did you mean '002-table-1'\?$"):
        find(["002-tabel-1"])
    with pytest.raises(GaltonError, match=r"there is no experiment 'lst'; did you mean 'list'\?"):
        find(["lst"])


def test_a_function_in_a_process_of_its_own() -> None:
    found = measured("galton.bench.questions:answer", Options(), path=str(MODELS / "die.prism"), constants={},
                     prop="P=? [ F d=6 ]", device="cpu", choices={})  # fmt: skip
    assert found["n"] == 13
    assert found["value"] == pytest.approx(1 / 6)
    assert found["memory_mb"] > 10
    wrong = measured("galton.bench.questions:answer", Options(), path=str(MODELS / "none.prism"), constants={},
                     prop="P=? [ F d=6 ]", device="cpu", choices={})  # fmt: skip
    assert "none.prism" in wrong["error"]


SLEEP: dict[str, Any] = {"function": "subprocess:run", "args": ["sleep", "3"]}


def test_a_process_that_takes_too_long_is_stopped_alone() -> None:
    found = measured(options=Options(limit=0.5), **SLEEP)
    assert found == {"error": "stopped after 0.5 s", "stopped_at": 0.5}


def test_a_process_that_takes_all_memory_is_stopped_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter([100.0, 50.0])
    monkeypatch.setattr(child, "available_memory", lambda: next(left, 1.0))
    assert measured(options=Options(), **SLEEP)["error"] == "stopped: it took all memory of the machine"


def test_a_process_that_the_system_ends_says_so() -> None:
    killed = measured("subprocess:run", Options(), args=["sh", "-c", "kill -9 $PPID; sleep 60"])
    assert killed == {"error": "ended by the system, which does so where memory runs out"}
    assert measured("os:abort", Options()) == {"error": "ended by signal 6 (Aborted)"}


def test_an_interrupted_run_goes_on_from_what_it_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def once(function: str, limit: float, arguments: str, *_: Any) -> dict[str, Any]:
        made.append(function)
        return {"error": f"stopped after {limit:g} s", "stopped_at": limit} if function == "slow" else {"seconds": 1.0}

    monkeypatch.setattr(child, "_once", once)
    path, by = tmp_path / "measured.jsonl", {"commit": "abc"}
    first = Options(limit=1.0, measurements=Measurements(path, by=by))
    for function in ("quick", "slow", "quick"):
        measured(function, first)
    assert made == ["quick", "slow"]
    with path.open("a") as file:
        file.write('["cut o')
    for limit, asked in ((1.0, []), (0.5, []), (2.0, ["slow"])):
        made.clear()
        again = Options(limit=limit, measurements=Measurements(path, by=by, resume=True))
        assert measured("quick", again) == {"seconds": 1.0}
        measured("slow", again)
        assert made == asked
    assert len(Measurements(path, by={"commit": "def"}, resume=True)) == 0  # another version measures anew


def test_members_larger_than_one_that_was_stopped_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[dict[str, int]] = []

    def once(function: str, limit: float, arguments: str, *_: Any) -> dict[str, Any]:
        tried.append(json.loads(arguments)["constants"])
        return {"error": "stopped after 9 s", "stopped_at": limit} if tried[-1]["N"] > 3 else {"seconds": 1.0}

    monkeypatch.setattr(child, "_once", once)
    options = Options(limit=9.0)
    members = [{"N": 2, "K": 9}, {"N": 4, "K": 2}, {"N": 4, "K": 4}, {"N": 5, "K": 1}, {"N": 6, "K": 2}]
    found = [measured("ask", options, constants=constants, device="cpu") for constants in members]
    assert tried == [members[0], members[1], members[3]]  # a larger N with a smaller K may be easier
    assert found[2] == {"error": "not tried: N=4,K=2 was stopped after 9 s"}
    assert found[4]["error"].startswith("not tried: ")
    measured("ask", options, constants=members[4], device="cuda")
    assert tried[-1] == members[4]  # elsewhere it may be answered


def test_finished_experiments_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def rows(options: Options) -> Iterator[Row]:
        ran.append("again")
        yield from ROWS
        if len(ran) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("galton.bench.registry.find", lambda names: [replace(EXAMPLE, run=rows)])
    monkeypatch.setattr("galton.bench.report.all_experiments", lambda: {EXAMPLE.name: EXAMPLE})
    words = ["bench", "002-table-9", "--out", tmp_path]
    first = galton(*words)
    assert (first.code, len(ran)) == (0, 1)
    resumed = galton(*words, "--resume")
    assert (resumed.code, len(ran)) == (0, 1)
    assert resumed.out == first.out
    assert galton(*words, "--resume", "--sizes", "paper").code == 130
    record = json.loads((tmp_path / "002-table-9.json").read_text())
    assert record["options"]["sizes"] == "small"  # what was there before the interruption is whole
    assert galton(*words, "--resume", "--sizes", "paper").code == 0
    assert len(ran) == 3
    record = json.loads((tmp_path / "002-table-9.json").read_text())
    assert record["command"] == "galton bench 002-table-9 --sizes paper"
    assert record["machine"] == machine()
    page = (tmp_path / "002-table-9.html").read_text()
    assert "galton bench 002-table-9 --sizes paper" in page
    assert str(machine()["processor"]) in page
    assert "It is made up." in page
    assert "href='002-table-9.html'" in (tmp_path / "index.html").read_text()


def test_resuming_needs_a_folder() -> None:
    outcome = galton("bench", "002-table-1", "--resume")
    assert outcome.code == 2
    assert "--out FOLDER" in outcome.err


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
