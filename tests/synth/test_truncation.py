"""States that are unlikely to be visited are left out, and what that can change is part of the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import galton
from galton.synth import evaluator, truncation
from galton.synth.api import Synthesis
from galton.synth.evaluator import BackwardEvaluator

# Machines that seldom fail: with many of them down, which hardly happens, they are repaired the fastest.
FAULTS = """
ctmc
const double fail;
const double repair;
const int n = 60;
module machines
    down : [0..n] init 0;
    [] down<n -> fail*(n-down) : (down'=down+1);
    [] down>0 -> repair*down*down : (down'=down-1);
endmodule
rewards "lost"
    true : down;
    [] down>0 : 2;
endrewards
"""
RANGES = {"fail": (0.01, 0.02), "repair": (0.5, 1.0)}
QUESTIONS = [
    "P=? [ F<=20 down=4 ]",
    "P=? [ down<5 U[10,20] down=2 ]",
    "P=? [ G<=10 down<4 ]",
    "P=? [ F[15,15] down=0 ]",
    'R{"lost"}=? [ C<=20 ]',
    'R{"lost"}=? [ I=20 ]',
]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window wherever there can be one."""
    monkeypatch.setattr(evaluator, "WORTH_TRUNCATING", 0.0)
    monkeypatch.setattr(truncation, "WORTH_IT", 0.5)


def asked(prop: str, tmp_path: Any, **options: Any) -> BackwardEvaluator:
    path = tmp_path / "faults.prism"
    path.write_text(FAULTS)
    options = options or {"accuracy": 0.05}
    found = Synthesis.prepare(path, prop, RANGES, {}, **options).evaluator
    assert isinstance(found, BackwardEvaluator)
    return found


def values(prop: str, points: np.ndarray) -> list[Any]:
    return [galton.check(galton.parse(FAULTS, fail=f, repair=r), prop) for f, r in points.tolist()]


@pytest.mark.parametrize("prop", QUESTIONS)
@pytest.mark.usefixtures("always")
def test_bounds_hold_and_are_close(prop: str, tmp_path: Any) -> None:
    question = asked(prop, tmp_path)
    assert question.model.n_states < 25
    assert 0 < question._unlikely < 5e-5
    points = np.random.default_rng(2).uniform([0.01, 0.5], [0.02, 1.0], (6, 2))
    lower, upper = question.bounds(points, points)
    for found, low, high in zip(values(prop, points), lower, upper, strict=True):
        assert low <= found.upper
        assert found.lower <= high
    assert (upper - lower < 1e-4).all()


@pytest.mark.parametrize("prop", QUESTIONS)
@pytest.mark.usefixtures("always")
def test_a_bad_guess_costs_width_and_nothing_else(prop: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the window is, the truth is between the bounds."""

    def few(model: Any, _: float) -> Any:
        return np.arange(model.n_states) < 3

    monkeypatch.setattr(evaluator, "likely_states", few)
    question = asked(prop, tmp_path, accuracy=1e9)
    assert question.model.n_states == 4
    points = np.random.default_rng(3).uniform([0.01, 0.5], [0.02, 1.0], (4, 2))
    box_low, box_high = np.array([[0.01, 0.5]]), np.array([[0.02, 1.0]])
    lower, upper = question.bounds(np.concatenate([points, box_low]), np.concatenate([points, box_high]))
    for number, found in enumerate(values(prop, points)):
        assert lower[number] <= found.upper
        assert found.lower <= upper[number]
        assert lower[-1] <= found.upper
        assert found.lower <= upper[-1]
    assert asked(prop, tmp_path, accuracy=1e-3).model.n_states == 61  # too much would be left out


@pytest.mark.usefixtures("always")
def test_not_where_bounds_have_to_be_closer(tmp_path: Any) -> None:
    assert asked(QUESTIONS[0], tmp_path, accuracy=1e-9).model.n_states == 61


@pytest.mark.usefixtures("always")
def test_not_for_operators_inside_operators(tmp_path: Any) -> None:
    assert asked("P=? [ F<=1 P>=0.5 [ F<=1 down>=2 ] ]", tmp_path).model.n_states == 61


def test_not_for_small_models(tmp_path: Any) -> None:
    assert asked(QUESTIONS[0], tmp_path).model.n_states == 61


@pytest.mark.usefixtures("always")
def test_the_same_regions(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    prop = "P>=0.4 [ F<=20 down=4 ]"

    def regions() -> Any:
        return galton.synthesize(galton.parse(FAULTS), prop, volume=0.05, **RANGES)

    assert asked(prop, tmp_path, tolerance=0.05).model.n_states < 25
    found = regions()
    monkeypatch.setattr(evaluator, "WORTH_TRUNCATING", np.inf)
    expected = regions()
    assert len(expected.true) > 1
    assert len(expected.false) > 1
    assert [box.verdict for box in found.boxes] == [box.verdict for box in expected.boxes]
