"""What people get wrong in properties: a sentence each, that names the place."""

from __future__ import annotations

import pytest
from asking import COIN, GAMBLE, MACHINE, ask

import galton
from galton.lang import GaltonError, LanguageError

NEGATIVE = 'dtmc module m s:[0..1]; [] true -> (s\'=1); endmodule rewards "r" s=0 : -2; endrewards'
NOT_COSAFE = "this is not co-safe: no finite path makes it true, so rewards until then mean nothing"
TIMED = "a bound on time beside other temporal operators (LTL) is not supported"

CASES = [
    (COIN, "P>=1.5 [ F heads ]", "input", "a probability lies between 0 and 1, and this bound is 1.5"),
    (COIN, "P<-0.1 [ F heads ]", "input", "a probability lies between 0 and 1, and this bound is -0.1"),
    (COIN, "S>2 [ heads ]", "input", "a probability lies between 0 and 1, and this bound is 2"),
    (COIN, "R>=-1 [ F heads ]", "input", "expected rewards and times are not negative, and this bound is -1"),
    (COIN, "P=? [ F<=-1 heads ]", "input", "a bound cannot be negative, and this is -1"),
    (COIN, "P=? [ F<0 heads ]", "input", "no number of steps is below 0"),
    (COIN, "P=? [ F<=2.5 heads ]", "input", "steps are counted in whole numbers, and this is 2.5"),
    (COIN, "P=? [ F[3,2] heads ]", "input", "the interval is empty: 3 is above 2"),
    (COIN, "P=? [ F>=1/0 heads ]", "input", "a bound must be finite, and this is inf"),
    (COIN, "P=? [ F<=x heads ]", "input", "a bound may only use constants, and 'x' is a variable"),
    (COIN, "P>=x [ F heads ]", "input", "a bound may only use constants, and 'x' is a variable"),
    (COIN, "R=? [ C<=0.5 ]", "input", "steps are counted in whole numbers, and this is 0.5"),
    (COIN, "R=? [ I=-1 ]", "input", "a bound cannot be negative, and this is -1"),
    (MACHINE, "P=? [ F<=-0.5 state=1 ]", "input", "a bound cannot be negative, and this is -0.5"),
    (MACHINE, "P=? [ F[2,1.5] state=1 ]", "input", "the interval is empty: 2 is above 1.5"),
    (MACHINE, "P=? [ F<0 state=1 ]", "input", "no time is below 0"),
    (MACHINE, "R=? [ C<=1/0 ]", "input", "a bound must be finite, and this is inf"),
    (COIN, 'P=? [ F "head" ]', "input", 'unknown label "head"'),
    (COIN, 'R{"toses"}=? [ F heads ]', "input", 'unknown reward structure "toses"'),
    (COIN, "R{3}=? [ F heads ]", "input", "the model has 2 reward structures, and this is number 3"),
    ("dtmc module m s:[0..1]; endmodule", "R=? [ F s=1 ]", "input", "the model has no rewards"),
    (
        NEGATIVE,
        "R=? [ F s=1 ]",
        "model",
        'the reward structure "r" has negative rewards, such as -2: over runs without a bound, gains and losses '
        "need not add up to anything",
    ),
    (GAMBLE, "P=? [ F s=3 ]", "input", "an MDP has no single value for P=?: it depends on the strategy"),
    (GAMBLE, "R=? [ F s=3 ]", "input", "an MDP has no single value for R=?: it depends on the strategy"),
    (GAMBLE, "T=? [ F s=3 ]", "input", "an MDP has no single value for T=?: it depends on the strategy"),
    (GAMBLE, "S=? [ s=3 ]", "input", "an MDP has no single value for S=?: it depends on the strategy"),
    (GAMBLE, "R=? [ S ]", "input", "an MDP has no single value for R=?: it depends on the strategy"),
    (COIN, "R=? [ F G heads ]", "input", NOT_COSAFE),
    (COIN, "T=? [ (F x=1) & (G !heads) ]", "input", NOT_COSAFE),
    (COIN, "P=? [ F G x=nothing ]", "input", "unknown name 'nothing'"),
    (COIN, 'P=? [ G F "head" ]', "input", 'unknown label "head"'),
    (
        COIN,
        "P=? [ G (heads => (F<=2000 x=0)) ]",
        "input",
        "beside other temporal operators a bound may be 1,000 steps at most",
    ),
    (COIN, "P=? [ G (heads => (F<=-1 x=0)) ]", "input", "a bound cannot be negative, and this is -1"),
    (
        MACHINE,
        "P=? [ G (state=0 => (F<=2 state=1)) ]",
        "unsupported",
        TIMED,
    ),
    (GAMBLE, "P=? [ G F s=3 ]", "input", "an MDP has no single value for P=?: it depends on the strategy"),
    (COIN, "R=? [ G heads ]", "input", NOT_COSAFE),
    (COIN, "R=? [ F<=3 heads ]", "unsupported", "rewards until a bounded formula are not supported"),
    (
        MACHINE,
        "A [ F<=3 state=1 ]",
        "unsupported",
        "'A' with a bound on time is not supported: paths may be as slow as they like",
    ),
    (COIN, 'E [ F^{rew{"tosses"}<=3} heads ]', "unsupported", "'E' with a bound on a reward is not supported"),
    (COIN, "E [ F[3,2] heads ]", "input", "the interval is empty: 3 is above 2"),
    (
        COIN,
        'P=? [ (F^{rew{"tosses"}<=3} heads) & (G x<3) ]',
        "unsupported",
        "paths within budgets, F^{rew{…}<=k}, beside other temporal operators are not supported",
    ),
    (
        GAMBLE,
        "multi(Pmax=? [ F s=3 ], Rmin=? [ F s=4 ])",
        "unsupported",
        "all strategies have infinite rewards, so there is no Pareto set",
    ),
    (COIN, "pow(2, x-1)", "model", "a power of integers needs a nonnegative exponent, in state (x=0, heads=false)"),
    (COIN, "filter(sum, mod(3, x))", "model", "'mod' needs a positive divisor, in state (x=0, heads=false)"),
    (COIN, "floor(x/0)", "model", "'floor' needs a finite number, in state (x=0, heads=false)"),
    (COIN, "P=? [ F mod(3, x)=1 ]", "model", "'mod' needs a positive divisor, in state (x=0, heads=false)"),
    (COIN, "const int k; P=? [ F<=k heads ]", "input", "this property needs a value for the constant 'k'"),
    (COIN, "P=? [ F x ]", "input", "the operand of 'F' must be a bool, but this is an int"),
]


