"""Document 001: the problems at every size, and any number of regions at a time gives the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from played import played_device

from galton.bench import questions, synthesis
from galton.bench.experiment import Cell, Found, Options, Row, printed
from galton.bench.registry import all_experiments
from galton.bench.synth_cases import CASES
from galton.synth.api import Synthesis
from galton.synth.evaluator import BackwardEvaluator, Bundle

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"


def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure in this process."""

    def measured(function: str, options: Options, **given: object) -> dict[str, object]:
        return synthesis.solve(**given)  # type: ignore[arg-type]

    monkeypatch.setattr(questions, "measured", measured)


def rows_of(name: str, options: Options) -> list[Row]:
    return list(all_experiments()[name].run(options))


def test_the_cases_have_the_times_that_are_printed() -> None:
    for table in range(1, 6):
        theirs: dict[str, dict[str, Cell]] = {}
        for row in printed(f"001-table-{table}"):
            theirs.setdefault(str(row["experiment"]), {})[str(row["impl"])] = row["time_s"]
        assert [dict(case.times) for case in CASES if case.table == table] == list(theirs.values())


def test_every_problem_has_a_small_member() -> None:
    for case in CASES:
        small = synthesis.member(case.name, "small")
        assert small is not None
        assert small.constants != case.constants
        assert small.tolerance > case.tolerance
        assert synthesis.member(case.name, "paper") is case
    assert synthesis.member("SIR (100,120)", "beyond") is None


def test_rows_beside_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"seconds": 2.0, "regions": 5, "looked_at": 9, "steps": 99, "complete": True}

    def measured(function: str, options: Options, **given: object) -> dict[str, object]:
        assert (given["name"], given["sizes"]) == ("approximate majority", "paper")
        return {**found, "placement": {"backend": "cpu"}}

    monkeypatch.setattr(questions, "measured", measured)
    rows = rows_of("001-table-4", Options(device="cpu", sizes="paper", models=MODELS))
    programs = [row.instance.partition(": ")[2] for row in rows]
    assert programs == ["one core", "Csr1", "Csr4", "Csr16", "Csr64", "Csr128", "Ell128", "by itself"]
    first, *device, last = rows
    assert first.printed == {"time_s": 1097, "speedup": 1.0, "regions": 911}
    assert first.measured["speedup"] == 1
    assert {row.skipped for row in device} == {"--device cpu was asked for"}
    assert last.printed == {}
    assert last.measured["regions"] == first.measured["regions"]


def test_programs_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    here(monkeypatch)
    monkeypatch.setattr(questions, "why_no_device", lambda: "")
    tiny = "least=29,most=31,usual=30,steep=4,signal=15,helped=true"
    monkeypatch.setitem(synthesis.OTHER_MEMBERS, "small", {"signalling": tiny})
    case = next(case for case in CASES if case.name == "signalling")
    with played_device():
        cells: list[dict[str, Cell]] = [
            {"impl": name, "time_s": 1, "speedup": 1.0} for name in ("Java", "Csr4", "Ell16")
        ]
        rows = list(synthesis._programs(case, "small", cells, Options(device="cuda", models=MODELS)))
    assert [row.skipped for row in rows] == [""] * 4
    assert [row.measured["device"] for row in rows] == ["cpu", "cuda", "cuda", "cuda"]
    assert len({row.measured["regions"] for row in rows}) == 1


CHAIN = """ctmc  const double k;  const double l;
module m  s : [0..4];  [] s<4 -> k : (s'=s+1);  [] s>0 -> l : (s'=s-1);  endmodule"""


@pytest.mark.parametrize(("device", "together"), [("cpu", 1), ("cpu", 3), ("cuda", 1), ("cuda", 3), ("cuda", 16)])
def test_so_many_regions_go_together(
    device: str, together: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "chain.prism").write_text(CHAIN)
    sizes = []
    operator = BackwardEvaluator._operator

    def counted(self: BackwardEvaluator, formula: object, bundle: Bundle, watched: object) -> object:
        sizes.append(bundle.size)
        return operator(self, formula, bundle, watched)  # type: ignore[arg-type]

    ranges = {"k": (0.1, 2.0), "l": (0.1, 2.0)}
    given = (tmp_path / "chain.prism", "P>=0.5 [ F<=2 s=4 ]", ranges, {})
    usual = Synthesis.prepare(*given, tolerance=0.02, device="cpu", threads=1).run()
    monkeypatch.setattr(BackwardEvaluator, "_operator", counted)
    with played_device():
        regions = Synthesis.prepare(*given, tolerance=0.02, device=device, together=together, threads=1).run()
    assert regions.placement
    assert regions.placement.backend == device
    assert max(sizes) == together
    assert [box.low for box in regions.boxes] == [box.low for box in usual.boxes]


def test_where_regions_are_true_or_best() -> None:
    boxes = [([0.5], [1.0], 0.1, 0.2, "false"), ([1.0], [1.5], 0.4, 0.6, "undecided"), ([1.5], [2.0], 0.7, 0.9, "true")]
    assert synthesis.where(boxes) == {"true_from": 1.5}
    assert synthesis.where(boxes[:2]) == {"true_from": None}
    assert synthesis.where(boxes[2:]) == {"true_from": 1.5}
    best = [
        ([0.5], [1.0], 0.1, 0.2, "excluded"),
        ([1.0], [1.25], 0.4, 0.4, "optimal"),
        ([1.25], [2.0], 0, 0.4, "optimal"),
    ]
    assert synthesis.where(best) == {"best_from": 1.0, "best_to": 2.0}


@pytest.mark.slow
def test_the_figure_is_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here(monkeypatch)
    monkeypatch.setitem(synthesis.OTHER_MEMBERS, "small", dict.fromkeys(synthesis.PANELS, "M=12,copies=3"))
    rows = rows_of("001-figure-3", Options(device="cpu", models=MODELS))
    assert [row.instance for row in rows] == list(synthesis.PANELS)
    assert all(len(row.data["boxes"]) == row.measured["regions"] for row in rows)
    experiment = all_experiments()["001-figure-3"]
    assert experiment.draw
    experiment.draw(Found(experiment=experiment, rows=tuple(rows), seconds=0), tmp_path / "boxes.png")
    assert (tmp_path / "boxes.png").stat().st_size > 10_000
