"""Reward-bounded paths and rewards, beside fractions, a counter in the model, and Storm."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from budget_models import INFINITE, PHONE, WALK, Bound, Costly, ask, best_reward, best_until, random_model
from test_curves import curve

import galton
from galton.model.errors import NumericError


@pytest.mark.parametrize(
    ("prop", "value"),
    [
        ('Pmax=? [ F{"cost"}<=0 s=2 ]', 0),
        ('Pmax=? [ F{"cost"}<=1 s=2 ]', 0.5),
        ('Pmax=? [ F{"cost"}<=2 s=2 ]', 0.75),
        ('Pmax=? [ F{"cost"}<=3 s=2 ]', 0.875),
        ('Pmax=? [ F{"cost"}<4 s=2 ]', 0.875),
        ('Pmin=? [ F{"cost"}<=1 s=2 ]', 0),
        ('Pmin=? [ F{"cost"}<=2 s=2 ]', 0.5),
        ('Pmax=? [ F^{rew{"fraction"}<=0.7} s=2 ]', 0.875),
        ('Pmax=? [ F^{rew{"fraction"}<=0.5} s=2 ]', 0.75),
        ('Pmax=? [ F^{rew{"cost"}<=3, steps<=1} s=2 ]', 0.75),
        ('Pmax=? [ F^{rew{"cost"}<=1, steps<=1} s=2 ]', 0.5),
        ('Pmax=? [ F{"cost"}>=2 s=2 ]', 1),
        ('Pmin=? [ F{"cost"}>=2 s=2 ]', 0.5),
        ('Pmax=? [ F{"cost"}[1,1] s=2 ]', 0.5),
        ('Pmax=? [ s!=1 U{"cost"}<=9 s=2 ]', 0.75),
        ('Pmin=? [ G{"cost"}<=2 s!=2 ]', 0.25),
        ('Pmax=? [ F rew{"cost"}<=3 s=2 ]', 0.875),
        ('R{"joy"}max=? [ C{"cost"}<=2 ]', 3),
        ('R{"joy"}min=? [ C{"cost"}<=1 ]', 0),
        ('R{"cost"}max=? [ C^{rew{"cost"}<=1} ]', 1),
    ],
)
def test_values_by_hand(prop: str, value: float) -> None:
    text = PHONE.replace("s=2 : 1;", "") if "joy" in prop else PHONE
    found = ask(text, prop)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= value <= found.upper
    assert found.upper - found.lower < 1e-6


def test_what_is_certain_within_a_budget_is_decided() -> None:
    text = WALK.replace("0.5 : (x'=x-1)", "0.3 : (x'=x+1) + 0.2 : (x'=x+1)")
    assert ask(text, 'P>=1 [ F{"cost"}<=3 x=3 ]').value is True
    assert ask(text, 'P>=1 [ F{"cost"}<=2 x=3 ]').value is False
    assert ask(text, 'P<=0 [ F{"cost"}<=2 x=3 ]').value is True


def test_a_reward_that_is_collected_for_ever_for_free_is_infinite() -> None:
    assert ask(PHONE, 'R{"joy"}max=? [ C{"cost"}<=1 ]').value == INFINITE
    assert ask(PHONE, 'R{"joy"}max=? [ C{"cost"}<=0 ]').value == 0


def test_many_levels_end_where_no_budget_does_more() -> None:
    found = ask(WALK, 'P=? [ F{"cost"}<=1000000 x=3 ]')
    assert found.value == pytest.approx(1 / 3, rel=1e-6)
    assert found.iterations < 10_000


def test_free_cycles_that_are_left_seldom_keep_proved_bounds() -> None:
    text = """
    dtmc
    module m
      s : [0..3];
      [] s=0 -> 0.999 : (s'=1) + 0.001 : (s'=2);
      [] s=1 -> 0.999 : (s'=0) + 0.001 : (s'=3);
      [] s>1 -> true;
    endmodule
    rewards "cost" s=2 : 1; endrewards
    """
    found = ask(text, 'P=? [ F{"cost"}<=5 s=2 ]')
    assert found.lower is not None
    assert found.upper is not None
    exact = 1 / (1 + 0.999)
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower < 1e-6


@pytest.mark.parametrize(
    ("prop", "message"),
    [
        ('Pmax=? [ F{"debt"}<=3 s=2 ]', "negative rewards"),
        ('Pmax=? [ F{"odd"}<=3 s=2 ]', "common divisor"),
        ('Pmax=? [ F{"price"}<=3 s=2 ]', "unknown reward structure"),
        ('Pmax=? [ F{"cost"}<0 s=2 ]', "no reward is below 0"),
        ('Pmax=? [ F{"cost"}<=-1 s=2 ]', "cannot be negative"),
        ('Pmax=? [ F{"cost"}[3,2] s=2 ]', "the interval is empty"),
        ('Pmax=? [ F{"cost"}<=s s=2 ]', "may only use constants"),
        ('Pmax=? [ (F{"cost"}<=2 s=2) & (G s<3) ]', "beside other temporal operators"),
        ('R{"joy"}max=? [ C{"cost"}>=2 ]', "begins with '<='"),
        ('R{"joy"}max=? [ F{"cost"}<=2 s=2 ]', "rewards until a bounded formula"),
        ('multi(Pmax=? [ F{"cost"}<=2 s=2 ], Pmax=? [ F s=1 ])', "not supported"),
        ('A [ F{"cost"}<=2 s=2 ]', "'A' with a bound on a reward is not supported"),
    ],
)
def test_what_has_no_meaning_is_said_in_a_sentence(prop: str, message: str) -> None:
    with pytest.raises(galton.GaltonError, match=message):
        ask(PHONE, prop)


def test_a_strategy_for_a_budget_is_refused() -> None:
    with pytest.raises(galton.GaltonError, match="strategies for budgets"):
        ask(PHONE, 'Pmax=? [ F{"cost"}<=3 s=2 ]', strategy=True)


def test_bounds_on_rewards_of_a_ctmc_are_refused_and_those_on_steps_are_not() -> None:
    text = WALK.replace("dtmc", "ctmc").replace("0.5", "4")
    with pytest.raises(galton.GaltonError, match="grows with time"):
        ask(text, 'P=? [ F{"cost"}<=3 x=3 ]')
    assert ask(text, "P=? [ F^{steps<=2} x=3 ]").value == pytest.approx(0.25)


def test_commands_of_a_chain_that_spend_differently_are_not_averaged() -> None:
    text = """
    dtmc
    module m
      s : [0..1];
      [a] s=0 -> (s'=1);
      [b] s=0 -> (s'=1);
      [c] s=1 -> true;
    endmodule
    rewards "cost" [a] true : 1; [b] true : 3; endrewards
    rewards "same" [a] true : 2; [b] true : 2; endrewards
    """
    with pytest.raises(galton.GaltonError, match="different rewards"):
        ask(text, 'P=? [ F{"cost"}<=2 s=1 ]')
    assert ask(text, 'P=? [ F{"same"}<=2 s=1 ]').value == 1
    assert ask(text, 'P=? [ F{"same"}<=1 s=1 ]').value == 0


def test_a_goal_behind_another_is_explored_where_a_lower_bound_is_among_several() -> None:
    """The explorer stopped at goals though one of several bounds was not met there yet."""
    text = PHONE.replace("[end] s=2 -> true;", "[end] s=2 -> (s'=0);")
    found = ask(text, 'Pmax=? [ F^{steps<=20, rew{"cost"}>=3} s=2 ]')
    assert found.value == pytest.approx(best_until_with_counter(text, 20, 3), rel=1e-6)


def best_until_with_counter(text: str, steps: int, least: int) -> float:
    for action, cost in (("call", 2), ("write", 1), ("think", 0), ("end", 0)):
        text = text.replace(f"[{action}] s=", f"[{action}] n<{steps} & s=")
        text = "\n".join(
            line.replace(")", f") & (n'=n+1) & (c'=min(c+{cost}, {least}))")
            if line.strip().startswith(f"[{action}] n")
            else line
            for line in text.splitlines()
        )
    text = text.replace("s : [0..2];", f"s : [0..2]; n : [0..{steps}]; c : [0..{least}];")
    value = ask(text, f"Pmax=? [ F s=2 & c={least} ]").value
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("text", "prop"),
    [
        (WALK, 'P=? [ F{"cost"}<=T x=3 ]'),
        (WALK, 'P=? [ x<3 U{"cost"}<2*T x=0 ]'),
        (PHONE, 'Pmin=? [ F{"fraction"}<=T/5 s=2 ]'),
        (PHONE, 'R{"cost"}max=? [ C{"cost"}<=T ]'),
    ],
)
def test_a_range_of_budgets_takes_one_pass(text: str, prop: str) -> None:
    program = galton.parse(text)
    model = program.build(device="cpu")
    values = [7, 0, 1, 2, 30] if "2*T" not in prop else [7, 1, 30]
    for value, found in zip(values, curve(model, program, prop, values), strict=True):
        alone = galton.check(model, f"const int T; {prop}", T=value)
        assert found is not None
        assert (found.lower, found.upper) == (alone.lower, alone.upper)
        assert "in one pass" in found.steps[-1].work[-1].detail


@pytest.mark.parametrize("likely", [0.5, 0.9999999, 1 - 2.0**-40])
def test_free_cycles_of_an_mdp_that_are_left_hardly_ever_are_solved_directly(likely: float) -> None:
    """Sweeps would take millions of turns, and bounds that came closer by them could not be proved."""
    text = f"""
    mdp
    module m
      s : [0..4];
      [a] s=0 -> {likely!r} : (s'=1) + {1 - likely!r} : (s'=2);
      [b] s=0 -> {likely!r} : (s'=1) + {1 - likely!r} : (s'=3);
      [c] s=1 -> {likely!r} : (s'=0) + {1 - likely!r} : (s'=4);
      [d] s=2 -> 0.5 : (s'=3) + 0.5 : (s'=0);
      [e] s>2 -> true;
    endmodule
    rewards "cost" [b] true : 2; [d] true : 1; endrewards
    """
    # 1 in 1 + p gets to 2 without spending, and half of that to 3 with one unit; the other half has nothing left then.
    exact = 1 / (1 + Fraction(likely)) / 2
    found = ask(text, 'Pmax=? [ F{"cost"}<=1 s=3 ]')
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower < (1e-6 if likely < 1 - 1e-9 else 1e-2)  # doubles have no digits for more


# Random models.


def questions(random: Random) -> tuple[list[Bound | None], str]:
    """Bounds on what is spent of "a" and "b", and how they are written."""

    def bound(upper: bool = False) -> Bound:
        kind = 0 if upper else random.randrange(4)
        if kind < 2:
            return Bound(random.randrange(6))
        if kind == 2:
            return Bound(None, random.randrange(1, 5))
        least = random.randrange(1, 4)
        return Bound(least + random.randrange(3), least)

    one = bound()
    if random.random() < 0.5:
        return [one, None], f'{{"a"}}{one.text()}'
    other = bound()
    return [one, other], f'^{{rew{{"a"}}{one.text()}, rew{{"b"}}{other.text()}}}'


def compare(model: Costly, random: Random) -> None:
    bounds, written = questions(random)
    text = model.text()
    for optimum in ("min", "max") if model.is_mdp else ("",):
        exact = best_until(model, bounds, optimum or "max")
        prop = f'P{optimum}=? [ "through" U{written} "goal" ]'
        found = ask(text, prop)
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower <= exact <= found.upper, (text, prop, exact, found)
        assert found.upper - found.lower <= 2e-6 * max(float(exact), 1e-9), (text, prop, exact, found)
    uppers = [b if b is not None and b.most is not None else None for b in bounds]
    if any(uppers):
        asked = ", ".join(f'rew{{"{n}"}}<={b.most}' for n, b in zip("ab", uppers, strict=True) if b is not None)
        within = [None if b is None else Bound(b.most) for b in uppers]
        for optimum in ("min", "max") if model.is_mdp else ("",):
            worth = best_reward(model, within, optimum or "max")
            prop = f'R{{"r"}}{optimum}=? [ C^{{{asked}}} ]'
            try:
                found = ask(text, prop)
            except NumericError:
                if optimum != "min":
                    raise
                continue
            assert found.lower is not None
            assert found.upper is not None
            assert found.lower <= worth <= found.upper, (text, prop, worth, found)
            if worth != INFINITE:
                assert found.upper - found.lower <= 2e-6 * max(float(worth), 1e-6), (text, prop, worth, found)


@pytest.mark.parametrize("seed", range(60))
def test_budgets_beside_all_strategies_in_fractions(seed: int) -> None:
    random = Random(seed)
    compare(random_model(random), random)


@pytest.mark.parametrize("seed", range(20))
def test_budgets_beside_storm(seed: int, tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    random = Random(1000 + seed)
    model = random_model(random, most_states=8, is_mdp=True)
    path = tmp_path / "model.prism"
    path.write_text(model.text())
    program = stormpy.parse_prism_program(str(path), prism_compatibility=True, simplify=False)
    most, least = random.randrange(9), random.randrange(1, 4)
    for optimum in ("min", "max"):
        for asked in (
            f'P{optimum}=? [ F^{{rew{{"a"}}<={most}}} "goal" ]',
            f'P{optimum}=? [ F^{{rew{{"a"}}<={most}, rew{{"b"}}<={least}}} "goal" ]',
            f'P{optimum}=? [ F^{{rew{{"a"}}>={least}}} "goal" ]',
        ):
            (prop,) = stormpy.parse_properties(asked, program)
            built = stormpy.build_model(program, [prop])
            theirs = stormpy.model_checking(built, prop, only_initial_states=True).get_value(built.initial_states[0])
            assert ask(model.text(), asked).value == pytest.approx(theirs, rel=1e-5, abs=1e-5)
