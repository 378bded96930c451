"""One table of models and properties under every method; where methods are known to fail; and the words they fail with.

Values are exact, by the argument beside them where they are not plain to see.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import questions

import galton
from galton.lang.source import GaltonError
from galton.model.sparse import Model
from galton.reduce.unknowns import open_equations
from galton.solve import METHODS, NumericError, Settings, solve
from galton.solve.methods import TIMED, method
from galton.solve.requirements import Requirement

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "methods.md"
MODELS = Path(__file__).parents[2] / "models"
PROVING = ["sound", *(name for name in METHODS if method(name).proves)]
FOR_MDPS = [name for name in METHODS if Requirement.CHAIN not in method(name).requires]
FOR_CHAINS = [name for name in METHODS if Requirement.CHAIN in method(name).requires]
EVERY = ["sound", *METHODS, "topological", *(f"topological:{name}" for name in METHODS)]
EPS = 1e-9


@dataclass(frozen=True)
class Case:
    """A model, and properties with their values in the initial state."""

    name: str
    text: str
    values: dict[str, Fraction | float]
    beyond: tuple[str, ...] = ()  # methods that do not get there

    @property
    def is_mdp(self) -> bool:
        return self.text.startswith("mdp")


CASES = [
    Case(
        "die",
        """dtmc module die  s : [0..7];  d : [0..6];
          [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
          [] s=1 -> 0.5:(s'=3) + 0.5:(s'=4);
          [] s=2 -> 0.5:(s'=5) + 0.5:(s'=6);
          [] s=3 -> 0.5:(s'=1) + 0.5:(s'=7)&(d'=1);
          [] s=4 -> 0.5:(s'=7)&(d'=2) + 0.5:(s'=7)&(d'=3);
          [] s=5 -> 0.5:(s'=7)&(d'=4) + 0.5:(s'=7)&(d'=5);
          [] s=6 -> 0.5:(s'=2) + 0.5:(s'=7)&(d'=6);
          [] s=7 -> true; endmodule
          rewards s<7 : 1; endrewards""",
        {
            "P=? [ F d=6 ]": Fraction(1, 6),
            "P=? [ !(s=4) U d=1 ]": Fraction(1, 6),
            "R=? [ F s=7 ]": Fraction(11, 3),
            "R=? [ C ]": Fraction(11, 3),
            "P=? [ G d!=6 ]": Fraction(5, 6),
        },
    ),
    Case(  # a fair walk between two ends: every second sweep of Jacobi's changes nothing in half of the states
        "periodic walk",
        """dtmc module walk  x : [0..8] init 3;
          [] x>0 & x<8 -> 0.5:(x'=x-1) + 0.5:(x'=x+1);  [] x=0 | x=8 -> true; endmodule
          rewards true : 1; endrewards  rewards "none" x=8 : 1; endrewards""",
        {
            "P=? [ F x=8 ]": Fraction(3, 8),
            "R=? [ F x=0 | x=8 ]": Fraction(15),
            'R{"none"}=? [ F x=0 | x=8 ]': Fraction(0),
            "T=? [ F x!=3 & x!=2 ]": Fraction(2),  # from 2 or 3, half of the steps lead out
        },
    ),
    Case(  # the odds are those of the embedded chain; between 0 and 1 a few times forth and back
        "stiff CTMC",
        """ctmc module m  s : [0..4];
          [] s=0 -> 1e6:(s'=1) + 1e6:(s'=4);
          [] s=1 -> 1e-6:(s'=0) + 2e-6:(s'=2);
          [] s=2 -> 3e-6:(s'=3) + 1e6:(s'=2);
          [] s>2 -> 1:(s'=s); endmodule
          rewards s=1 : 6; s=2 : 3; endrewards""",
        # 1 is met 1/2 / (1 - 1/6) times, for 1/3e-6 each time; then 2 with probability 2/3, for 1/3e-6.
        {"P=? [ F s=3 ]": Fraction(2, 5), "R=? [ F s>2 ]": Fraction(3, 5) * 2 * 10**6 + Fraction(2, 5) * 10**6},
        beyond=("power",),  # in a step of the uniformised chain hardly anything happens
    ),
    Case(
        "components",  # a walk that may end at 0, one that cannot, then a long way without a cycle
        """dtmc module m  x : [0..30] init 1;  trap : bool;
          [] x>0 & x<10 & !trap -> 0.5:(x'=x+1) + 0.5:(x'=x-1);
          [] x=10 & !trap -> (x'=11);
          [] x>10 & x<20 & !trap -> 0.75:(x'=x+1) + 0.25:(x'=max(11,x-1));
          [] x>=20 & x<30 & !trap -> 0.9:(x'=x+1) + 0.1:(trap'=true);
          [] x=0 | x=30 | trap -> true; endmodule""",
        {"P=? [ F x=30 ]": Fraction(1, 10) * Fraction(9, 10) ** 10},
    ),
    Case(  # 0 and 1 may go round for ever; leaving wins with probability 0.5 or 0.6
        "end component",
        """mdp module m  s : [0..3];
          [stay] s=0 -> (s'=1);  [go] s=0 -> 0.5:(s'=2) + 0.5:(s'=3);
          [stay] s=1 -> (s'=0);  [go] s=1 -> 0.6:(s'=2) + 0.4:(s'=3);
          [] s>1 -> true; endmodule
          rewards [go] true : 5; endrewards  rewards "both" [go] s=0 : 5; [go] s=1 : 3; [stay] true : 1; endrewards""",
        {
            "Pmax=? [ F s=2 ]": Fraction(6, 10),
            "Pmin=? [ F s=2 ]": Fraction(0),
            "R{1}min=? [ F s>1 ]": Fraction(5),
            'R{"both"}min=? [ F s>1 ]': Fraction(4),
            "R{1}max=? [ F s>1 ]": math.inf,
        },
    ),
    Case(
        "choices that differ little",
        """mdp module m  s : [0..3];
          [a] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
          [b] s=0 -> 0.500001:(s'=1) + 0.499999:(s'=2);
          [] s=1 -> 0.5:(s'=0) + 0.5:(s'=3);
          [] s>1 -> true; endmodule""",
        {
            "Pmax=? [ F s=3 ]": 1 / (1 / Fraction("0.2500005") - 1),
            "Pmin=? [ F s=3 ]": Fraction(1, 3),
        },
    ),
    Case(  # one choice goes round, one may lose: begun with either, policy iteration would have nothing to solve
        "a way round",
        """mdp module m  s : [0..4];
          [round] s=0 -> (s'=1);  [on] s=0 -> (s'=2);  [lose] s=0 -> 0.5:(s'=3) + 0.5:(s'=4);
          [] s=1 -> (s'=0);
          [] s=2 -> 0.5:(s'=0) + 0.5:(s'=3);
          [] s>2 -> true; endmodule
          rewards s<3 : 1; endrewards""",
        {"Rmin=? [ F s=3 ]": Fraction(4), "Rmax=? [ F s>2 ]": math.inf, "Pmax=? [ F s=4 ]": Fraction(1, 2)},
    ),
    Case(  # from 0 the end is reached for nothing, which rounding and sweeps from a dearer strategy only come near
        "for nothing",
        """mdp module m  s : [0..3] init 1;
          [] s=0 -> 1/6:(s'=3) + 5/6:(s'=2);
          [] s=1 -> (s'=0);
          [free] s=2 -> (s'=0);  [dear] s=2 -> 1/3:(s'=0) + 1/3:(s'=1) + 1/3:(s'=3);
          [] s=3 -> true; endmodule
          rewards s=1 : 1; endrewards""",
        {"Rmin=? [ F s=3 ]": Fraction(1), "Rmax=? [ F s=3 ]": Fraction(13, 8)},
    ),
    Case(
        "for nothing, in a chain",
        """dtmc module m  s : [0..4] init 1;
          [] s=0 -> 1/3:(s'=4) + 2/3:(s'=3);
          [] s=1 -> 0.5:(s'=0) + 0.5:(s'=2);
          [] s=2 -> (s'=1);
          [] s=3 -> (s'=0);
          [] s=4 -> true; endmodule
          rewards s=1 : 1; endrewards""",
        {"R=? [ F s=4 ]": Fraction(2), "filter(state, R=? [ F s=4 ], s=0)": Fraction(0)},
    ),
    Case(  # against the odds, bold play is best (2, 4, 6) and timid play worst (Dubins and Savage 1965)
        "stakes",
        """mdp module m  x : [0..6] init 2;
          [one] x>0 & x<6 -> 0.4:(x'=x+1) + 0.6:(x'=x-1);
          [two] x>1 & x<5 -> 0.4:(x'=x+2) + 0.6:(x'=x-2);
          [] x=0 | x=6 -> true; endmodule
          rewards true : 1; endrewards""",
        {
            "Pmax=? [ F x=6 ]": Fraction(4, 19),
            "Pmin=? [ F x=6 ]": (Fraction(3, 2) ** 2 - 1) / (Fraction(3, 2) ** 6 - 1),
            # One at a time: (x - 6·P(6)) / (0.6 - 0.4).
            "Rmax=? [ F x=0 | x=6 ]": 5 * (2 - 6 * (Fraction(3, 2) ** 2 - 1) / (Fraction(3, 2) ** 6 - 1)),
        },
    ),
]


@cache
def built(text: str) -> Model:
    return galton.parse(text).build()


def ask(text: str, prop: str, **choices: object) -> galton.Result:
    return galton.check(built(text), prop, settings=Settings(**choices))  # type: ignore[arg-type]


TABLE = [
    pytest.param(case, name, id=f"{case.name}-{name}")
    for case in CASES
    for name in EVERY
    if not (case.is_mdp and name.removeprefix("topological:") in FOR_CHAINS)
]


@pytest.mark.parametrize(("case", "name"), TABLE)
def test_value(case: Case, name: str) -> None:
    inner = name.removeprefix("topological:")
    for prop, exact in case.values.items():
        if inner in case.beyond:
            with pytest.raises(NumericError, match="did not converge"):
                ask(case.text, prop, method=name, eps=EPS, max_iterations=1000)
            continue
        found = ask(case.text, prop, method=name, eps=EPS)
        if exact == math.inf:
            assert found.value == math.inf
            continue
        assert found.value == pytest.approx(float(exact), rel=1e-6)
        assert found.lower is not None
        assert found.upper is not None
        if found.proved:
            # The numbers of the text and those of the model differ by rounding.
            rounding = Fraction(1, 2**49) * Fraction(exact)
            assert Fraction(found.lower) - rounding <= exact <= Fraction(found.upper) + rounding
            assert found.upper - found.lower <= 2 * EPS * found.upper
        else:
            assert found.lower == found.upper == found.value
        assert found.proved == (inner in PROVING or found.method == "graph analysis")


# Where it takes so long until anything is decided that values hardly change from one sweep to the next.

ITERATIVE = ["jacobi", "jor", "gauss-seidel", "backward-gauss-seidel", "sor", "power", "value-iteration"]
HADDAD_MONMEGE = """dtmc const int N; module m  x : [-N..N] init 0;
  [] x=0 -> 0.7:(x'=-1) + 0.3:(x'=1);
  [] x<0 & x>-N -> 0.5:(x'=x-1) + 0.5:(x'=0);
  [] x>0 & x<N -> 0.5:(x'=x+1) + 0.5:(x'=0);
  [] x=-N | x=N -> true; endmodule label "left" = x=-N;"""
FAST_PAIR = """ctmc module m  s : [0..3];
  [] s=0 -> 1e4:(s'=1) + 1e-4:(s'=3);
  [] s=1 -> 1e4:(s'=0) + 1e-4:(s'=2);
  [] s>1 -> 1:(s'=s); endmodule label "left" = s=2;"""
FOOLING = {
    "Haddad and Monmege, 20": (HADDAD_MONMEGE.replace("int N", "int N=20"), Fraction(7, 10)),
    "Haddad and Monmege, 60": (HADDAD_MONMEGE.replace("int N", "int N=60"), Fraction(7, 10)),
    "Haddad and Monmege, 300": (HADDAD_MONMEGE.replace("int N", "int N=300"), Fraction(7, 10)),
    "a fast pair of states": (FAST_PAIR, Fraction(10**8, 2 * 10**8 + 1)),
}


@pytest.mark.parametrize("name", ITERATIVE)
@pytest.mark.parametrize("case", FOOLING)
def test_sweeps_that_change_little_are_no_sign(case: str, name: str) -> None:
    text, exact = FOOLING[case]
    found = ask(text, 'P=? [ F "left" ]', method=name, eps=1e-5)
    assert not found.proved
    assert abs(float(found) - exact) > 100 * Fraction(1, 10**5) * exact


@pytest.mark.parametrize("name", [*PROVING, "direct", "policy-iteration"])
@pytest.mark.parametrize("case", FOOLING)
def test_right_or_refused(case: str, name: str) -> None:
    text, exact = FOOLING[case]
    try:
        limit = {} if name == "sound" else {"max_iterations": 20_000}
        found = ask(text, 'P=? [ F "left" ]', method=name, **limit)
    except NumericError:
        assert name != "sound"
        return
    assert abs(float(found) - exact) <= Fraction(1, 10**6) * exact


def test_direct_methods_are_refused_only_where_they_must() -> None:
    text, _ = FOOLING["Haddad and Monmege, 20"]
    assert float(ask(text, 'P=? [ F "left" ]', method="direct")) == pytest.approx(0.7, rel=1e-6)
    text, _ = FOOLING["Haddad and Monmege, 60"]
    with pytest.raises(NumericError, match=r"direct cannot be trusted here: about .* steps remain"):
        ask(text, 'P=? [ F "left" ]', method="direct")


def test_likely_loops_matter_to_the_power_method_alone() -> None:
    text = """dtmc module m  s : [0..3];
      [] s=0 -> 1-1e-9:(s'=0) + 0.4e-9:(s'=1) + 0.6e-9:(s'=3);
      [] s=1 -> 1-2e-9:(s'=1) + 1e-9:(s'=0) + 1e-9:(s'=2);
      [] s>1 -> true; endmodule"""
    for name in METHODS:
        found = float(ask(text, "P=? [ F s=2 ]", method=name, relative=False))
        if name == "power":
            assert found < 0.01
        else:
            assert found == pytest.approx(0.25, rel=1e-5)


# Failures in words.

WALK = next(case.text for case in CASES if case.name == "periodic walk")


@pytest.mark.parametrize(("name", "omega"), [("jor", 1.9), ("sor", 2.5)])
def test_too_much_relaxation_diverges(name: str, omega: float) -> None:
    with pytest.raises(NumericError, match=f"{name} diverges.*omega of at most 1") as caught:
        ask(WALK, "P=? [ F x=8 ]", method=name, omega=omega)
    assert caught.value.kind == "numeric"


@pytest.mark.parametrize(("name", "omega"), [("jor", 0.5), ("jor", 1.02), ("sor", 0.5), ("sor", 1.4)])
def test_relaxation_that_converges(name: str, omega: float) -> None:
    assert float(ask(WALK, "P=? [ F x=8 ]", method=name, omega=omega, eps=1e-9)) == pytest.approx(3 / 8, rel=1e-6)


@pytest.mark.parametrize("omega", [0.0, -1.0, math.nan])
def test_a_relaxation_must_be_positive(omega: float) -> None:
    with pytest.raises(GaltonError, match="omega must be more than 0"):
        ask(WALK, "P=? [ F x=8 ]", method="sor", omega=omega)


@pytest.mark.parametrize("name", [*ITERATIVE, "interval", "optimistic", "topological:jacobi"])
def test_too_few_sweeps(name: str) -> None:
    with pytest.raises(NumericError, match=f"{name} did not converge: after .* raise max_iterations"):
        ask(WALK, "P=? [ F x=8 ]", method=name, max_iterations=3)


@pytest.mark.parametrize("name", ["bicgstab", "gmres"])
def test_too_few_products(name: str) -> None:
    wide = WALK.replace("8", "200").replace("init 3", "init 77")
    with pytest.raises(NumericError, match=f"{name} did not converge"):
        ask(wide, "P=? [ F x=200 ]", method=name, max_iterations=20)
    assert float(ask(wide, "P=? [ F x=200 ]", method=name)) == pytest.approx(77 / 200, rel=1e-2)


@pytest.mark.parametrize("name", FOR_CHAINS)
def test_methods_for_chains(name: str) -> None:
    text = next(case.text for case in CASES if case.name == "stakes")
    with pytest.raises(
        GaltonError, match=f"{name} solves the equations of chains, and an MDP has choices; take value-"
    ):
        ask(text, "Pmax=? [ F x=6 ]", method=name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("jakobi", r"no method 'jakobi'; did you mean 'jacobi'\? \(there are sound, jacobi, jor, .*topological"),
        ("xyz", r"no method 'xyz' \(there are sound, "),
        ("topological:gauss", r"no method 'gauss' to go inside topological"),
        ("topological:sound", r"no method 'sound' to go inside topological"),
        ("jacobi:direct", "only topological takes another method inside"),
    ],
)
def test_unknown_names(name: str, message: str) -> None:
    with pytest.raises(GaltonError, match=message) as caught:
        Settings(method=name)
    assert caught.value.kind == "input"


# What methods share.


def test_absolute_precision() -> None:
    for name in EVERY:
        found = ask(WALK, "R{1}=? [ F x=0 | x=8 ]", method=name, eps=1e-3, relative=False)
        assert float(found) == pytest.approx(15, abs=0.05)
        if found.proved:
            assert found.lower is not None
            assert found.upper is not None
            assert found.lower <= 15 <= found.upper
            assert found.upper - found.lower <= 2e-3


@pytest.mark.parametrize("name", FOR_MDPS)
def test_strategies_attain_the_value(name: str) -> None:
    text = next(case.text for case in CASES if case.name == "stakes")
    for prop, value in (("Pmax=? [ F x=6 ]", 4 / 19), ("Pmin=? [ F x=6 ]", 1.25 / (1.5**6 - 1))):
        found = ask(text, prop, method=name, eps=1e-9, strategy=True)
        assert found.strategy is not None
        induced = found.strategy.induced()
        assert float(galton.check(induced, "P=? [ F x=6 ]")) == pytest.approx(value, rel=1e-6)


def test_progress_is_told() -> None:
    for name in EVERY[1:]:
        news: list[dict[str, object]] = []
        ask(WALK, "P=? [ F x=8 ]", method=name, watch=news.append)
        if name.endswith(("direct", "policy-iteration")):  # one solve
            continue
        assert news
        assert news[-1]["method"] == ("topological:value-iteration" if name == "topological" else name)


def test_bounds_are_told_while_they_close() -> None:
    news: list[dict[str, object]] = []
    ask(WALK, "P=? [ F x=8 ]", method="interval", watch=news.append)
    lows, highs = [n["lower"] for n in news], [n["upper"] for n in news]
    assert lows == sorted(lows)  # type: ignore[type-var]
    assert highs == sorted(highs, reverse=True)  # type: ignore[type-var]
    assert all(low <= 3 / 8 <= high for low, high in zip(lows, highs, strict=True))  # type: ignore[operator]


@pytest.mark.parametrize("name", [*METHODS, "topological:interval"])
def test_the_same_on_the_reference_backend(name: str) -> None:
    """Methods are written over primitives, whoever provides them."""
    model = built(next(case.text for case in CASES if case.name == "die"))
    rewards = np.ones(model.n_states)
    for equations in (
        questions.reachability(model, [model.n_states - 1]),
        questions.reward(model, rewards, np.flatnonzero(model.states.column("s") == 7)),  # type: ignore[union-attr]
    ):
        settings = Settings(method=name)
        found, other = (solve(e, settings) for e in (equations, questions.OnReference.of(equations)))
        np.testing.assert_allclose(found.lower, other.lower, rtol=1e-9)
        np.testing.assert_allclose(found.upper, other.upper, rtol=1e-9)


def test_where_a_method_has_no_say_it_is_refused_or_the_plan_tells() -> None:
    with pytest.raises(GaltonError, match=r"method=.jacobi. does nothing for .* it is for unbounded paths and rewards"):
        ask(WALK, "P=? [ F<=5 x=8 ]", method="jacobi")
    found = ask(WALK, "P=? [ F P>0.5 [ F<=5 x=8 ] ]", method="jacobi")
    assert any("jacobi is for unbounded paths and rewards" in work.detail for work in found.work)
    found = ask(WALK, "P=? [ F x=8 ]", method="jacobi")
    assert not any(work.step == "method" for work in found.work)


def test_long_run_averages_inside_are_proved_where_the_method_is_not_for_them() -> None:
    """A guess, too low by 4e-8, used to pass for the exact probability to end in a component."""
    die = galton.load(MODELS / "die.prism")
    prop = 'P=? [ F node=7 ] * filter(state, S=? [ d=6 ], "init")'
    inside = galton.check(die, prop, method="value-iteration").steps[-1]
    assert "value-iteration" not in [work.step for work in inside.work]
    prop = 'filter(state, S>=0.16666664 [ d=6 ] & P>0.5 [ F node=7 ], "init")'
    assert galton.check(die, prop, method="value-iteration").value is True


def test_long_run_averages_by_a_method_that_proves_nothing_are_not_called_proved() -> None:
    die = galton.load(MODELS / "die.prism")
    for prop in ("S=? [ d=6 ]", 'filter(state, S>=0.1 [ d=6 ] & P>0.5 [ F node=7 ], "init")'):
        assert not galton.check(die, prop, method="jacobi").proved


@pytest.mark.parametrize("late", ["F>=2 d=6", "F>=2 node=7 & d=6", "G>=3 d!=6"])
def test_bounds_without_an_upper_end_are_proved_whatever_the_method(late: str) -> None:
    """Jacobi's guess for what follows the first steps used to pass for proved bounds."""
    die = galton.load(MODELS / "die.prism")
    prop = f'0 * P=? [ F d=1 ] + filter(state, P=? [ {late} ], "init")'
    found = galton.check(die, prop, method="jacobi")
    assert "jacobi" not in [work.step for work in found.steps[-1].work]
    with pytest.raises(GaltonError, match=r"method=.jacobi. does nothing for .* bounds without an upper end"):
        galton.check(die, f"P=? [ {late} ]", method="jacobi")


@pytest.mark.parametrize("name", METHODS)
def test_the_documentation_has_the_terms_of_every_method(name: str) -> None:
    text = DOCUMENTATION.read_text()
    assert f"`{name}`" in text
    assert method(name).guarantees in text
    assert method(name).literature in text


REQUIRED = {
    Requirement.NOT_NEGATIVE: "numbers that are not negative",
    Requirement.ON_HOST: "the memory of the host",
    Requirement.SEGMENTS: "the order of components",
}


@pytest.mark.parametrize("name", METHODS)
def test_the_documentation_has_what_every_method_requires(name: str) -> None:
    (row,) = [line for line in DOCUMENTATION.read_text().splitlines() if line.startswith(f"| `{name}` |")]
    _, _, meant_for, required, *_ = [cell.strip() for cell in row.split("|")]
    requires = method(name).requires
    assert Requirement.ONE_SOLUTION in requires  # which the page says of all
    assert meant_for == ("chains" if Requirement.CHAIN in requires else "chains, MDPs")
    assert required == ", ".join(word for requirement, word in REQUIRED.items() if requirement in requires)


@pytest.mark.parametrize("name", TIMED)
def test_the_documentation_has_every_method_for_time_bounds(name: str) -> None:
    assert f"| `{name}` |" in DOCUMENTATION.read_text()


def test_interval_iteration_bounded_means_above_one_by_one() -> None:
    """The mean of 3 and 5 came out below 4, because interval iteration began with 1, as for a probability."""
    chain = Model.from_matrix("dtmc", [[0, 0.9, 0.05, 0.05], [0.9, 0, 0.05, 0.05], [0, 0, 1, 0], [0, 0, 0, 1]])
    settings = Settings(method="interval")
    known = np.array([0.0, 0.0, 3.0, 5.0])
    found = solve(open_equations(chain, known == 0, known, settings).equations, settings)
    assert (found.lower <= 4).all()
    assert (found.upper >= 4).all()
    assert (found.upper - found.lower <= 8e-6).all()
