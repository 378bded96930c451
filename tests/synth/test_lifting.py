"""Parametric DTMCs and MDPs: bounds over boxes hold at every point, checked with ``galton check`` point by point."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from chains import at_point, points_in, value_at

import galton
from galton import synthesize
from galton.lang import GaltonError, Source, parse_model
from galton.synth.api import Synthesis
from galton.synth.parameters import Range, open_parameters
from galton.synth.parametric_mdp import ParametricChoices, parametric_choices

# A message over a channel that loses it; the sender gives up after some tries. Products of one parameter with itself.
CHANNEL = """
dtmc
const double p;
const double q = 0.3;
const double both = p*q;
module sender
  s : [0..3] init 0;
  [] s=0 -> p : (s'=1) + 1-p : (s'=2);
  [] s=1 -> p*p : (s'=3) + 2*p*(1-p) : (s'=1) + (1-p)*(1-p) : (s'=2);
  [] s=2 -> both : (s'=0) + q-both : (s'=1) + 1-q : (s'=2);
endmodule
rewards "tries"
  s=0 : 1;
  [] s=1 : 2+p;
endrewards
"""
# Commands that are enabled together are chosen with equal probability; a state has no way out.
SHARED = """
dtmc
const double p;
const double q;
module m
  s : [0..4] init 0;
  [] s<2 -> p : (s'=s+1) + 1-p : (s'=s+2);
  [] s=1 -> q : (s'=0) + 1-q : (s'=4);
  [] s=2 -> 0.5*(p+q) : (s'=3) + 1-0.5*(p+q) : (s'=1);
endmodule
rewards "tries"
  s<3 : 1;
  [] s=1 : q;
endrewards
"""
GAME = """
mdp
const double p;
const double q;
module m
  s : [0..4] init 0;
  [left] s=0 -> p : (s'=1) + 1-p : (s'=2);
  [right] s=0 -> q : (s'=3) + 1-q : (s'=1);
  [left] s=1 -> p*q : (s'=3) + 1-p*q : (s'=4);
  [right] s=1 -> 0.5 : (s'=0) + 0.5*q : (s'=3) + 0.5*(1-q) : (s'=4);
  [] s=2 -> p : (s'=3) + 1-p : (s'=4);
endmodule
rewards "tries"
  s=0 : 1;
  [right] true : 1+q;
endrewards
"""
SPACE: dict[str, Range] = {"p": (0.1, 0.8), "q": (0.2, 0.9)}
QUESTIONS = [
    "P=? [ F s=3 ]",
    "P=? [ s<2 U s=3 ]",
    "P=? [ F<=5 s=3 ]",
    "P=? [ G<=4 s!=3 ]",
    "P=? [ X s=1 ]",
    'R{"tries"}=? [ C<=6 ]',
    'R{"tries"}=? [ F s>=3 ]',
    'R{"tries"}=? [ S ]',
]


def parametric(text: str, ranges: dict[str, Range] = SPACE) -> ParametricChoices:
    return parametric_choices(open_parameters(parse_model(Source("<text>", text)), {}, ranges))


def check_boxes(text: str, prop: str, seed: int = 0, at_points: str | None = None) -> None:
    asked = Synthesis.prepare(galton.parse(text), prop, SPACE, {}, accuracy=1.0, threads=1).evaluator
    low, high = asked.model.space
    rng = np.random.default_rng(seed)
    boxes = np.sort(rng.uniform(low, high, (4, 2, 2)), axis=1)
    boxes[0] = low, high
    boxes[1, 1] = boxes[1, 0]
    lower, upper = asked.bounds(boxes[:, 0], boxes[:, 1])
    assert upper[1] - lower[1] <= 1e-5 * (1 + upper[1])
    for place, (bottom, top) in enumerate(boxes):
        for point in points_in(tuple(bottom), tuple(top), 3, seed):
            below, above = value_at(text, at_points or prop, dict(zip(SPACE, point, strict=True)))
            assert lower[place] <= above + 1e-8 * (1 + above)
            assert upper[place] >= below - 1e-8 * (1 + below)


@pytest.mark.parametrize("text", [CHANNEL, SHARED, GAME], ids=["channel", "shared", "game"])
def test_same_as_explorer(text: str) -> None:
    found = parametric(text)
    for point in np.random.default_rng(1).uniform(*found.space, (3, 2)):
        mine = found.lifted.at(point, point)
        model = at_point(text, dict(zip(SPACE, point.tolist(), strict=True))).build(device="cpu")
        assert mine is not None
        assert mine.type == model.type
        expected, matrix = model.to_scipy().toarray(), mine.to_scipy().toarray()
        np.testing.assert_allclose(matrix, expected, rtol=1e-12)
        for name, rewards in model.rewards.items():
            for part in ("state", "choice"):
                theirs, own = getattr(rewards, part), getattr(mine.rewards[name], part)
                np.testing.assert_allclose(own, 0.0 if theirs is None else theirs, rtol=1e-12)


@pytest.mark.parametrize("prop", QUESTIONS)
@pytest.mark.parametrize("text", [CHANNEL, SHARED], ids=["channel", "shared"])
def test_chains(text: str, prop: str) -> None:
    if prop.endswith("[ F s>=3 ]") and text is SHARED:
        prop = 'R{"tries"}=? [ F s>=2 ]'
    check_boxes(text, prop)


@pytest.mark.parametrize("optimum", ["min", "max"])
@pytest.mark.parametrize(
    "shape",
    [
        "P{}=? [ F s=3 ]",
        "P{}=? [ s!=2 U s=3 ]",
        'R{{"tries"}}{}=? [ F s>=3 | s=2 ]',
        "P{}=? [ F<=3 s=3 ]",
        "P{}=? [ s!=2 U[1,4] s>=3 ]",
        "P{}=? [ G<=3 s!=3 ]",
        "P{}=? [ s<1 W<=4 s=3 ]",
        "P{}=? [ X s=1 ]",
        'R{{"tries"}}{}=? [ C<=4 ]',
        'R{{"tries"}}{}=? [ I=2 ]',
        'R{{"tries"}}{}=? [ S ]',
    ],
)
def test_mdps(shape: str, optimum: str) -> None:
    check_boxes(GAME, shape.format(optimum), seed=3)


@pytest.mark.parametrize("seed", range(6))
def test_random_mdps_for_some_steps(seed: int) -> None:
    rng = random.Random(seed)
    shapes = [("p", "1-p"), ("p*q", "1-p*q"), ("q", "1-q"), ("0.3", "0.7"), ("p*p", "1-p*p")]
    lines = []
    for state in range(4):
        for _ in range(2):
            one, other = rng.choice(shapes)
            lines.append(f"[] s={state} -> {one} : (s'={rng.randrange(6)}) + {other} : (s'={rng.randrange(6)});")
    body = " ".join([*lines, "[] s=4 -> p*q : true + 1-p*q : true;"])
    rewards = 'rewards "tries" s<4 : 1; [] s=1 : p; endrewards'
    text = f"mdp const double p; const double q; module m s : [0..5]; {body} endmodule {rewards}"
    for optimum in ("min", "max"):
        check_boxes(text, f"P{optimum}=? [ F<=5 s=5 ]", seed)
        check_boxes(text, f"P{optimum}=? [ G<=5 s!=5 ]", seed)
        check_boxes(text, f'R{{"tries"}}{optimum}=? [ C<=5 ]', seed)


def test_strategies_that_change_with_the_steps() -> None:
    """One step is enough for the first choice, two are needed for the better one: none is best for both."""
    text = """
mdp
const double p;
module m
  s : [0..3] init 0;
  [] s=0 -> p : (s'=2) + 1-p : (s'=0);
  [] s=0 -> 0.95 : (s'=1) + 0.05 : (s'=3);
  [] s=1 -> (s'=2);
endmodule
"""
    asked = Synthesis.prepare(galton.parse(text), "Pmax=? [ F<=3 s=2 ]", {"p": (0.4, 0.5)}, {}, accuracy=1.0).evaluator
    lower, upper = asked.bounds(np.array([[0.4]]), np.array([[0.5]]))
    # Three steps: the first choice in each of them, or the second in one of the first two.
    assert lower[0] == pytest.approx(0.4 + 0.6 * 0.95, abs=1e-9)
    assert upper[0] == pytest.approx(0.5 + 0.5 * 0.95, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_random_chains(seed: int) -> None:
    rng = random.Random(seed)
    shapes = [("p", "1-p"), ("p*q", "1-p*q"), ("q", "1-q"), ("0.3", "0.7"), ("p*p", "1-p*p"), ("(1-p)*q", "1-(1-p)*q")]
    lines = []
    for state in range(4):
        one, other = rng.choice(shapes)
        lines.append(f"[] s={state} -> {one} : (s'={rng.randrange(6)}) + {other} : (s'={rng.randrange(6)});")
    body = " ".join([*lines, "[] s=4 -> p*q : true + 1-p*q : true;"])
    text = f"dtmc const double p; const double q; module m s : [0..5]; {body} endmodule"
    check_boxes(text, "P=? [ F s=5 ]", seed)
    check_boxes(text, "P=? [ F<=7 s=5 ]", seed)


def test_affine_rows_are_tight() -> None:
    """One affine row: the bounds are attained at corners."""
    text = "dtmc const double p; module m s : [0..2]; [] s=0 -> p : (s'=1) + 1-p : (s'=2); endmodule"
    asked = Synthesis.prepare(galton.parse(text), "P=? [ F s=1 ]", {"p": (0.2, 0.7)}, {}, accuracy=1.0).evaluator
    lower, upper = asked.bounds(np.array([[0.2]]), np.array([[0.7]]))
    assert (lower[0], upper[0]) == pytest.approx((0.2, 0.7), abs=1e-6)


@pytest.mark.slow
def test_synthesis() -> None:
    regions = synthesize(galton.parse(CHANNEL), "P>=0.6 [ F<=6 s=3 ]", volume=0.1, **SPACE)
    assert regions.complete
    assert regions.true
    assert regions.false
    for box in (*regions.true[:5], *regions.false[:5]):
        value = value_at(CHANNEL, "P=? [ F<=6 s=3 ]", dict(zip(SPACE, box.center, strict=True)))[0]
        assert (value >= 0.6 - 1e-9) == (box.verdict == "true")
    best = synthesize(galton.parse(GAME), "Pmin=? [ F s=3 ]", maximize=True, tolerance=0.05, **SPACE)
    assert best.optimum is not None
    grid = [value_at(GAME, "Pmin=? [ F s=3 ]", {"p": p, "q": q})[0] for p in (0.1, 0.45, 0.8) for q in (0.2, 0.9)]
    assert max(grid) <= best.optimum[1] + 1e-8


def test_zero_and_one_are_allowed_at_the_ends() -> None:
    text = "dtmc const double p; module m s : [0..2]; [] s=0 -> p : (s'=0) + 1-p : (s'=2); endmodule"
    asked = Synthesis.prepare(galton.parse(text), "P=? [ F s=2 ]", {"p": (0.0, 1.0)}, {}, accuracy=1.0).evaluator
    lower, upper = asked.bounds(np.array([[0.0], [0.0], [0.5]]), np.array([[1.0], [0.5], [0.5]]))
    assert lower.tolist() == [0.0, 1.0, 1.0]
    assert upper.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "prop", "told"),
    [
        (CHANNEL.replace("1-q : (s'=2)", "0.7 : (s'=2)"), "P>=0.5 [ F s=3 ]", "sum"),
        (
            CHANNEL.replace("1-q : (s'=2)", "1-0.999999*q : (s'=2)"),
            "P>=0.5 [ F s=3 ]",
            "do not add up to 1 for all values",
        ),
        (
            CHANNEL.replace("s=0 : 1", "s=0 : p"),
            "P>=0.5 [ F s=3 ]",
            "the rewards of states may not depend on parameters",
        ),
        (GAME, "P>=0.5 [ F>=3 s=3 ]", "a bound on steps needs an end in the synthesis of an MDP"),
        (GAME, "P>=0.5 [ F P>=0.5 [ F s=3 ] ]", "operators inside operators are not supported"),
        (CHANNEL, 'R{"none"}>=1 [ F s=3 ]', "unknown reward structure"),
    ],
)
def test_mistakes(text: str, prop: str, told: str) -> None:
    with pytest.raises(GaltonError, match=told):
        synthesize(galton.parse(text), prop, **SPACE)


def test_mdp_needs_an_optimum() -> None:
    asked: dict[str, Any] = {"accuracy": 0.1, **SPACE}
    with pytest.raises(GaltonError, match="an MDP has no single value for P="):
        synthesize(galton.parse(GAME), "P=? [ F s=3 ]", **asked)