@pytest.mark.parametrize(("text", "prop", "kind", "message"), CASES)
def test_sentence(text: str, prop: str, kind: str, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        ask(text, prop)
    assert (caught.value.kind, caught.value.message) == (kind, message)
    assert 0 <= caught.value.span.start < caught.value.span.end <= len(prop)


@pytest.mark.parametrize(
    ("text", "prop", "hint"),
    [
        (COIN, 'P=? [ F "head" ]', "did you mean 'heads'?"),
        (COIN, 'R{"toses"}=? [ F heads ]', "did you mean 'tosses'?"),
        (GAMBLE, "P=? [ F s=3 ]", "ask for Pmin=? or Pmax=?"),
    ],
)
def test_hint(text: str, prop: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        ask(text, prop)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "prop", "value"),
    [
        (COIN, "P=? [ F x>7 ]", 0.0),
        (GAMBLE, "Pmax=? [ F s>4 ]", 0.0),
        (COIN, 'R{"tosses"}=? [ F x>7 ]', float("inf")),
        (MACHINE, "T=? [ F state>2 ]", float("inf")),
    ],
)
def test_an_empty_target_is_answered_with_a_warning(text: str, prop: str, value: float) -> None:
    found = ask(text, prop)
    assert found.value == value
    (warning,) = found.warnings
    assert warning.startswith("no state satisfies ")
    assert warning.endswith(", so it is never reached")


@pytest.mark.parametrize("exact", [False, True])
def test_goals_behind_states_that_are_not_explored(exact: bool) -> None:
    """Nobody knows whether there are any; where all is explored, there are none."""
    program = galton.parse(COIN)
    for prop in ("P=? [ x<1 U heads & x=2 ]", "P=? [ x<1 U<=5 heads & x=2 ]"):
        assert not galton.check(program, prop, device="cpu", exact=exact).warnings
    (warning,) = galton.check(program, "P=? [ x<9 U x=7 ]", device="cpu", exact=exact).warnings
    (same,) = galton.check(program.build(), "P=? [ x<1 U x=7 ]", device="cpu", exact=exact).warnings
    assert warning == same == "no state satisfies x = 7, so it is never reached"


@pytest.mark.parametrize("operator", ["!", "1 - -"])
def test_deep_nesting(operator: str) -> None:
    inner = "heads" if operator == "!" else "P=? [ X heads ]"
    prop = operator * 500 + inner if operator == "!" else f"{operator * 300}{inner} > 0"
    assert ask(COIN, prop).value in (True, False)


def test_more_than_one_property() -> None:
    with pytest.raises(GaltonError, match="one property is asked for, and this text has 2"):
        ask(COIN, "P=? [ X heads ]; P=? [ F heads ]")


@pytest.mark.parametrize("prop", ["P=? [ F heads ]", "P=? [ F<=7 heads ]", "P>=0.5 [ F heads ]", "S=? [ heads ]"])
def test_an_eps_that_doubles_cannot_attain_is_refused(prop: str) -> None:
    """It used to give bounds one unit in the last place wide, without a word."""
    for chosen in ({"eps": 1e-30}, {"settings": galton.Settings(eps=9.9e-14)}):
        with pytest.raises(GaltonError, match="1e-13 is the smallest eps"):
            galton.check(galton.parse(COIN), prop, **chosen)  # type: ignore[arg-type]
    with pytest.raises(GaltonError, match="1e-13 is the smallest eps"):
        galton.check(galton.parse(COIN).build(), prop, eps=1e-14)
    found = galton.check(galton.parse(COIN), prop, eps=1e-13)
    assert found.lower is None or found.upper - found.lower <= 2e-13 * found.upper


def test_a_small_absolute_eps_is_for_small_values() -> None:
    found = galton.check(galton.parse(COIN), "P=? [ F<=3 heads ]", settings=galton.Settings(eps=1e-14, relative=False))
    assert found.upper - found.lower <= 2e-14


def test_an_eps_that_says_nothing_is_refused() -> None:
    for chosen in ({"eps": 2}, {"settings": galton.Settings(eps=1.0)}):
        with pytest.raises(GaltonError, match=r"eps must lie between 0 and 1, and this is [12]"):
            galton.check(galton.parse(COIN), "P=? [ F heads ]", **chosen)
