"""Document 004: the instances are those that are printed, and rows say what was measured and what was not."""

from __future__ import annotations

from pathlib import Path

import pytest
from played import played_device

import galton
from galton.bench import decisions, questions
from galton.bench.experiment import Found, Options, Row, printed
from galton.bench.registry import all_experiments
from galton.bench.tables import table_of

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = Options(device="cpu", models=ROOT / "models")
SMALL = [
    (family, example)
    for family in decisions.FAMILIES
    for row in printed(f"004-figure-{family.sequential}")
    if int(str(row["states"])) < 20_000
    for example in [str(row["example"])]
]


def test_there_are_45_instances() -> None:
    tables = [printed(f"004-figure-{family.sequential}") for family in decisions.FAMILIES]
    assert sum(map(len, tables)) == 45
    for family, table in zip(decisions.FAMILIES, tables, strict=True):
        standard = printed(f"004-figure-{family.standard}")
        assert [row["states"] for row in table] == [row["states"] for row in standard]
        found = decisions.members(family, Options(sizes="paper"), family.sequential)
        assert len({tuple(instance.constants.items()) for instance, _ in found}) == len(table)


@pytest.mark.parametrize(("family", "example"), SMALL, ids=[example for _, example in SMALL])
def test_states_and_transitions_are_those_printed(family: decisions.Family, example: str) -> None:
    (row,) = (row for row in printed(f"004-figure-{family.sequential}") if row["example"] == example)
    instance = family.instance(example)
    model = galton.load(OPTIONS.models / f"{instance.question.model}.prism", **instance.constants).build()
    assert (model.n_states, model.n_transitions) == (row["states"], row["transitions"])


def test_every_figure_is_there() -> None:
    names = [name for name in all_experiments() if name.startswith("004")]
    assert names == ["004-facts", *(f"004-figure-{number}" for number in range(12, 33))]
    drawn = [name for name in names if all_experiments()[name].draw]
    assert drawn == [f"004-figure-{number}" for number in (13, 15, 17, 19, 21, 23, 25, 27, 28, 30, 32)]


def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure in this process, where a device may be played."""
    monkeypatch.setattr(questions, "why_no_device", lambda: "")
    monkeypatch.setattr(questions, "measured", lambda function, options, **given: questions.answer(**given))


def measured(name: str, options: Options) -> list[Row]:
    return list(all_experiments()[name].run(options))


def test_a_table_with_a_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here(monkeypatch)
    options = Options(device="cuda", models=OPTIONS.models)
    with played_device():
        rows = measured("004-figure-13", options)
    assert [row.instance for row in rows] == ["coin2_2", "coin2_4", "coin2_6"]
    for row in rows:
        assert row.skipped == ""
        assert row.measured["factor"] == pytest.approx(
            float(str(row.measured["cpu_time_ms"])) / float(str(row.measured["cuda_time_ms"]))
        )
        assert row.measured["shares_of"] == "device"
        parts = [float(str(row.measured[name])) for name in ("build_%", "graph_%", "solve_%")]
        assert sum(parts) == pytest.approx(100)
        assert min(parts) > 0
        assert row.printed["states"] == row.measured["states"]
    experiment = all_experiments()["004-figure-13"]
    assert experiment.draw
    experiment.draw(Found(experiment=experiment, rows=tuple(rows), seconds=0), tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 10_000


@pytest.mark.slow
def test_what_was_not_measured_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here(monkeypatch)
    rows = measured("004-figure-28", OPTIONS)
    assert {row.skipped for row in rows} == {"cuda: --device cpu was asked for"}
    assert not any("factor" in row.measured for row in rows)
    assert all(row.measured["shares_of"] == "processor" for row in rows)
    experiment = all_experiments()["004-figure-28"]
    assert experiment.draw
    experiment.draw(Found(experiment=experiment, rows=tuple(rows), seconds=0), tmp_path / "dots.png")
    assert (tmp_path / "dots.png").stat().st_size > 10_000
    facts = measured("004-facts", OPTIONS)
    assert facts[-1].skipped == "no instance was measured on a device"
    assert facts[0].measured["value"] == pytest.approx(1452 / 784**2)


def test_what_the_graph_tells_alone_takes_no_time_to_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """The analysis of the graph used to count as the step that solves."""
    here(monkeypatch)
    (row,) = measured("004-figure-24", OPTIONS)
    assert row.measured["solve_%"] == 0


def test_a_column_of_the_paper_alone_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a device, the times of the paper's stood below a heading that could be taken for ours."""
    here(monkeypatch)
    experiment = all_experiments()["004-figure-24"]
    found = Found(experiment=experiment, rows=tuple(measured(experiment.name, OPTIONS)), seconds=0)
    titles = table_of(found.to_json()).titles
    assert titles[titles.index("device (ms), printed") + 1] == "factor, printed"


def test_values_that_differ_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"n": 2, "transitions": 3, "seconds": 1.0, "build_s": 0.5, "check_s": 0.5, "solve_s": 0.25}

    def ask(instance: object, options: object, device: str, **choices: object) -> dict[str, object]:
        return {**found, "value": 0.5 if device == "cpu" else 0.51, "placement": {"backend": device, "reason": ""}}

    monkeypatch.setattr(decisions, "ask", ask)
    rows = measured("004-figure-24", Options(device="cuda"))
    assert [row.wrong for row in rows] == ["values differ: 0.5 and 0.51"]
