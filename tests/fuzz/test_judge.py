"""The fuzzer itself: oracles against formulas from books, and a judge that sees what is wrong."""

from __future__ import annotations

import pytest
from flint import arb, fmpq

import galton

from . import exact
from .bistable import optimum
from .bounded import least, step_answers, time_answers
from .exact import INFINITE, ball
from .judge import Judge, near
from .model import Made

HALF = fmpq(1, 2)


def gambler(n: int, p: float) -> Made:
    """A game for one coin at a time, until all is lost or n are won."""
    rows = [[{0: 1.0}], *([{s + 1: p, s - 1: 1 - p}] for s in range(1, n)), [{n: 1.0}]]
    labels = {"a": set(range(n + 1)), "b": {n}, "end": {0, n}, "left": {0}, "right": {n}, "probes": {1}}
    return Made("dtmc", rows, labels, [0.0, *[1.0] * (n - 1), 0.0], initial=1)


def test_ruin() -> None:
    """(1 - r^s) / (1 - r^n) with r = q/p."""
    chances = exact.until(gambler(10, 0.75).rows, range(11), {10})
    r = fmpq(1, 3)
    assert chances == [(1 - r**s) / (1 - r**10) for s in range(11)]


def test_the_length_of_a_fair_game() -> None:
    """s (n - s)."""
    game = gambler(10, 0.5)
    assert exact.accumulated(game, {0, 10}, game.rewards, [0.0] * 11) == [s * (10 - s) for s in range(11)]
    assert exact.total(game, game.rewards, [0.0] * 11) == [s * (10 - s) for s in range(11)]
    assert exact.accumulated(game, {10}, game.rewards, [0.0] * 11)[:2] == [INFINITE, INFINITE]


def test_balls_hold_fractions() -> None:
    game = gambler(40, 0.125)
    fractions = exact.until(game.rows, range(41), {40})
    balls = exact.precisely(lambda: [[x] for x in exact.until(game.rows, range(41), {40}, ball)])
    assert all(x.overlaps(arb(f)) for f, (x,) in zip(fractions, balls, strict=True))


def test_rows_are_divided_by_their_sums() -> None:
    chain = Made("dtmc", [[{0: 0.5, 1: 0.25}], [{1: 1.0}]], {}, [1.0, 0.0])
    assert exact.accumulated(chain, {1}, chain.rewards, [0.0] * 2)[0] == 3


def test_long_run() -> None:
    """Detailed balance: 2/3 and 1/3; half of the mass ends in each component."""
    rows = [[{1: 1.0, 3: 1.0}], [{2: 1.0}], [{1: 2.0}], [{3: 1.0}]]
    chain = Made("ctmc", rows, {}, [0.0] * 4)
    assert exact.long_run(chain, [fmpq(s == 1) for s in range(4)]) == [fmpq(1, 3), fmpq(2, 3), fmpq(2, 3), 0]


def test_the_best_strategy_of_a_walk() -> None:
    low, high = gambler(20, 0.25), gambler(20, 0.75)
    choices = [a if a == b else a + b for a, b in zip(low.choices, high.choices, strict=True)]
    game = Made("mdp", choices, low.labels, low.rewards)
    best = optimum(game, {20}, [0.0] * 21, 1)
    assert best is not None
    assert best[5].overlaps(arb(exact.until(high.rows, range(21), {20})[5]))


def test_steps_and_time() -> None:
    coin = Made("dtmc", [[{0: 0.5, 1: 0.5}], [{1: 1.0}]], {"a": {0}, "b": {1}}, [1.0, 0.0])
    steps = step_answers(coin, 2, 9, least)
    assert steps['P# [ F<=9 "b" ]'][0] == 1 - HALF**9
    assert steps['R{"r"}# [ I=9 ]'][0] == HALF**9
    assert steps['P# [ "a" U[2,9] "b" ]'][0] == HALF - HALF**9  # not in b after one step, but after nine
    fall = Made("ctmc", [[{1: 2.0}], [{1: 1.0}]], {"a": {0}, "b": {1}}, [1.0, 0.0])
    assert time_answers(fall, 0.0, 3.0)['P=? [ F<=3.0 "b" ]'][0].overlaps(1 - arb(-6).exp())


def result(lower: float, upper: float, value: float | None = None) -> galton.Result:
    return galton.Result(formula="P", value=lower if value is None else value, lower=lower, upper=upper)


@pytest.mark.parametrize(
    ("answer", "truth", "word"),
    [
        (result(0.5, 0.5), fmpq(1, 3), "wrong"),
        (result(0.25, 0.25), fmpq(1, 3), "wrong"),
        (result(0.5, 0.5, 0.6), HALF, "out of order"),
        (result(1.0, 0.0), HALF, "out of order"),
        (result(-0.0, 0.0), fmpq(0), "-0"),
        (result(float("nan"), 1.0), HALF, "NaN"),
        (result(0.25, 1.0), HALF, "wide"),
        (result(0.5, float("inf")), HALF, "no probability"),
        (result(1.0, 1.0), INFINITE, "wrong"),
        (result(1.0, 1.000001), fmpq(1), "no probability"),
    ],
)
def test_what_is_wrong_is_seen(answer: galton.Result, truth: object, word: str) -> None:
    judge = Judge("here")
    judge.compare(answer, "P=? [ … ]", truth, unit=True)
    assert [failure.mistake.partition(":")[0].partition(" by")[0] for failure in judge.tally.failures] == [word]


def test_what_is_right_is_let_pass() -> None:
    judge = Judge("here")
    judge.compare(result(0.3333333, 0.3333334), "P", fmpq(1, 3), unit=True)
    judge.compare(result(INFINITE, INFINITE), "R", INFINITE)
    assert not judge.tally.failures
    assert (judge.tally.numbers, judge.tally.bounded) == (2, 2)


@pytest.mark.parametrize(
    ("printed", "truth", "right"),
    [
        ("0.333333", fmpq(1, 3), True),
        ("0.3333", fmpq(1, 3), False),
        ("0", fmpq(0), True),
        ("-0", fmpq(0), False),
        ("infinity", INFINITE, True),
        ("infinity", fmpq(1), False),
        ("1e300", INFINITE, False),
        ("1e-400", fmpq(1, 10**400), True),
    ],
)
def test_what_is_printed(printed: str, truth: object, right: bool) -> None:
    assert near(printed, truth) is right
