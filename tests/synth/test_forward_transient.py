"""Bounds forward from the initial state: they hold at every point of a box, as those backward do."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from chains import PLANT, SPACE, asked_of, parametric, points_in, random_chain, value_at
from scipy.linalg import expm
from test_bounds import NESTED, QUESTIONS

import galton
from galton import synthesize
from galton.backend.cpu.regions import LANES
from galton.lang import GaltonError
from galton.synth.forward_transient import ForwardRows, Mass, moved
from galton.synth.parametric_ctmc import ParametricModel

Floats = npt.NDArray[np.float64]
ROUNDED = 1e-13  # rates at a point are rounded before they are checked

# A walk with the same rate both ways, whose reward alternates: the mass is smooth, and the values are not.
WALK = """ctmc const double k;
module walk n : [0..60]; [] n<60 -> k : (n'=n+1); [] n>0 -> k : (n'=n-1); endmodule
rewards mod(n,2)=0 : 1; endrewards"""


def boxes_in(low: Floats, high: Floats, seed: int) -> Floats:
    """``(boxes, 2, parameters)``: the whole space, pieces, small pieces, points; more than fit in one bundle."""
    rng = np.random.default_rng(seed)
    pieces = np.sort(rng.uniform(low, high, (5, 2, len(low))), axis=1)
    corner = rng.uniform(low, low + 0.98 * (high - low), (3, 1, len(low)))
    small = np.concatenate([corner, corner + 0.02 * (high - low)], axis=1)
    points = np.repeat(rng.uniform(low, high, (2, 1, len(low))), 2, axis=1)
    found: Floats = np.concatenate([[np.stack([low, high])], pieces, small, points])
    assert len(found) > LANES
    return found


def check_boxes(text: str, ranges: dict[str, tuple[float, float]], prop: str, seed: int) -> None:
    asked = asked_of(text, prop, ranges, direction="forward")
    boxes = boxes_in(*asked.model.space, seed)
    lower, upper = asked.bounds(boxes[:, 0], boxes[:, 1])
    assert (lower >= 0).all()
    assert (upper[-2:] - lower[-2:] <= 1e-8 * (1 + upper[-2:])).all(), "points are known closely"
    below, above = asked_of(text, prop, ranges).bounds(boxes[:, 0], boxes[:, 1])
    assert (lower <= above).all()
    assert (below <= upper).all()
    for place, (bottom, top) in enumerate(boxes):
        for point in points_in(tuple(bottom), tuple(top), 3, seed):
            least, most = value_at(text, prop, dict(zip(ranges, point, strict=True)))
            assert lower[place] <= most * (1 + ROUNDED)
            assert upper[place] >= least * (1 - ROUNDED)


@pytest.mark.parametrize("shape", QUESTIONS)
def test_plant(shape: str) -> None:
    check_boxes(PLANT, SPACE, shape.format(goal='"busy"', through="(x<3)", reward="cost"), 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", QUESTIONS)
def test_random_chains(shape: str, seed: int) -> None:
    text, ranges = random_chain(seed)
    check_boxes(text, ranges, shape.format(goal="s=2", through="(s<2)", reward="r"), seed)


@pytest.mark.parametrize("prop", ["P=? [ s<2 U[0.5,1] s>=2 ]", "P=? [ s>0 U[0.5,1] s=2 ]", "P=? [ s>0 U<=1 s=0 ]"])
@pytest.mark.parametrize("seed", range(3))
def test_goals_outside_of_the_way_and_starts_outside_of_it(prop: str, seed: int) -> None:
    """Mass in a goal before the interval begins is lost, and must not come back as part of the goal."""
    text, ranges = random_chain(seed)
    check_boxes(text, ranges, prop, seed)


# The distribution itself.


def generator(model: ParametricModel, point: Floats) -> Floats:
    """The matrix of rates at a point."""
    terms = model.terms.bounds(point[None], point[None])[0][:, 0]
    q = np.zeros((model.n_states, model.n_states))
    rows = np.repeat(np.arange(model.n_states), np.diff(model.row_starts))
    np.add.at(q, (rows, model.columns), model.rates.coefficients * terms[model.rates.terms])
    return q - np.diag(q.sum(axis=1))


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_where_the_mass_is(seed: int, over: bool) -> None:
    model = parametric(PLANT, SPACE) if seed == 0 else parametric(*random_chain(seed))
    n, time = model.n_states, 1.3
    boxes = boxes_in(*model.space, seed)[:LANES]
    low, high = model.terms.bounds(boxes[:, 0], boxes[:, 1])
    rows = ForwardRows(model, np.ones(n, dtype=bool))
    found, _ = moved(rows, (np.maximum(low, 0), high), Mass.at(0, n, len(boxes)), time, over=over)
    for place, (bottom, top) in enumerate(boxes):
        for point in points_in(tuple(bottom), tuple(top), 4, seed):
            q = generator(model, np.array(point))
            # The integral of exp(uQ) is a corner of the exponential of a larger matrix.
            whole = expm(time * np.block([[q, np.eye(n)], [np.zeros((n, 2 * n))]]))
            truth = whole[0, n:] if over else whole[0, :n]
            assert np.maximum(found.lower[:, place] - truth, 0).sum() <= found.under[place] + 1e-12
            assert np.maximum(truth - found.upper[:, place], 0).sum() <= found.over[place] + 1e-12
            assert found.least[place] <= truth.sum() + 1e-12
            assert found.most[place] >= truth.sum() - 1e-12
    assert (found.under < 1e-9).all()
    assert (found.over < 1e-7).all(), "of what may be lost, rounding is counted in the mass of the upper bounds"


def test_all_mass_together_is_known() -> None:
    """By hand: two states that share a mass of 1."""
    none, one = np.zeros(1), np.ones(1)
    mass = Mass(np.array([[0.5], [0.2]]), np.array([[0.9], [0.4]]), one, one, none, none)
    closer = mass.tightened()
    np.testing.assert_allclose(closer.lower[:, 0], [0.6, 0.2], atol=1e-12)
    np.testing.assert_allclose(closer.upper[:, 0], [0.8, 0.4], atol=1e-12)
    values = np.array([[3.0], [1.0]])
    np.testing.assert_allclose(mass.expected(values, values), [[2.2], [2.6]], atol=1e-12)
    half = mass.within(np.array([True, False]))
    np.testing.assert_allclose([half.least, half.most], [[0.6], [0.8]], atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_expected_values_are_optima_of_the_linear_program(seed: int) -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(6))
    lower, upper = truth * rng.uniform(0, 1, 6), truth * rng.uniform(1, 4, 6)
    values = rng.integers(0, 4, 6).astype(np.float64)
    one, none = np.ones(1), np.zeros(1)
    found = Mass(lower[:, None], upper[:, None], one, one, none, none).expected(values[:, None], values[:, None])
    for sign, bound in zip((1, -1), found, strict=True):
        best = linprog(sign * values, A_eq=np.ones((1, 6)), b_eq=[1], bounds=np.stack([lower, upper], axis=1))
        assert bound[0] == pytest.approx(sign * best.fun, abs=1e-9)


# Odd corners.


@pytest.mark.slow
def test_wide_boxes_and_long_times_give_numbers() -> None:
    """Upper bounds grow by a factor with every step; they are cut before there is none."""
    asked = asked_of(PLANT, 'R{"cost"}=? [ I=200 ]', {"a": (0.001, 50.0), "b": (0.25, 20.0)}, direction="forward")
    low, high = asked.model.space
    lower, upper = asked.bounds(low[None], high[None])
    assert 0 <= lower[0] < upper[0] <= 60
    chance = asked_of(PLANT, 'P=? [ F[200,200] "busy" ]', {"a": (0.001, 50.0), "b": (0.25, 20.0)}, direction="forward")
    lower, upper = chance.bounds(low[None], high[None])
    assert 0 <= lower[0] < upper[0] <= 1


@pytest.mark.parametrize("time", [1.0, 1e4])
def test_many_steps_at_a_point(time: float) -> None:
    """Two states with rates 1 and k: 1/(1+k) of the mass is back in the first in the end."""
    text = "ctmc const double k; module m s : [0..1]; [] s=0 -> k : (s'=1); [] s=1 -> 1 : (s'=0); endmodule"
    asked = asked_of(text, f"P=? [ F[{time!r},{time!r}] s=0 ]", {"k": (1.0, 4.0)}, direction="forward")
    point = np.array([[3.0]])
    lower, upper = asked.bounds(point, point)
    truth = (1 + 3 * np.exp(-4 * time)) / 4
    assert lower[0] <= truth <= upper[0]
    assert upper[0] - lower[0] < 1e-7


def test_time_zero_and_nothing_to_do() -> None:
    for prop, expected in [
        ("P=? [ F[0,0] s=0 ]", 1.0),
        ("P=? [ F[0,0] s=1 ]", 0.0),
        ("P=? [ s=1 U<=1 s=1 ]", 0.0),
        ('R{"r"}=? [ C<=0 ]', 0.0),
        ('R{"r"}=? [ I=0 ]', 0.0),
    ]:
        text, ranges = random_chain(1)
        asked = asked_of(text, prop, ranges, direction="forward")
        lower, upper = (float(found[0]) for found in asked.bounds(*(corner[None] for corner in asked.model.space)))
        assert lower <= expected <= upper
        assert upper - lower < 1e-12


def test_threads_make_no_difference() -> None:
    found = []
    for threads in (1, 3):
        asked = asked_of(PLANT, 'P=? [ F<=2 "busy" ]', SPACE, threads=threads, direction="forward")
        boxes = np.sort(np.random.default_rng(3).uniform(*asked.model.space, (40, 2, 2)), axis=1)
        found.append(np.array(asked.bounds(boxes[:, 0], boxes[:, 1])))
    assert (found[0] == found[1]).all()


# The choice.


def test_auto_is_backward() -> None:
    widths = {}
    for direction in ("auto", "backward", "forward"):
        asked = asked_of(PLANT, 'P=? [ F[2,2] "busy" ]', SPACE, direction=direction)  # type: ignore[arg-type]
        lower, upper = asked.bounds(*(corner[None] for corner in asked.model.space))
        widths[direction] = upper[0] - lower[0]
    assert widths["auto"] == widths["backward"] < widths["forward"]


def test_forward_is_closer_where_mass_is_smooth_and_values_are_not() -> None:
    counts = {}
    for direction in ("backward", "forward"):
        regions = synthesize(galton.parse(WALK), "R=? [ C<=20 ]", k=(1.0, 4.0), accuracy=0.5, direction=direction)  # type: ignore[arg-type]
        counts[direction] = len(regions.boxes)
    assert counts["forward"] < counts["backward"]


@pytest.mark.parametrize("asked", [{"maximize": True}, {"accuracy": 0.2}, {}])
def test_synthesis(asked: dict[str, Any]) -> None:
    prop = 'P{} [ F<=1 "busy" ]'.format("=?" if asked else ">=0.05")
    limit = {} if "accuracy" in asked else {"tolerance": 0.2}
    regions = synthesize(galton.parse(PLANT), prop, direction="forward", **limit, **asked, **SPACE)
    assert regions.complete
    assert regions.volume(regions.boxes) == pytest.approx(1.0)
    for box in regions.boxes[::5]:
        least, most = value_at(PLANT, 'P=? [ F<=1 "busy" ]', dict(zip(SPACE, box.center, strict=True)))
        assert box.lower <= most
        assert box.upper >= least
        if box.verdict in ("true", "false"):
            assert (most >= 0.05) == (box.verdict == "true")


# Refusals.


@pytest.mark.parametrize("shape", NESTED)
def test_operators_inside_are_refused(shape: str) -> None:
    text, ranges = random_chain(0)
    with pytest.raises(GaltonError, match="forward bounds are about the initial state alone"):
        asked_of(text, shape.format(goal="s=2", reward="r"), ranges, direction="forward")


def test_discrete_time_is_refused() -> None:
    text = "dtmc const double p; module m s : [0..1]; [] s=0 -> p : (s'=1) + 1-p : true; endmodule"
    with pytest.raises(GaltonError, match="forward bounds are for CTMCs, and this is a DTMC"):
        synthesize(galton.parse(text), "P>=0.5 [ F<=3 s=1 ]", p=(0.1, 0.9), direction="forward")
    for direction in ("auto", "backward"):
        assert synthesize(galton.parse(text), "P>=0.5 [ F<=3 s=1 ]", p=(0.1, 0.9), direction=direction).complete  # type: ignore[arg-type]


def test_a_device_is_refused() -> None:
    with pytest.raises(GaltonError, match="forward bounds are computed on the CPU only"):
        synthesize(galton.parse(PLANT), 'P>=0.1 [ F<=2 "busy" ]', direction="forward", device="cuda", **SPACE)


def test_other_words_are_refused() -> None:
    with pytest.raises(GaltonError, match="bounds are found backward or forward, not 'sideways'"):
        synthesize(galton.parse(PLANT), 'P>=0.1 [ F<=2 "busy" ]', direction="sideways", **SPACE)  # type: ignore[arg-type]


def test_several_initial_states_are_refused() -> None:
    text = "ctmc const double k; module m s : [0..1]; [] s=0 -> k : (s'=1); endmodule init true endinit"
    with pytest.raises(GaltonError, match="synthesis is about one initial state, and this model has 2"):
        synthesize(galton.parse(text), "P>=0.5 [ F<=1 s=1 ]", k=(1.0, 2.0), direction="forward")
