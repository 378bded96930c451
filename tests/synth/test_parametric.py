"""A parametric model is, at every point, the model that the explorer builds there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from chains import PLANT, SPACE, at_point, parametric, points_in, random_chain

from galton.lang import GaltonError
from galton.lang.program import Program
from galton.synth.parametric_ctmc import ParametricModel


def matrix_at(found: ParametricModel, point: tuple[float, ...]) -> np.ndarray:
    corner = np.array([point])
    lower, upper = found.terms.bounds(corner, corner)
    least, most = found.rates.bounds(lower, upper)
    assert np.allclose(least, most, rtol=1e-13, atol=0)
    dense = np.zeros((found.n_states, found.n_states))
    rows = np.repeat(np.arange(found.n_states), np.diff(found.row_starts))
    dense[rows, found.columns] = (least[:, 0] + most[:, 0]) / 2
    return dense


def rewards_at(found: ParametricModel, point: tuple[float, ...], name: str) -> tuple[np.ndarray, np.ndarray]:
    corner = np.array([point])
    bounds = found.terms.bounds(corner, corner)
    return found.state_rewards[name].bounds(*bounds)[0][:, 0], found.total_rewards[name].bounds(*bounds)[0][:, 0]


def compare(text: str, ranges: dict[str, tuple[float, float]], seed: int = 0) -> None:
    found = parametric(text, ranges)
    low, high = (tuple(corner.tolist()) for corner in found.space)
    inside = [point for point in points_in(low, high, 3, seed) if point not in points_in(low, high, 0)]
    for point in inside:
        model = at_point(text, dict(zip(ranges, point, strict=True))).build(device="cpu")
        dense = model.to_scipy().toarray()
        np.fill_diagonal(dense, 0.0)
        np.testing.assert_allclose(matrix_at(found, point), dense, rtol=1e-12)
        for name, rewards in model.rewards.items():
            by_state, total = rewards_at(found, point, name)
            state = np.zeros(model.n_states) if rewards.state is None else rewards.state
            np.testing.assert_allclose(by_state, state, rtol=1e-12)
            # What transitions earn is kept per choice, as an expectation: rates times rewards.
            choice = np.zeros(model.n_states) if rewards.choice is None else rewards.choice
            np.testing.assert_allclose(total, state + choice, rtol=1e-12)


def test_plant() -> None:
    compare(PLANT, SPACE)


@pytest.mark.parametrize("seed", range(20))
def test_random_chains(seed: int) -> None:
    compare(*random_chain(seed), seed=seed)


def test_states_in_several_words() -> None:
    declared = "\n".join(f"  v{i} : [0..100000];" for i in range(5))
    commands = "\n".join(f"  [] v{i}<2 -> k*{i + 1} : (v{i}'=v{i}+1);" for i in range(5))
    compare(f"ctmc\nconst double k;\nmodule m\n{declared}\n{commands}\nendmodule\n", {"k": (1.0, 2.0)})


def test_powers_and_partial_expressions_of_the_state() -> None:
    text = """ctmc
const double k;
module m
  s : [0..4] init 1;
  [] s>0 & mod(8, s)=0 & s<4 -> k*pow(s, 0.5)*log(s+1, 2) : (s'=s+1);
  [] s=4 -> k : (s'=0);
endmodule
"""
    compare(text, {"k": (0.5, 3.0)})


def test_range_of_polynomials_is_attained() -> None:
    """A polynomial that is affine in each parameter has its least and greatest values at corners."""
    text = """ctmc
const double p;
const double q;
module m
  s : [0..2];
  [] s=0 -> p*(1-q) : (s'=1);
  [] s=0 -> p + q - p*q : (s'=2);
endmodule
"""
    found = parametric(text, {"p": (0.2, 0.9), "q": (0.1, 0.4)})
    lower, upper = found.terms.bounds(*(corner[None, :] for corner in found.space))
    least, most = found.rates.bounds(lower, upper)
    assert least[:, 0] == pytest.approx([0.2 * 0.6, 0.2 + 0.1 - 0.02])
    assert most[:, 0] == pytest.approx([0.9 * 0.9, 0.9 + 0.4 - 0.36])


@pytest.mark.parametrize("seed", range(10))
def test_ranges_hold_all_points(seed: int) -> None:
    found = parametric(*random_chain(seed))
    low, high = (tuple(corner.tolist()) for corner in found.space)
    lower, upper = found.terms.bounds(np.array([low]), np.array([high]))
    for point in points_in(low, high, 20, seed):
        own_lower, own_upper = found.terms.bounds(np.array([point]), np.array([point]))
        assert (lower <= own_lower).all()
        assert (upper >= own_upper).all()


def test_negative_rates_are_refused() -> None:
    text = "ctmc const double a; const double b; module m s : [0..1]; [] s=0 -> a-b : (s'=1); endmodule"
    with pytest.raises(GaltonError, match=r"the rate a - b may be negative within the ranges"):
        parametric(text, {"a": (1.0, 2.0), "b": (0.5, 1.5)})
    parametric(text, {"a": (1.0, 2.0), "b": (0.5, 1.0)})


def test_negative_parameters() -> None:
    text = """ctmc const double a; const double b; module m s : [0..2];
    [] s=0 -> -a : (s'=1); [] s=1 -> a*b : (s'=2); [] s=2 -> a*a+1 : (s'=0); endmodule
    rewards [] s=0 : -b; endrewards"""
    compare(text, {"a": (-2.0, -1.0), "b": (-1.0, -0.5)})
    with pytest.raises(GaltonError, match=r"the rate (a.b|- a) may be negative"):
        parametric(text, {"a": (-2.0, 1.0), "b": (-1.0, -0.5)})
    with pytest.raises(GaltonError, match="the rate - a may be negative"):
        parametric(text.replace("a*b", "b*b"), {"a": (-2.0, 1.0), "b": (-1.0, -0.5)})
    with pytest.raises(GaltonError, match=r"the reward a.b may be negative"):
        parametric(text.replace("a*b", "b*b"), {"a": (-2.0, -1.0), "b": (-1.0, 0.5)})


def test_zero_is_no_divisor() -> None:
    text = "ctmc const double a; module m s : [0..1]; [] s=0 -> 1/a : (s'=1); endmodule"
    with pytest.raises(GaltonError, match="divided by 'a', whose range begins at 0; let it begin above 0"):
        parametric(text, {"a": (0.0, 2.0)})


def test_several_initial_states_are_refused() -> None:
    text = "ctmc const double a; module m s : [0..1]; [] s=0 -> a : (s'=1); endmodule init true endinit"
    with pytest.raises(GaltonError, match="about one initial state, and this model has 2"):
        parametric(text, {"a": (1.0, 2.0)})


def test_the_program_was_explored_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for a matrix at one point, which nobody used, and once for polynomials; it was lowered twice, too."""
    from galton import _core
    from galton.explore import discovery

    made: list[bool] = []
    lowered: list[object] = []
    explore, lower = _core.explore, discovery.lower

    def counted(program: _core.Program, *, rows: bool, **options: Any) -> object:
        made.append(rows)
        return explore(program, rows=rows, **options)

    def noted(program: Program) -> object:
        lowered.append(program)
        return lower(program)

    monkeypatch.setattr(_core, "explore", counted)
    monkeypatch.setattr("galton.lower.lowering.lower", noted)
    monkeypatch.setattr(discovery, "lower", noted)
    parametric(PLANT, SPACE)
    assert made == [False]
    assert len(lowered) == 1
