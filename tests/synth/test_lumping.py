"""States that behave alike are one: the same bounds with fewer states, and none lumped that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import galton
from galton.backend.cpu import lumping as core
from galton.synth import lumping
from galton.synth.api import Synthesis
from galton.synth.evaluator import BackwardEvaluator

QUEUE = """
ctmc
const double up;
const double down;
module queue
    n : [0..3] init 0;
    [] n<3 -> up : (n'=n+1);
    [] n>0 -> down*n : (n'=n-1);
endmodule
rewards "waiting"
    true : n;
endrewards
"""
# With a part beside it that neither sees the other: 36 states, of which a question about the first one sees four.
PARTS = f"""{QUEUE}
module lamp
    colour : [0..8] init 0;
    [] true -> 1 + up : (colour'=mod(colour+1, 9));
    [] colour>0 -> 0.3 : (colour'=0);
endmodule
rewards "both"
    true : n + colour;
endrewards
"""
RANGES = {"up": (0.5, 2.0), "down": (1.0, 3.0)}


@pytest.fixture(autouse=True)
def _whatever_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lump also where little is gained: else chains that are lumped wrongly, if by little, would stay as they are."""
    monkeypatch.setattr(lumping, "WORTH_IT", 1.0)


def asked(text: str, prop: str, tmp_path: Any) -> BackwardEvaluator:
    path = tmp_path / "model.prism"
    path.write_text(text)
    found = Synthesis.prepare(path, prop, RANGES, {}, accuracy=1.0 if "=?" in prop else None).evaluator
    assert isinstance(found, BackwardEvaluator)
    return found


@pytest.mark.parametrize(
    "prop",
    [
        "P=? [ F<=2 n=3 ]",
        "P=? [ n<3 U[1,2] n=2 ]",
        'R{"waiting"}=? [ C<=3 ]',
        'R{"waiting"}=? [ I=1 ]',
        "P=? [ F<=1 P>=0.2 [ F<=1 n=3 ] ]",
        "P=? [ G<=1 !(n=3 | P>=0.9 [ F<=1 n=3 ]) ]",
    ],
)
def test_a_part_by_itself(prop: str, tmp_path: Any) -> None:
    whole, alone = asked(PARTS, prop, tmp_path), asked(QUEUE, prop, tmp_path)
    assert (whole.model.n_states, alone.model.n_states) == (4, 4)
    assert whole.model.model.n_states == 36
    low, high = np.array([[0.5, 1.0], [1.0, 1.5], [1.25, 2.0]]), np.array([[2.0, 3.0], [1.5, 2.0], [1.25, 2.0]])
    found, expected = whole.bounds(low, high), alone.bounds(low, high)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-12)


def test_what_a_question_sees_stays(tmp_path: Any) -> None:
    assert asked(PARTS, 'R{"both"}=? [ C<=3 ]', tmp_path).model.n_states == 36
    assert asked(PARTS, "P=? [ F<=2 n=3 & colour=4 ]", tmp_path).model.n_states == 36
    assert asked(PARTS, "P=? [ n<3 U<=2 P>=0.1 [ F<=1 colour=4 ] ]", tmp_path).model.n_states == 36


def test_values_at_points(tmp_path: Any) -> None:
    """Against the model checker, which does not lump."""
    question = asked(PARTS, 'R{"waiting"}=? [ C<=3 ]', tmp_path)
    points = np.random.default_rng(1).uniform([0.5, 1.0], [2.0, 3.0], (8, 2))
    lower, upper = question.bounds(points, points)
    for (up, down), low, high in zip(points, lower, upper, strict=True):
        found = galton.check(galton.parse(PARTS, up=up, down=down), 'R{"waiting"}=? [ C<=3 ]')
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower <= high
        assert low <= found.upper


def test_rates_that_are_sums(tmp_path: Any) -> None:
    """Two ways that together have the same rate in all states, however it is divided."""
    text = """
ctmc
const double up;
const double down;
module m
    n : [0..1] init 0;
    kind : [0..15] init 0;
    [] n=0 -> up*kind : (n'=1) + up*(16-kind) : (n'=1) & (kind'=mod(kind+3, 16));
    [] n=1 -> down : (n'=0) & (kind'=mod(kind+1, 16));
endmodule
"""
    question = asked(text, "P=? [ F[1,1] n=1 ]", tmp_path)
    assert question.model.n_states == 2
    assert sorted(question.model.rates.coefficients.tolist()) == [1.0, 16.0]


def test_rewards_that_differ_in_their_terms_only(tmp_path: Any) -> None:
    text = PARTS + 'rewards "r" colour<5 : up; colour>=5 : down; endrewards'
    question = asked(text, 'R{"r"}=? [ C<=1 ]', tmp_path)
    assert question.model.n_states == 9
    point = np.array([[0.7, 2.5]])
    (lower,), (upper,) = question.bounds(point, point)
    found = galton.check(galton.parse(text, up=0.7, down=2.5), 'R{"r"}=? [ C<=1 ]')
    assert found.value == pytest.approx(lower, rel=1e-6)
    assert found.value == pytest.approx(upper, rel=1e-6)


def test_chains_that_stay_large_are_left_as_they_are(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lumping, "WORTH_IT", 1 / 16)
    assert asked(PARTS, "P=? [ F<=2 n=3 ]", tmp_path).model.representatives is None


def test_hashes_that_collide_change_nothing(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lumped was compared number by number; a collision costs time and no answer."""
    expected = asked(PARTS, "P=? [ F<=2 n=3 ]", tmp_path).bounds(np.array([[0.5, 1.0]]), np.array([[1.0, 2.0]]))
    monkeypatch.setattr(core, "HASH_BITS", 0)
    question = asked(PARTS, "P=? [ F<=2 n=3 ]", tmp_path)
    assert question.model.n_states == 4
    found = question.bounds(np.array([[0.5, 1.0]]), np.array([[1.0, 2.0]]))
    np.testing.assert_array_equal(found, expected)
