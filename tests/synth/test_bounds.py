"""Bounds over a box hold at every point of it: checked point by point with ``galton check``."""

from __future__ import annotations

import numpy as np
import pytest
from chains import PLANT, SPACE, asked_of, points_in, random_chain, value_at

QUESTIONS = [
    "P=? [ F<=2 {goal} ]",
    "P=? [ F[0.5,1.5] {goal} ]",
    "P=? [ F[1,1] {goal} ]",
    "P=? [ {through} U<=3 {goal} ]",
    "P=? [ {through} U[1,2] {goal} ]",
    "P=? [ G<=1 !{goal} ]",
    "P=? [ G[0.5,1] !{goal} ]",
    "P=? [ {through} W<=2 {goal} ]",
    'R{{"{reward}"}}=? [ C<=2 ]',
    'R{{"{reward}"}}=? [ I=1.5 ]',
]
NESTED = [
    "P=? [ F<=2 P>=0.3 [ F<=1 {goal} ] ]",
    "P=? [ P<0.6 [ F<=1 {goal} ] U<=2 {goal} ]",
    "P=? [ F[1,2] (P>0.2 [ F<=1 {goal} ] & !({goal})) ]",
    'P=? [ G<=1 R{{"{reward}"}}<=2 [ C<=1 ] ]',
]


def check_boxes(text: str, ranges: dict[str, tuple[float, float]], prop: str, seed: int, slack: float = 1e-9) -> None:
    """Boxes of several sizes: the whole space, pieces of it, single points."""
    asked = asked_of(text, prop, ranges)
    low, high = asked.model.space
    rng = np.random.default_rng(seed)
    corners = np.sort(rng.uniform(low, high, (6, 2, len(low))), axis=1)
    middle = np.repeat(rng.uniform(low, high, (2, 1, len(low))), 2, axis=1)
    boxes = np.concatenate([[np.stack([low, high])], corners, middle])
    lower, upper = asked.bounds(boxes[:, 0], boxes[:, 1])
    assert (lower <= upper).all()
    assert (upper[-2:] - lower[-2:] <= 1e-8 * (1 + upper[-2:])).all()
    for place, (bottom, top) in enumerate(boxes):
        for point in points_in(tuple(bottom), tuple(top), 2, seed):
            below, above = value_at(text, prop, dict(zip(ranges, point, strict=True)))
            assert lower[place] <= above + slack * (1 + above)
            assert upper[place] >= below - slack * (1 + below)


@pytest.mark.parametrize("shape", QUESTIONS)
def test_plant(shape: str) -> None:
    prop = shape.format(goal='"busy"', through="(x<3)", reward="cost")
    check_boxes(PLANT, SPACE, prop, 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", QUESTIONS)
def test_random_chains(shape: str, seed: int) -> None:
    text, ranges = random_chain(seed)
    check_boxes(text, ranges, shape.format(goal="s=2", through="(s<2)", reward="r"), seed)


@pytest.mark.parametrize("shape", NESTED)
@pytest.mark.parametrize("seed", range(3))
def test_nested(shape: str, seed: int) -> None:
    text, ranges = random_chain(seed)
    asked = asked_of(text, shape.format(goal="s=2", reward="r"), ranges)
    low, high = asked.model.space
    rng = np.random.default_rng(seed)
    boxes = np.sort(rng.uniform(low, high, (9, 2, len(low))), axis=1)
    boxes[0] = low, high
    lower, upper = asked.bounds(boxes[:, 0], boxes[:, 1])
    for place, (bottom, top) in enumerate(boxes):
        for point in points_in(tuple(bottom), tuple(top), 2, seed):
            below, above = value_at(text, asked_text(shape), dict(zip(ranges, point, strict=True)))
            assert lower[place] <= above + 1e-9
            assert upper[place] >= below - 1e-9


def asked_text(shape: str) -> str:
    return shape.format(goal="s=2", reward="r")


def test_one_state_by_hand() -> None:
    """1 - exp(-k) over an interval of k is known exactly, as each state has one transition."""
    text = "ctmc const double k; module m s : [0..1]; [] s=0 -> k : (s'=1); endmodule"
    asked = asked_of(text, "P=? [ F<=1 s=1 ]", {"k": (0.5, 2.0)})
    lower, upper = asked.bounds(np.array([[0.5]]), np.array([[2.0]]))
    assert lower[0] == pytest.approx(1 - np.exp(-0.5), abs=1e-9)
    assert upper[0] == pytest.approx(1 - np.exp(-2.0), abs=1e-9)
    assert lower[0] <= 1 - np.exp(-0.5)
    assert upper[0] >= 1 - np.exp(-2.0)


def test_transitions_of_a_state_share_their_parameter() -> None:
    """Both transitions have the same rate, whatever it is, so each is taken in half of all cases."""
    text = "ctmc const double k; module m s : [0..2]; [] s=0 -> k : (s'=1) + k : (s'=2); endmodule"
    asked = asked_of(text, "P=? [ F[50,50] s=1 ]", {"k": (1.0, 4.0)})
    lower, upper = asked.bounds(np.array([[1.0]]), np.array([[4.0]]))
    assert lower[0] == pytest.approx(0.5, abs=1e-6)
    assert upper[0] == pytest.approx(0.5, abs=1e-6)


def test_negative_parameters() -> None:
    text = "ctmc const double k; module m s : [0..1]; [] s=0 -> -k : (s'=1); endmodule"
    lower, upper = asked_of(text, "P=? [ F<=1 s=1 ]", {"k": (-2.0, -0.5)}).bounds(
        np.array([[-2.0]]), np.array([[-0.5]])
    )
    assert lower[0] == pytest.approx(1 - np.exp(-0.5), abs=1e-9)
    assert upper[0] == pytest.approx(1 - np.exp(-2.0), abs=1e-9)


def test_long_horizons_end_early() -> None:
    text = "ctmc const double k; module m s : [0..2]; [] s=0 -> k : (s'=1) + 1 : (s'=2); endmodule"
    asked = asked_of(text, "P=? [ F<=100000 s=1 ]", {"k": (0.5, 2.0)})
    lower, upper = asked.bounds(np.array([[1.0], [0.5]]), np.array([[1.0], [2.0]]))
    assert asked.steps < 10_000
    assert lower[0] <= 0.5 <= upper[0]
    assert upper[0] - lower[0] < 1e-7
    assert lower[1] <= 1 / 3
    assert upper[1] >= 2 / 3


def test_threads_make_no_difference() -> None:
    found = []
    for threads in (1, 3):
        asked = asked_of(PLANT, 'P=? [ F<=2 "busy" ]', SPACE, threads=threads)
        low, high = asked.model.space
        rng = np.random.default_rng(3)
        boxes = np.sort(rng.uniform(low, high, (40, 2, 2)), axis=1)
        found.append(np.array(asked.bounds(boxes[:, 0], boxes[:, 1])))
    assert (found[0] == found[1]).all()
