"""Document 000: random matrices, and equations Mx = c solved by the methods for chains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from played import played_device
from scipy.sparse import csr_array
from scipy.sparse.linalg import spsolve

from galton.backend.formats import FORMATS
from galton.bench import implementations, questions
from galton.bench.experiment import Options, printed
from galton.bench.implementations import IMPLEMENTATIONS
from galton.bench.linear import ERROR, METHODS, LinearSystem, series, solve
from galton.bench.matrices import EXPERIMENTS, LARGEST, measure, random_system
from galton.bench.running import run, write
from galton.device.arrays import on_host
from galton.device.moving import moved
from galton.model.errors import NumericError
from galton.solve.methods import method
from galton.solve.settings import Settings

BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}


@pytest.mark.parametrize(("n", "entries"), [(50, 50), (92, 211), (30, 900), (400, 16_000)])
def test_random_systems_are_as_the_paper_says(n: int, entries: int) -> None:
    system = random_system(n, entries, 7)
    matrix, diagonal = system.matrix, system.matrix.diagonal()
    assert (matrix.shape, matrix.nnz) == ((n, n), entries)
    assert (matrix.data > 0).all()
    assert np.array_equal(matrix.data, np.rint(matrix.data))
    surplus = 2 * diagonal - matrix.sum(axis=1)
    assert surplus.min() >= 1
    assert surplus.max() <= LARGEST
    assert (system.right < 0).any()
    assert np.array_equal(system.right, np.rint(system.right))


def test_trials_differ_and_can_be_made_again() -> None:
    first, again, other = (random_system(40, 200, seed) for seed in (0, 0, 1))
    assert (first.matrix != again.matrix).nnz == 0
    assert np.array_equal(first.right, again.right)
    assert (first.matrix != other.matrix).nnz > 0


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("n", "entries"), [(1, 1), (92, 211), (300, 9000)])
def test_solutions_are_those_of_a_direct_solver(name: str, n: int, entries: int) -> None:
    system = random_system(n, entries, 3)
    found = solve(system, name, "cpu")
    assert abs(found.x - np.atleast_1d(spsolve(system.matrix.tocsc(), system.right))).max() <= 2 * ERROR
    assert abs(system.matrix @ found.x - system.right).max() <= 1.01 * ERROR


@pytest.mark.parametrize("name", METHODS)
def test_a_device_finds_the_same(name: str) -> None:
    with played_device():
        for system in (random_system(92, 211, 0), random_system(300, 9000, 0)):
            there = solve(system, name, "cuda")
            here = solve(system, name, "cpu")
            assert abs(there.x - here.x).max() <= 2 * ERROR
            # A device looks after every eighth step of BiCGStab, of two products each.
            assert there.products == pytest.approx(here.products, abs=4 if name == "jacobi" else 4 + 2 * 8)


@pytest.mark.parametrize("format", FORMATS)
def test_negative_numbers_are_right_in_every_format_of_a_device(format: str) -> None:
    system = random_system(92, 500, 0)
    with played_device() as cupy:
        there = moved(replace(system.equations, format=format), cupy.asarray)
        found = method("jacobi").solve(there, Settings(eps=system.eps, relative=False))
        system.check(on_host(found.lower))


def test_what_is_no_solution_is_an_error_and_not_a_time() -> None:
    system = random_system(20, 60, 0)
    x = solve(system, "jacobi", "cpu").x
    system.check(x)
    x[3] += 1e-5
    with pytest.raises(NumericError, match="an equation is off by"):
        system.check(x)
    with pytest.raises(NumericError, match="an equation is off by nan"):
        system.check(x * np.nan)


def test_a_method_that_fails_is_said_and_the_other_counts() -> None:
    swinging = LinearSystem(csr_array(np.array([[1.0, 2.0], [3.0, 1.0]])), np.array([1.0, 1.0]))
    found = series(lambda: [swinging, swinging], METHODS, "cpu", 60.0)
    assert "diverges" in found["jacobi"]["error"]
    assert found["bicgstab"]["trials"] == 2


def test_trials_end_when_time_is_up() -> None:
    found = measure(50, 200, trials=5, methods=list(METHODS), device="cpu", budget=0.0)
    assert [found[name]["trials"] for name in METHODS] == [1, 1]
    assert found["jacobi"]["deviation"] is None
    whole = measure(50, 200, trials=5, methods=list(METHODS), device="cpu", budget=60.0)
    assert whole["jacobi"]["trials"] == 5
    assert whole["jacobi"]["deviation"] >= 0
    assert whole["seconds"] == whole["jacobi"]["mean"] + whole["bicgstab"]["mean"]


def in_this_process(function: str, options: Options, **arguments: Any) -> dict[str, Any]:
    assert function == "galton.bench.matrices:measure"
    seconds = {"cpu": 2.0, "cuda": 1.0}[arguments["device"]]
    one = {"deviation": 0.1, "products": 10.0, "trials": arguments["trials"]}
    both = {"jacobi": {**one, "mean": seconds}, "bicgstab": {**one, "mean": 4 * seconds}}
    return {"seconds": seconds, **{name: both[name] for name in arguments["methods"]}}


def test_all_four_are_compared_and_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(implementations, "measured", in_this_process)
    monkeypatch.setattr(questions, "why_no_device", lambda: "")
    for name, experiment in BY_NAME.items():
        found = run(experiment, Options(sizes="paper"))
        write(found, tmp_path)
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        for row in found.rows:
            assert row.measured["BiC-CUDA"] == 4.0
            assert ("Jacobi-CUDA" in row.measured) == (name != "000-figure-3")
            assert not row.skipped
    rows = run(BY_NAME["000-figure-7"], Options(sizes="paper")).rows
    table = [row for row in printed("000-table-1") if row["algorithm"] == "biased die"]
    assert [(row.measured["n"], row.measured["m"]) for row in rows] == [(row["n"], row["m"]) for row in table]
    assert rows[0].measured["BiC-Sequential trials"] == 40
    assert (rows[0].printed["fastest"], rows[0].measured["fastest"]) == ("Jacobi-CUDA", "Jacobi-CUDA")
    assert (rows[0].printed["slowest"], rows[0].measured["slowest"]) == ("BiC-CUDA", "BiC-Sequential")


def test_a_method_that_takes_too_long_does_not_lose_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(function: str, options: Options, **arguments: Any) -> dict[str, Any]:
        if "jacobi" in arguments["methods"]:
            return {"error": "stopped after 300 s"}
        return in_this_process(function, options, **arguments)

    monkeypatch.setattr(implementations, "measured", slow)
    (alone, *_) = run(BY_NAME["000-figure-3"], Options(sizes="paper", device="cpu")).rows
    assert alone.skipped == "CUDA: --device cpu was asked for"  # Jacobi's method is not asked
    row = run(BY_NAME["000-figure-2"], Options(sizes="paper", device="cpu")).rows[-1]
    assert row.skipped == "CUDA: --device cpu was asked for; Jacobi-Sequential: stopped after 300 s"
    assert row.measured["BiC-Sequential"] == 8.0


@pytest.mark.slow
def test_without_a_device_half_is_measured_and_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(questions, "why_no_device", lambda: "there is no CUDA device")
    experiment = BY_NAME["000-figure-6"]
    found = run(experiment, Options(limit=60.0))
    write(found, tmp_path)
    assert len(found.rows) == 3
    for row in found.rows:
        assert row.skipped == "CUDA: there is no CUDA device"
        assert [name for name in IMPLEMENTATIONS if name in row.measured] == ["BiC-Sequential", "Jacobi-Sequential"]
        assert "fastest" not in row.printed
    on_request = run(experiment, Options(limit=60.0, device="cpu"))
    assert {row.skipped for row in on_request.rows} == {"CUDA: --device cpu was asked for"}
