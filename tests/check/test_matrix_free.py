"""Answers without a matrix beside those with one, on a device that is played: gallery, random programs, corners."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from played import played_device
from program_cases import GALLERY, OFF
from sliced_programs import sliced
from symmetric_programs import symmetric

import galton
from galton.checking import orbits_propose
from galton.checking.asking import Asked
from galton.checking.inquiring import inquire
from galton.checking.matrix_free import Answered, answer, read
from galton.lang.source import GaltonError, UnsupportedError
from galton.solve.settings import Settings

MODELS = Path(__file__).parents[2] / "models"
EPS = 1e-6
MOST_STATES = 1_500
SLOW = {"haddad-monmege.prism"}  # made so that sweeps take for ever
NOTHING: set[str] = set()  # models that are asked nothing that is answered without a matrix


@pytest.fixture(autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    """A device: a real one where there is one to be tested, or one that is played."""
    with nullcontext() if request.node.get_closest_marker("gpu") else played_device():
        yield


def asked_of(program: galton.Program, prop: str | Path, **constants: object) -> list[Asked]:
    """Properties, resolved."""
    (row,) = inquire(program, prop, constants, Settings()).rows()
    return row.all_asked


def answered(asked: Asked, **more: object) -> Answered:
    """The answer without a matrix."""
    return answer(asked.context, asked.question, Settings(eps=EPS, max_iterations=20_000), **more)


def ask(program: galton.Program, prop: str, **more: object) -> Answered:
    """The answer to one property without a matrix."""
    (asked,) = asked_of(program, prop)
    return answered(asked, **more)


def agree(found: Answered, expected: galton.Result) -> None:
    """Bounds that overlap, because both hold the truth, and are as close as was asked for."""
    mine, theirs = found.result, expected
    assert mine.proved
    if theirs.lower is None or theirs.upper is None:
        assert mine.value == theirs.value
        return
    assert mine.lower is not None
    assert mine.upper is not None
    assert mine.lower <= theirs.upper, (mine, theirs)
    assert theirs.lower <= mine.upper, (mine, theirs)
    if not isinstance(mine.value, tuple) and mine.upper != mine.lower and not mine.warnings:
        size = 1.0 if "G" in mine.formula else mine.upper  # one minus a number has no more digits than that
        assert mine.upper - mine.lower <= 2.001 * EPS * size


def gallery() -> Iterator[tuple[str, dict[str, object]]]:
    """The smallest instance of every chain and decision process, if it is small."""
    for entry in GALLERY:
        small = min(entry["instances"], key=lambda instance: instance["states"])
        if entry["type"] != "ctmc" and small["states"] <= MOST_STATES and entry["file"] not in SLOW:
            yield entry["file"], small["constants"]


@pytest.mark.parametrize(("file", "constants"), list(gallery()), ids=[file for file, _ in gallery()])
def test_the_gallery_has_the_same_answers(file: str, constants: dict[str, object]) -> None:
    """Every property of the smaller models that can be answered without a matrix."""
    program = galton.load(MODELS / file, **constants)
    path = MODELS / file.replace(".prism", ".props")
    entry = next(entry for entry in GALLERY if entry["file"] == file)
    own = set(program.constants)
    values = {
        name: value for item in entry["properties"] for name, value in item["constants"].items() if name not in own
    }
    compared = 0
    for asked, expected in zip(asked_of(program, path, **values), galton.check(program, path, **values), strict=True):
        try:
            read(asked.context, asked.question)
        except UnsupportedError:
            continue
        found = answered(asked)
        assert not found.result.warnings
        agree(found, expected)
        compared += 1
    assert compared or file in NOTHING


NEVER = {(symmetric, 2, "R", "min")}  # programs with strategies that never reach the goal, asked for the least reward


@pytest.mark.parametrize("seed", [0, 2, 3, 5])
@pytest.mark.parametrize("make", [sliced, symmetric])
def test_random_programs_have_the_same_answers(make: Callable[[int], object], seed: int) -> None:
    """Programs with cycles, end components, several initial states and rewards of both kinds."""
    program = galton.parse(str(make(seed)))
    name = program.reward_names[0]
    for optimum in ("min", "max") if program.nature.has_choices else ("",):
        for prop in (f'P{optimum}=? [ F "goal" ]', f'R{{"{name}"}}{optimum}=? [ F "goal" ]'):
            refused = pytest.raises(GaltonError, match="some strategies never reach the goal")
            with refused if (make, seed, prop[0], optimum) in NEVER else nullcontext():
                agree(ask(program, prop), galton.check(program, prop, device="cpu"))


@pytest.mark.parametrize("text", OFF.values(), ids=OFF)
def test_rows_that_do_not_sum_to_1(text: str) -> None:
    """Probabilities are the numbers of a row divided by their sum, as in a matrix."""
    program = galton.parse(text)
    optimum = "max" if program.nature.has_choices else ""
    for prop in (f"P{optimum}=? [ x<3 U x=4 ]", f"P{optimum}=? [ F x>=3 ]"):
        agree(ask(program, prop), galton.check(program, prop, device="cpu"))


STAY = "mdp module m x : [0..3]; [] x=0 -> (x'=1); [] x=1 -> (x'=0); [] x=1 -> 0.5 : (x'=2) + 0.5 : (x'=3); endmodule "


def test_end_components_keep_bounds_wide_and_right() -> None:
    """Who may stay for ever keeps the bound from above at 1; nothing that is told is wrong, and it is said."""
    program = galton.parse(STAY)
    found = ask(program, "Pmax=? [ F x=2 ]")
    assert found.result.lower == 0.5
    assert found.result.upper == 1.0
    assert "further apart than eps" in found.result.warnings[0]
    assert ask(program, "Pmin=? [ F x=2 ]").result.upper == 0.0
    assert ask(program, "P<=0.4 [ F x=2 ]").result.value is False
    assert ask(program, "P<=0.6 [ F x=2 ]").result.value is None


def test_rewards_that_are_infinite() -> None:
    program = galton.parse(STAY + "rewards x=0 : 1; endrewards")
    assert ask(program, "Rmax=? [ F x>=2 ]").result.value == math.inf
    with pytest.raises(GaltonError, match=r"some strategies never reach the goal, .* leave matrix_free away"):
        ask(program, "Rmin=? [ F x>=2 ]")
    walk = "dtmc module m x : [0..4] init 2; [] x>0 & x<4 -> 0.5 : (x'=x-1) + 0.5 : (x'=x+1); endmodule "
    assert ask(galton.parse(walk + "rewards true : 1; endrewards"), "R=? [ F x=4 ]").result.value == math.inf
    found = ask(galton.parse(walk + "rewards true : 1; endrewards"), "R=? [ F x=0 | x=4 ]").result
    assert (found.lower, found.upper) == pytest.approx((4.0, 4.0), rel=3e-6)
    assert found.lower <= 4 <= found.upper


def test_zero_rewards_on_cycles_do_not_count_as_an_end() -> None:
    """The least fixpoint gives nothing for staying where nothing is earned; the goal is not reached so."""
    text = "mdp module m x : [0..2]; [] x=0 -> (x'=1); [] x=1 -> (x'=0); [out] x=1 -> (x'=2); endmodule "
    with pytest.raises(GaltonError, match="some strategies never reach the goal"):
        ask(galton.parse(text + "rewards [out] true : 5; endrewards"), "Rmin=? [ F x=2 ]")
    # A choice that only leads back is told from one that leaves at last.
    text = "mdp module m x : [0..1]; [] x=0 -> true; [out] x=0 -> 0.5 : (x'=1) + 0.5 : true; endmodule "
    found = ask(galton.parse(text + "rewards [out] true : 5; endrewards"), "Rmin=? [ F x=1 ]")
    assert (found.result.lower, found.result.upper) == (10.0, 10.0)
    assert ask(galton.parse(text + "rewards [out] true : 5; endrewards"), "Rmax=? [ F x=1 ]").result.value == math.inf


MANY = " + ".join(f"1/600 : (x'={k})" for k in range(600))
REFUSED = [
    ("ctmc module m x : [0..1]; [] x=0 -> 2 : (x'=1); endmodule", "P=? [ F x=1 ]", "only DTMCs and MDPs"),
    (STAY, "Pmax=? [ F<=3 x=2 ]", "without a bound"),
    (STAY, "Pmax=? [ X x=2 ]", "paths are F, G, U"),
    (STAY, "Pmax=? [ G F x=2 ]", "paths are F, G, U"),
    (STAY, "Smax=? [ x=2 ]", "only one P or R"),
    (STAY, "1 - Pmax=? [ F x=2 ]", "only one P or R"),
    (STAY, "filter(avg, Pmax=? [ F x=2 ])", "filters are min, max, range over the initial states"),
    (STAY, 'Pmax=? [ F "deadlock" ]', "goals are conditions on variables"),
    (STAY + "rewards true : 1; endrewards", "Rmax=? [ C<=3 ]", "rewards are those until a goal"),
    (STAY + "rewards true : -1; endrewards", "Rmax=? [ F x>=2 ]", "some rewards are negative"),
    (f"dtmc module m x : [0..600]; [] x<600 -> {MANY}; endmodule", "P=? [ F x=3 ]", "more than 512 successors"),
]


@pytest.mark.parametrize(("text", "prop", "reason"), REFUSED)
def test_what_is_refused_says_why(text: str, prop: str, reason: str) -> None:
    with pytest.raises(GaltonError, match=reason):
        ask(galton.parse(text), prop)


def test_several_initial_states() -> None:
    text = (
        "dtmc module m x : [0..9]; y : [0..9]; [] x<9 -> 0.5 : (x'=x+1) + 0.5 : (y'=min(9, y+1)) & (x'=9); endmodule "
    )
    program = galton.parse(text + "init x+y<5 endinit rewards true : 1; endrewards")
    for prop in ("P=? [ F y>=3 ]", "R=? [ F x=9 ]", "P=? [ G y<3 ]"):
        for asked in (prop, f'filter(min, {prop}, "init")', f'filter(max, {prop}, "init")'):
            found, expected = ask(program, asked), galton.check(program, asked, device="cpu")
            assert found.result.value == pytest.approx(expected.value, rel=1e-9)
            agree(found, expected)


def test_bounds_hold_whenever_it_stops() -> None:
    """A chain that is made to fool sweeps, after few of them."""
    program = galton.load(MODELS / "haddad-monmege.prism", N=20, p=0.7)
    path = MODELS / "haddad-monmege.props"
    for asked, expected in zip(asked_of(program, path), galton.check(program, path, device="cpu"), strict=True):
        found = answer(asked.context, asked.question, Settings(max_iterations=50))
        assert found.result.warnings or found.result.upper == found.result.lower
        agree(found, expected)
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    (asked,) = asked_of(program, 'R{"steps"}max=? [ F "finished" ]')
    stopped = answer(asked.context, asked.question, Settings(), until=time.monotonic())
    assert stopped.result.upper == math.inf
    assert stopped.result.lower <= 75


@pytest.mark.parametrize("full", [False, True])
def test_symmetries_propose_and_all_states_prove(full: bool) -> None:
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    path = MODELS / "consensus.props"
    for asked, expected in zip(asked_of(program, path), galton.check(program, path, device="cpu"), strict=True):
        found = answered(asked, propose=True, full=full)
        assert found.states == 272
        assert found.result.method == "matrix-free proof"
        agree(found, expected)


def test_wrong_proposals_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is proposed, the answer is right: numbers that are off widen the bounds, or are refuted."""
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    prop = 'Pmin=? [ F "finished" & "all_heads" ]'
    expected = galton.check(program, prop, device="cpu")
    honest = orbits_propose._values

    def spoilt(number: Callable[[np.ndarray], None]) -> Callable[..., np.ndarray | None]:
        def values(*given: object) -> np.ndarray | None:
            found = honest(*given)  # type: ignore[arg-type]
            assert found is not None
            number(found)
            return found

        return values

    def off(values: np.ndarray) -> None:
        values[100, 0] *= 1 + 1e-12

    def claims_nothing_happens(values: np.ndarray) -> None:
        values[values[:, 0] != 1] = 0.0

    def claims_certainty(values: np.ndarray) -> None:
        values[:, 0] = 1.0

    def light(values: np.ndarray) -> None:
        values[:, 1] /= 2

    for change in (off, claims_nothing_happens, claims_certainty, light):
        monkeypatch.setattr(orbits_propose, "_values", spoilt(change))
        found = ask(program, prop, propose=True)
        agree(found, expected)
        assert (found.result.method == "matrix-free proof") == (change is off)


