"""Document 003: what formats take on a device, by its layouts and as counted on the host, and solving in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from played import played_device

import galton
from galton.backend.protocol import Span
from galton.bench import layouts
from galton.bench.experiment import Options
from galton.bench.families import FAMILIES
from galton.bench.questions import Instance
from galton.bench.storage import bytes_needed
from galton.model.errors import NumericError

MODELS = Path(__file__).parents[2] / "models"
FORMATS = ["csr", "sliced", "half-sliced", "segmented"]
SIZES = {"herman": 5, "tandem": 5, "kanban": 1, "fms": 1, "polling": 4}  # Jacobi settles for no small cluster


def laid_out(family: str, device: str, *, compact: bool) -> dict[str, Any]:
    constants = {FAMILIES[family].constant: SIZES[family]}
    return layouts.laid_out(
        str(MODELS / f"{family}.prism"), constants, compact, FORMATS, ["canonical", "bfs"], device, 1
    )


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("family", SIZES)
def test_bytes_counted_on_the_host_are_those_of_a_device(family: str, compact: bool) -> None:
    host = laid_out(family, "cpu", compact=compact)
    with played_device():
        device = laid_out(family, "cuda", compact=compact)
    assert (host["placement"], device["placement"]) == ("cpu", "cuda")
    cells = [f"{form} {order}" for form in FORMATS for order in ("canonical", "bfs")]
    assert {cell: host[cell]["bytes"] for cell in cells} == {cell: device[cell]["bytes"] for cell in cells}
    sweeps = [device[cell]["sweeps"] for cell in cells]
    assert max(sweeps) - min(sweeps) <= 1  # the sums of rows are rounded in different orders
    assert abs(host["csr canonical"]["sweeps"] - sweeps[0]) <= 1


@pytest.mark.parametrize("family", SIZES)
def test_equations_in_both_orders_have_the_answer_of_the_question(family: str) -> None:
    question = FAMILIES[family]
    model = galton.load(MODELS / f"{family}.prism", **{question.constant: SIZES[family]}).build(device="cpu")
    known = galton.check(model, question.prop, settings=galton.Settings(method=question.method))
    sweeps = max(step.iterations for step in known.work)
    for order in ("canonical", "bfs"):
        equations, start = layouts.equations_of(model, question, order)
        found = layouts._solved(equations, start, question, equations.system, 1)
        assert abs(found["sweeps"] - sweeps) <= 1
    canonical, _ = layouts.equations_of(model, question, "canonical")
    assert sorted(np.diff(equations.starts)) == sorted(np.diff(canonical.starts))


def test_plain_values_take_more_bytes_than_codes() -> None:
    plain, codes = (laid_out("herman", "cpu", compact=compact) for compact in (False, True))
    for form in FORMATS:
        assert plain[f"{form} canonical"]["bytes"] > codes[f"{form} canonical"]["bytes"]


def test_bytes_that_can_be_counted_by_hand() -> None:
    model = galton.load(MODELS / "herman.prism", N=3).build(device="cpu")
    equations, _ = layouts.equations_of(model, FAMILIES["herman"], "canonical")
    assert equations.columns.tolist() == [1, 0]  # 000 and 111 lead to each other, and have a constant
    # A slice of 32 rows with two lines, or of 16 with one; two starts; a column and a number in each place.
    assert bytes_needed(equations, "sliced", compact=False) == 2 * 4 + 2 * 32 * (4 + 8)
    assert bytes_needed(equations, "half-sliced", compact=False) == 2 * 4 + 32 * (4 + 8)
    # Codes of a byte for 0, the constant and the entry, which are the same in both rows.
    assert bytes_needed(equations, "half-sliced", compact=True) == 2 * 4 + 32 * (4 + 1) + 3 * 8


def test_a_row_for_each_format_and_order_with_what_is_printed() -> None:
    rows = [row for row in printed_rows("003-table-3") if row.instance.startswith("cluster 320")]
    assert [row.instance for row in rows] == [f"cluster 320 {name}" for name in ("WL", "HWL", "WL BFS", "HWL BFS")]
    assert [row.printed for row in rows] == [
        {"mem_mb": 372, "time_s": 21.47, "factor": 2.12},
        {"mem_mb": 386, "time_s": 26.52},
        {"mem_mb": 320, "time_s": 18.35, "factor": 2.48},
        {"mem_mb": 434, "time_s": 25.5},
    ]


def printed_rows(name: str) -> list[Any]:
    """The rows of a table at the paper's sizes, where nothing is measured."""
    (experiment,) = (one for one in layouts.EXPERIMENTS if one.name == name)
    with patch.object(layouts, "formats_of", lambda *given, **more: {"error": "not here"}):
        rows = list(experiment.run(Options(sizes="paper", device="cpu")))
    assert {row.skipped for row in rows} == {"not here"}
    return rows


