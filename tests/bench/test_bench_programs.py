"""Document 000: chains of two randomised programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from played import played_device

import galton
from galton.bench import linear, questions
from galton.bench.experiment import Options, printed
from galton.bench.linear import METHODS, solve
from galton.bench.programs import EXPERIMENTS, GOAL, HEADS, PROGRAMS, OpenStates, die_step, face, measure, sort_step
from galton.bench.running import run, write
from galton.model.errors import NumericError

BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}


def test_quick_sort_sorts() -> None:
    model = galton.Model.from_function(sort_step, (((0, 6),), None), labels={GOAL: lambda state: not state[0]})
    assert galton.check(model, f'P>=1 [ F "{GOAL}" ]').value is True
    # A pivot for each part with two keys or more: 2(n + 1)/3 - 1 on average, for n keys from two on.
    pivots = galton.Model.from_function(
        sort_step,
        (((0, 6),), None),
        labels={GOAL: lambda state: not state[0]},
        rewards={"pivots": lambda state: float(state[1] is not None)},
    )
    assert galton.check(pivots, f'R{{"pivots"}}=? [ F "{GOAL}" ]').value == pytest.approx(2 * 7 / 3 - 1, abs=1e-5)


def test_the_die_is_biased_as_its_coin_is() -> None:
    assert [face(flips) for flips in ("", "11", "000", "111", "110", "111001")] == [0, 0, 0, 0, 6, 1]
    assert die_step("110") == []
    model = PROGRAMS["biased die"].explore(5000)
    again = HEADS**3 + (1 - HEADS) ** 3
    six = HEADS**2 * (1 - HEADS) / (1 - again)
    found = galton.check(model, f'P=? [ F "{GOAL}" ]').upper
    assert found is not None
    assert six - 1e-2 < found <= six + 1e-6


@pytest.mark.parametrize("row", printed("000-table-1"), ids=lambda row: f"{row['algorithm']} {row['n']}")
def test_sizes_are_near_those_printed(row: dict[str, Any]) -> None:
    program = PROGRAMS[row["algorithm"]]
    sizes = OpenStates.of(program.explore(program.parameters[row["n"]])).sizes
    assert sizes["n"] == pytest.approx(row["n"], abs=3)
    assert sizes["m"] == 2 * int(str(sizes["n"])) - 1
    assert 0.85 * row["m"] < int(str(sizes["m"])) < 1.01 * row["m"]


@pytest.mark.parametrize(("program", "parameter"), [("random quick sort", 20), ("biased die", 300)])
def test_the_equations_are_those_of_the_open_states(program: str, parameter: int) -> None:
    model = PROGRAMS[program].explore(parameter)
    found = OpenStates.of(model)
    every_state = model.labels[GOAL].astype(np.float64)
    for _ in range(model.n_states):  # nothing is met twice, but for states that are never left
        every_state = model.matrix @ every_state
    for name in METHODS:
        assert solve(found.system, name, "cpu").x == pytest.approx(every_state[found.states], abs=1e-5)
    others = np.delete(every_state, found.states)
    assert (np.minimum(others, 1 - others) < 1e-12).all()


def test_both_places_find_what_is_proved() -> None:
    given = {"program": "biased die", "parameter": 300, "trials": 2, "methods": list(METHODS), "budget": 60.0}
    with played_device():
        for device in ("cpu", "cuda"):
            found = measure(**given, device=device)
            assert [found[name]["trials"] for name in METHODS] == [2, 2]


def test_another_probability_than_proved_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    right = linear.solve

    def wrong(*arguments: Any) -> linear.Solved:
        found = right(*arguments)
        return linear.Solved(found.x + 0.1, found.seconds, found.products)

    monkeypatch.setattr(linear, "solve", wrong)
    with pytest.raises(NumericError, match="and the probability is"):
        measure("biased die", 300, trials=1, methods=list(METHODS), device="cpu", budget=60.0)


@pytest.mark.slow
def test_table_and_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(questions, "why_no_device", lambda: "there is no CUDA device")
    table = run(BY_NAME["000-table-1"], Options())
    assert [row.printed["n"] for row in table.rows] == [92, 118, 142, 667, 1333, 2000]
    assert all(0.95 < row.ratios["n"] < 1.05 for row in table.rows)
    figure = run(BY_NAME["000-figure-4"], Options(limit=60.0))
    write(figure, tmp_path)
    assert (tmp_path / "000-figure-4.png").exists()
    for row in figure.rows:
        assert float(str(row.measured["Jacobi-Sequential"])) > 0
        assert row.skipped == "CUDA: there is no CUDA device"
