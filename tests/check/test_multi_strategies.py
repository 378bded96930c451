"""Strategies for several objectives: what the chains of a mixture come to, and what its file says."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from asking import GAMBLE
from occupation import Occupation

import galton
from galton.checking.multi.mixture_file import read_mixture, write_mixture
from galton.checking.multi.mixtures import MemoryStrategy, Mixture, Worth
from galton.checking.multi.worth import require_worth
from galton.checking.result import ParetoSet
from galton.checking.strategies.strategy import StrategyError
from galton.checking.strategies.strategy_value import StrategyMistakeError

# 1 and 2 can be gone to and fro for ever; 3 is the end; the way to 1 may fail.
CIRCLE = """
mdp
module circle
  s : [0..3];
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [go] s=1 -> (s'=2);
  [stay] s=1 -> true;
  [go] s=2 -> 0.75 : (s'=1) + 0.25 : (s'=2);
  [stay] s=2 -> true;
  [out] s>0 & s<3 -> (s'=3);
  [] s=3 -> true;
endmodule
rewards "steps" [go] true : 1; [stay] true : 0.5; endrewards
rewards "two" s=2 : 1; endrewards
"""

QUESTIONS = [
    (CIRCLE, ["P>=0.4 [ F G s=1 ]", "P>=0.35 [ F G s=2 ]", "P>=0.2 [ F s=3 ]"]),
    (CIRCLE, ["P>=0.4 [ (G F s=1) & (G F s=2) ]", "P>=0.5 [ F G s=2 ]"]),
    (CIRCLE, ["P>=0.9 [ F<=2 s=3 ]", "P>=0.5 [ F s=1 ]"]),
    (CIRCLE, ["P>=0.6 [ G s<3 ]", "P<=0.3 [ G F s=2 ]", "P>=0.3 [ F s=3 ]"]),
    (CIRCLE, ["R{\"steps\"}<=1.5 [ F s=3 ]", "P>=0.8 [ F s=1 ]"]),
    (CIRCLE, ["R{\"steps\"}<=0.4 [ C<=3 ]", "P>=0.7 [ F s=1 ]"]),
    (CIRCLE, ["S>=0.6 [ s=2 ]", "R{\"steps\"}>=0.6 [ S ]"]),
    (CIRCLE, ["S>=0.6 [ s=2 ]", "P>=0.3 [ F G s=3 ]", 'R{"steps"}<=0.6 [ C<=2 ]']),
    (GAMBLE, ["P>=0.55 [ F s=3 ]", "R{\"cost\"}<=4 [ C ]"]),
]  # fmt: skip


def mixed(mixture: Mixture, formulas: list[str]) -> list[float]:
    """What a mixture comes to: the chain of each strategy, asked for each objective, in the usual way."""
    assert mixture.shares is not None
    assert sum(mixture.shares) == 1
    total = np.zeros(len(formulas))
    for share, strategy in zip(mixture.shares, mixture.strategies, strict=True):
        chain = strategy.induced()
        total += float(share) * np.array([float(galton.check(chain, formula)) for formula in formulas])
    return list(total)


@pytest.mark.parametrize(("text", "bounds"), QUESTIONS)
def test_the_chains_of_a_mixture_meet_the_bounds(text: str, bounds: list[str]) -> None:
    model = galton.parse(text).build()
    result = galton.check(model, f"multi({', '.join(bounds)})", strategy=True)
    assert result.value is True
    assert isinstance(result.strategy, Mixture)
    asked = [
        bound.replace(bound[1 if "{" not in bound else bound.index("}") + 1 : bound.index(" [")], "=?")
        for bound in bounds
    ]
    for bound, value in zip(bounds, mixed(result.strategy, asked), strict=True):
        number = float(bound[: bound.index(" [")].split("=")[1])
        assert (value >= number - 1e-9) if ">=" in bound else (value <= number + 1e-9), bound


def test_the_best_under_bounds_comes_with_a_mixture_that_attains_it() -> None:
    model = galton.parse(GAMBLE).build()
    result = galton.check(model, 'multi(Pmax=? [ F s=3 ], R{"cost"}<=4 [ C ])', strategy=True)
    assert isinstance(result.strategy, Mixture)
    likely, cost = mixed(result.strategy, ["P=? [ F s=3 ]", 'R{"cost"}=? [ C ]'])
    assert likely == pytest.approx(float(result), rel=2e-6)
    assert cost <= 4 + 1e-9


def test_each_point_of_a_pareto_set_comes_with_its_strategy() -> None:
    model = galton.parse(CIRCLE).build()
    result = galton.check(model, 'multi(Pmax=? [ F G s=1 ], R{"steps"}min=? [ C<=4 ], Pmax=? [ F s=3 ])', strategy=True)
    assert isinstance(result.value, ParetoSet)
    assert isinstance(result.strategy, Mixture)
    assert result.strategy.shares is None
    assert len(result.strategy.strategies) == len(result.value.points) > 1
    for point, strategy in zip(result.value.points, result.strategy.strategies, strict=True):
        chain = strategy.induced()
        asked = ["P=? [ F G s=1 ]", 'R{"steps"}=? [ C<=4 ]', "P=? [ F s=3 ]"]
        assert [float(galton.check(chain, formula)) for formula in asked] == pytest.approx(list(point), abs=1e-9)


@pytest.mark.parametrize(("text", "bounds"), QUESTIONS)
def test_a_file_gives_the_same_strategies_back(text: str, bounds: list[str], tmp_path: Path) -> None:
    model = galton.parse(text).build()
    result = galton.check(model, f"multi({', '.join(bounds)})", strategy=True)
    assert isinstance(result.strategy, Mixture)
    path = tmp_path / "mixture.json"
    write_mixture(path, result.strategy, formula=result.formula)
    again, _ = read_mixture(path, model)
    assert (again.shares, again.values) == (result.strategy.shares, result.strategy.values)
    for one, other in zip(result.strategy.strategies, again.strategies, strict=True):
        assert sorted(zip(one.states, one.memory, strict=True)) == sorted(zip(other.states, other.memory, strict=True))
        chains = one.induced(), other.induced()
        for formula in ["P=? [ F s=3 ]", "P=? [ F G s=1 ]", "S=? [ s=2 ]"]:
            assert float(galton.check(chains[0], formula)) == pytest.approx(float(galton.check(chains[1], formula)))


def test_files_that_are_no_mixtures_are_refused(tmp_path: Path) -> None:
    model = galton.parse(GAMBLE).build()
    result = galton.check(model, "multi(P>=0.5 [ F s=3 ])", strategy=True)
    assert isinstance(result.strategy, Mixture)
    path = tmp_path / "mixture.json"
    write_mixture(path, result.strategy)
    good = json.loads(path.read_text())
    for change in ({"galton": "strategy"}, {"version": 7}, {"strategies": 3}, {"objectives": None}):
        path.write_text(json.dumps(good | change))
        with pytest.raises(StrategyError, match="is no strategy for several objectives"):
            read_mixture(path, model)
    for name, value in (("probability", "1/0"), ("probability", "1/2"), ("memory", -1), ("values", [[1]])):
        bad = json.loads(json.dumps(good))
        bad["strategies"][0][name] = value
        path.write_text(json.dumps(bad))
        with pytest.raises(StrategyError, match="is no strategy for several objectives"):
            read_mixture(path, model)


def test_no_strategy_comes_with_bounds_that_cannot_be_met() -> None:
    result = galton.check(galton.parse(GAMBLE), "multi(P>=0.9 [ F s=3 ], P>=0.9 [ F s=4 ])", strategy=True)
    assert (result.value, result.strategy) == (False, None)


def test_what_asks_nothing_is_met_by_any_strategy() -> None:
    result = galton.check(galton.parse(GAMBLE), "multi(P>=0 [ F s=3 ])", strategy=True)
    assert isinstance(result.strategy, Mixture)
    assert result.strategy.shares == (Fraction(1),)


def test_a_strategy_that_is_not_worth_what_was_promised_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def cheated(strategy: MemoryStrategy, objectives: object, promised: object, evaluation: object) -> None:
        require_worth(strategy, objectives, [Worth(0.7, 0.8)], evaluation)  # type: ignore[arg-type]

    monkeypatch.setattr(import_module("galton.checking.multi.answer"), "require_worth", cheated)
    with pytest.raises(StrategyMistakeError, match="this is a mistake of Galton, and the answer stands"):
        galton.check(galton.parse(GAMBLE), "multi(P>=0.3 [ F s=4 ])", strategy=True)


@pytest.mark.parametrize("seed", range(12))
def test_random_strategies_are_worth_their_points(seed: int) -> None:
    rng = np.random.default_rng([21, seed])
    mdp = Occupation.random(rng, loops=True) if seed % 2 else Occupation.recurrent(rng)
    if seed % 2:
        words = ['Pmax=? [ F "end0" ]', 'R{"r0"}min=? [ C ]', 'Pmin=? [ F "end1" ]']
    else:
        words = ['R{"r0"}max=? [ S ]', 'R{"r1"}min=? [ S ]']
    result = galton.check(mdp.model, f"multi({', '.join(words)})", strategy=True, eps=1e-5)  # which checks them
    assert isinstance(result.value, ParetoSet)
    assert isinstance(result.strategy, Mixture)
    assert len(result.strategy.strategies) == len(result.value.points)