def test_times_of_a_device_and_of_the_cpu_are_not_mixed_up() -> None:
    cell = {"bytes": 2**20 - 32, "size": 2, "solve_s": 0.5}
    found = {"csr canonical": {**cell, "solve_s": 1.0}, "csr bfs": cell, "placement": "cuda", "reason": "asked for"}
    row = layouts._row("tandem", {}, found, "csr bfs")
    assert row.measured == {"bytes": 2**20 - 32, "mem_mb": 1.0, "time_s": 0.5, "our_factor": 2.0}
    on_cpu = layouts._row("tandem", {}, {**found, "placement": "cpu"}, "csr bfs")
    assert on_cpu.measured == {"bytes": 2**20 - 32, "mem_mb": 1.0, "cpu_time_s": 0.5, "our_cpu_factor": 2.0}
    assert on_cpu.skipped


@pytest.mark.parametrize(
    ("device", "missing", "sizes", "meant"),
    [
        ("auto", "there is none", "small", ("cpu", 3)),
        ("auto", "there is none", "paper", ("cpu", 0)),
        ("cuda", "there is none", "paper", ("cpu", 0)),
        ("auto", "", "paper", ("cuda", 3)),
        ("cuda:1", "", "small", ("cuda:1", 3)),
        ("cpu", "", "small", ("cpu", 3)),
    ],
)
def test_where_formats_are_measured(device: str, missing: str, sizes: Any, meant: tuple[str, int]) -> None:
    """Without a device bytes are counted all the same, and large instances are not solved on the CPU."""
    instance = Instance(FAMILIES["tandem"], 5)
    with (
        patch.object(layouts, "measured", lambda *given, device, times, **more: (device, times)),
        patch("galton.bench.questions.why_no_device", lambda: missing),
    ):
        options = Options(device=device, sizes=sizes, repeat=3)
        assert layouts.formats_of(instance, options, ["csr"], ["bfs"], compact=True) == meant


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_that_holds_other_numbers_is_refused(form: str) -> None:
    """Times of sweeps over the wrong matrix look like any others; the rows as they were made tell."""

    def solved() -> dict[str, Any]:
        given = (str(MODELS / "herman.prism"), {"N": 5}, False, [form], ["canonical"], "cuda", 1)
        cell: dict[str, Any] = layouts.laid_out(*given)[f"{form} canonical"]
        return cell

    with played_device():
        from galton.backend.cuda import layout

        lay_out = layout.lay_out

        def slip(rows: Any, *given: Any, **more: Any) -> Any:
            """All numbers of the matrix a hundredth too small."""
            return lay_out(replace(rows, codes=0.99 * rows.codes), *given, **more)

        assert solved()["sweeps"] > 1
        with patch.object(layout, "lay_out", slip), pytest.raises(NumericError, match="an equation is off by"):
            solved()


def test_a_state_too_rare_for_doubles_does_not_make_a_solution_wrong() -> None:
    """tandem 1023 has states of probability 1e-400: their unknowns are 0, and no part of 0 is small."""
    queue = galton.parse(
        "ctmc module q x : [0..150] init 0; [] x<150 -> 1 : (x'=x+1); [] x>0 -> 1000 : (x'=x-1); endmodule"
    )
    question = FAMILIES["tandem"]
    equations, start = layouts.equations_of(queue.build(device="cpu"), question, "canonical")
    x = 1000.0 ** -np.arange(151.0)
    span = Span(0, 151, 1)
    assert start is not None
    assert x[-1] == 0.0
    assert layouts._largest_defect(equations, x, span) < 1e-12
    assert layouts._largest_defect(equations, np.where(np.arange(151) == 7, 2 * x, x), span) > 0.1