CLAIM = """mdp
module a x:[0..1]; [] s=3 & x=0 -> (x'=1); endmodule
module b = a [x=y] endmodule
module m s:[0..3]; [] s=0 -> (s'=1); [] s=1 -> 0.5 : (s'=2) + 0.5 : (s'=3); endmodule
"""


def test_a_state_that_is_said_to_be_worth_nothing_leads_to_such_states_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was enough that its successors were said to be worth 0, though a weight left room for more: 0 was proved."""
    honest = orbits_propose._values

    def spoilt(*given: Any) -> np.ndarray:
        values = honest(*given)
        assert values is not None
        values[values[:, 0] == 0.5, 0] = 0.0
        values[np.argmax(values[:, 1])] = 0.0
        return values

    monkeypatch.setattr(orbits_propose, "_values", spoilt)
    found = ask(galton.parse(CLAIM), "Pmax=? [ F s=2 ]", propose=True)
    assert found.result.lower <= 0.5 <= found.result.upper
    assert found.result.method != "matrix-free proof"


def test_proposals_of_other_states_are_not_used() -> None:
    """States of a slice have another form than those of the whole program, which ended in an assertion."""
    text = """dtmc
        module a x:[0..2]; h:[0..3]; [] x<2 -> 0.5:(x'=x+1)&(h'=x)+0.5:(h'=3); endmodule
        module b = a [x=y,h=g] endmodule
    """
    expected = galton.check(galton.parse(text), "P=? [ F x=2 ]")
    with played_device():
        found = galton.check(galton.parse(text), "P=? [ F x=2 ]", device="cuda", matrix_free=True, symmetry=False)
    assert found.lower <= expected.upper
    assert expected.lower <= found.upper


def test_what_settings_ask_for_is_refused_too() -> None:
    program = galton.parse("mdp module m s:[0..1]; [] s=0 -> true; [] s=0 -> (s'=1); endmodule")
    for settings in (Settings(fair=True), Settings(exact=True), Settings(method="jacobi")):
        with pytest.raises(galton.GaltonError, match="matrix_free goes with none"):
            galton.check(program, "Pmin=? [ F s=1 ]", device="cpu", settings=settings, matrix_free=True)
