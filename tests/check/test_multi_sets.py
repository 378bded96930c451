"""Pareto sets of several objectives, beside linear programs; odd sets, which are answered or refused in a sentence."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from asking import COIN, MACHINE, ask
from occupation import Occupation

import galton
from galton.checking.multi.directions import Point, SumDirections
from galton.checking.multi.pareto import MOST_DIRECTIONS, _mixture_reaches
from galton.checking.result import ParetoSet
from galton.lang.source import GaltonError
from galton.model.errors import NumericError

FORK = """
mdp
module fork
  s : [0..4];
  [a] s=0 -> 0.75 : (s'=1) + 0.25 : (s'=3);
  [b] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [c] s=0 -> 0.75 : (s'=2) + 0.25 : (s'=3);
  [wait] s=0 -> true;
  [] s>0 -> true;
endmodule
rewards "fee" [a] true : 1; [b] true : 4; [c] true : 1; endrewards
rewards "waiting" [wait] true : 1; endrewards
"""


def front_of(text: str, objectives: str, **options: object) -> ParetoSet:
    found = ask(text, f"multi({objectives})", **options)
    assert isinstance(found.value, ParetoSet)
    return found.value


@pytest.mark.parametrize(
    ("objectives", "points"),
    [
        (
            'Pmax=? [ F s=1 ], Pmax=? [ F s=2 ], R{"fee"}min=? [ C ]',
            [(0, 0, 0), (0, 0.75, 1), (0.5, 0.5, 4), (0.75, 0, 1)],
        ),
        ("Pmax=? [ F s=1 ], Pmax=? [ F s=2 ], Pmin=? [ F s=3 ]", [(0, 0.75, 0.25), (0.5, 0.5, 0), (0.75, 0, 0.25)]),
        ("Pmax=? [ F s=1 ], Pmax=? [ F s=2 ], Pmax=? [ F s=3 ], Pmax=? [ G s=0 ]", [
            (0, 0, 0, 1), (0, 0.75, 0.25, 0), (0.5, 0.5, 0, 0), (0.75, 0, 0.25, 0),
        ]),
    ],
)  # fmt: skip
def test_sets_of_three_and_four_objectives(objectives: str, points: list[tuple[float, ...]]) -> None:
    found = front_of(FORK, objectives)
    assert np.allclose(found.points, points, atol=1e-9)
    assert found.gap <= 1e-6
    assert len(found.objectives) == len(found.maximise) == len(points[0])


@pytest.mark.parametrize(
    ("objectives", "points"),
    [
        ("Pmax=? [ F s=1 ], Pmax=? [ F s=1 ], Pmax=? [ F s=1 ]", [(0.75, 0.75, 0.75)]),  # a point
        ("Pmax=? [ F s=1 ], Pmin=? [ F s=1 ], Pmax=? [ true ]", [(0, 0, 1), (0.75, 0.75, 1)]),  # a line
        ("Pmax=? [ false ], Pmax=? [ false ], Pmin=? [ false ]", [(0, 0, 0)]),  # all zero
        ('Pmax=? [ F s=1 ], R{"waiting"}min=? [ C ], R{"fee"}min=? [ C ]', [(0.75, 0, 1)]),  # who waits pays for ever
    ],
)
def test_sets_with_fewer_dimensions_than_objectives(objectives: str, points: list[tuple[float, ...]]) -> None:
    assert np.allclose(front_of(FORK, objectives).points, points, atol=1e-9)


def test_infinite_rewards_are_left_out_of_sets_of_three_and_a_warning_says_so() -> None:
    found = ask(FORK, 'multi(R{"waiting"}min=? [ C ], Pmax=? [ G s=0 ], Pmax=? [ F s=1 ])')
    assert isinstance(found.value, ParetoSet)
    assert np.allclose(found.value.points, [(0, 0, 0.75)], atol=1e-9)
    assert "strategies whose reward is infinite are left out of the Pareto set" in found.warnings


def test_where_every_strategy_misses_a_goal_there_is_no_pareto_set() -> None:
    with pytest.raises(GaltonError, match="all strategies have infinite rewards, so there is no Pareto set"):
        ask(FORK, 'multi(R{"fee"}min=? [ F s=4 ], Pmax=? [ F s=2 ])')


@pytest.mark.parametrize("text", [COIN, MACHINE], ids=["dtmc", "ctmc"])
def test_a_pareto_set_of_a_chain_is_refused(text: str) -> None:
    with pytest.raises(GaltonError, match=r"multi\(…\) is about the strategies of an MDP, and a chain has none"):
        ask(text, "multi(Pmax=? [ F true ], Pmax=? [ X true ])")


def test_a_set_with_more_corners_than_directions_says_what_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("galton.checking.multi.pareto.MOST_DIRECTIONS", 2)
    mdp = Occupation.random(np.random.default_rng(3), rewards=3)
    found = galton.check(mdp.model, 'multi(R{"r0"}max=? [ C ], R{"r1"}max=? [ C ], R{"r2"}min=? [ C ])')
    assert isinstance(found.value, ParetoSet)
    assert MOST_DIRECTIONS > 2
    assert found.value.gap > 1e-6
    assert any("points may be missing" in warning for warning in found.warnings)


def test_directions_in_which_nothing_can_be_proved_leave_a_set_and_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    look = SumDirections.look

    def failing(self: SumDirections, weights: tuple[Fraction, ...]) -> object:
        if weights == (1, 0):
            raise NumericError("no bounds could be proved")
        return look(self, weights)

    monkeypatch.setattr(SumDirections, "look", failing)
    found = ask(FORK, "multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ])")
    assert isinstance(found.value, ParetoSet)
    assert np.allclose(found.value.points, [(0, 0.75), (0.5, 0.5), (0.75, 0)], atol=1e-9)
    assert "points may be missing: in some direction no bounds could be proved" in found.warnings


def formula(name: str, suffix: str, *, averages: bool = False) -> str:
    if name.startswith("end"):
        return f'P{suffix} [ F "{name}" ]'
    return f'R{{"{name}"}}{suffix} [ {"S" if averages or name == "worth" else "C"} ]'


def compare(mdp: Occupation, names: list[str], signs: list[int], rng: np.random.Generator, *, averages: bool) -> None:
    """A Pareto set against what linear programs say of its points, its half spaces, and of random directions."""
    words = [
        formula(name, "max=?" if sign > 0 else "min=?", averages=averages)
        for name, sign in zip(names, signs, strict=True)
    ]
    found = galton.check(mdp.model, f"multi({', '.join(words)})", eps=1e-5).value
    assert isinstance(found, ParetoSet)
    points, room = np.array(found.points), 1e-7
    for point in points:  # some strategy has it, but for rounding
        bounds = [(name, sign, x - sign * room) for name, sign, x in zip(names, signs, point, strict=True)]
        assert mdp.best([(names[0], 0.0)], bounds, averages=averages) is not None
    for weights, limit in found.half_spaces:  # none gets beyond
        best = mdp.best(list(zip(names, weights, strict=True)), averages=averages)
        assert best is not None
        assert best <= limit + room
    for _ in range(8):  # and none is far from the points
        weights = tuple(sign * x for sign, x in zip(signs, rng.dirichlet(np.ones(len(names)) / 2), strict=True))
        best = mdp.best(list(zip(names, weights, strict=True)), averages=averages)
        reached = max(points @ np.array(weights))
        size = max(np.abs(points) @ np.abs(np.array(weights)))
        assert best is not None
        assert reached - room <= best <= reached + 4 * max(found.gap, 1e-5) * size + room


@pytest.mark.parametrize("seed", range(20))
def test_random_sets_of_sums_against_linear_programs(seed: int) -> None:
    rng = np.random.default_rng([11, seed])
    mdp = Occupation.random(rng, loops=seed % 2 == 1, rewards=2)
    count = int(rng.integers(2, 5))
    names = list(rng.permutation(["end0", "end1", "end2", "r0", "r1"])[:count])
    compare(mdp, names, [int(rng.choice([-1, 1])) for _ in names], rng, averages=False)


@pytest.mark.parametrize("seed", range(20))
def test_random_sets_of_sums_and_an_average_against_linear_programs(seed: int) -> None:
    rng = np.random.default_rng([14, seed])
    mdp = Occupation.random(rng, loops=True, rewards=2)
    names = ["worth", *rng.permutation(["end0", "end1", "r0", "r1"])[: int(rng.integers(1, 3))]]
    compare(mdp, names, [int(rng.choice([-1, 1])) for _ in names], rng, averages=False)


@pytest.mark.parametrize("seed", range(20))
def test_random_sets_of_averages_against_linear_programs(seed: int) -> None:
    rng = np.random.default_rng([12, seed])
    mdp = Occupation.recurrent(rng)
    names = ["r0", "r1", "r2"][: int(rng.integers(2, 4))]
    compare(mdp, names, [int(rng.choice([-1, 1])) for _ in names], rng, averages=True)


@pytest.mark.parametrize("seed", range(20))
def test_random_bests_of_averages_against_linear_programs(seed: int) -> None:
    rng = np.random.default_rng([13, seed])
    mdp = Occupation.recurrent(rng)
    sign, way = (int(rng.choice([-1, 1])) for _ in range(2))
    low, high = -(mdp.best([("r1", -1.0)], averages=True) or 0.0), mdp.best([("r1", 1.0)], averages=True) or 0.0
    if high - low < 0.01:
        return
    bound = round(low + float(rng.uniform(0.1, 0.9)) * (high - low), 3)
    expected = mdp.best([("r0", float(sign))], [("r1", way, bound)], averages=True)
    asked = f'R{{"r0"}}{"max" if sign > 0 else "min"}=? [ S ], R{{"r1"}}{">=" if way > 0 else "<="}{bound} [ S ]'
    found = galton.check(mdp.model, f"multi({asked})")
    if expected is None:
        assert math.isnan(float(found))
    else:
        assert found.lower - 1e-7 <= sign * expected <= found.upper + 1e-7


def test_corners_that_have_nothing_of_an_objective_but_for_rounding_are_compared() -> None:
    """Numbers were divided by the least double there is, and the linear program refused what came of it."""
    points = [Point((Fraction(0), Fraction(k)), (Fraction(0), Fraction(k))) for k in (1, 3)]
    assert _mixture_reaches(points, Point((Fraction(1, 10**9), Fraction(2)), (Fraction(0), Fraction(2))), [1e-7, 1e-7])
    assert not _mixture_reaches(points, Point((Fraction(1), Fraction(2)), (Fraction(0), Fraction(2))), [1e-7, 1e-7])


def test_objectives_are_told_as_they_were_written() -> None:
    """Axes and tables showed what formulas stand for, a line long."""
    text = FORK.replace("module fork", "formula home = (s=1 | s=2) & s!=0 & s!=3;\nmodule fork")
    found = front_of(text, 'Pmax=? [ F   home ],\n R{"fee"}min=? [ C ]')
    assert found.objectives == ("Pmax=? [ F home ]", 'R{"fee"}min=? [ C ]')
