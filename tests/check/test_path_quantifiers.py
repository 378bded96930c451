"""``A`` and ``E`` with bounds in steps, beside a walk over all paths."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from asking import COIN, GAMBLE, ask

import galton

N, ROUNDS = 4, 60
Rows = list[list[list[int]]]  # for each state its choices, each with a weight for every state


def random_rows(random: Random, choices: int) -> Rows:
    def row() -> list[int]:
        weights = [random.choice((0, 0, 1, 3)) for _ in range(N)]
        return weights if any(weights) else [int(i == random.randrange(N) or not i) for i in range(N)]

    return [[row() for _ in range(random.randint(1, choices))] for _ in range(N)]


def as_text(rows: Rows, kind: str) -> str:
    def command(state: int, row: list[int]) -> str:
        parts = (f"{w}/{sum(row)} : (s'={target})" for target, w in enumerate(row) if w)
        return f"  [] s={state} -> {' + '.join(parts)};"

    commands = "\n".join(command(state, row) for state, choices in enumerate(rows) for row in choices)
    return f"{kind}\nmodule m\n  s : [0..{N - 1}];\n{commands}\nendmodule\ninit true endinit\n"


def some_path(rows: Rows, through: set[int], goal: set[int], low: int, high: int | None, *, has: bool) -> list[bool]:
    """Where some path has, or has not, the until. Without an end, a path that goes on for N more steps has a cycle."""
    end = low + N if high is None else high

    @cache
    def found(state: int, steps: int) -> bool:
        if steps >= low and state in goal:
            return has
        if state not in through or steps == end:
            return not has
        return any(found(target, steps + 1) for row in rows[state] for target, weight in enumerate(row) if weight)

    return [found(state, 0) for state in range(N)]


def states(chosen: set[int]) -> str:
    return "|".join(f"s={state}" for state in sorted(chosen)) or "false"


@pytest.mark.parametrize("kind", ["dtmc", "mdp"])
def test_bounds_beside_all_paths(kind: str) -> None:
    random = Random(kind)
    for _ in range(ROUNDS):
        rows = random_rows(random, 1 if kind == "dtmc" else 3)
        program = galton.parse(as_text(rows, kind))
        through, goal = ({s for s in range(N) if random.random() < share} for share in (0.7, 0.4))
        low = random.randint(0, 3)
        high = None if random.random() < 0.2 else low + random.randint(0, 4)
        bound = f">={low}" if high is None else f"[{low},{high}]"
        until = f"({states(through)}) U{bound} ({states(goal)})"
        has = some_path(rows, through, goal, low, high, has=True)
        misses = some_path(rows, through, goal, low, high, has=False)
        for text, expected in ((f"E [ {until} ]", has), (f"A [ {until} ]", [not found for found in misses])):
            negated = f"{'A' if text[0] == 'E' else 'E'} [ !({until}) ]"
            for state in range(N):
                value = galton.check(program, f"filter(state, {text}, s={state})").value
                assert value == expected[state], (text, state, rows)
                assert galton.check(program, f"filter(state, {negated}, s={state})").value != value, (text, state, rows)


@pytest.mark.parametrize(
    ("text", "prop", "expected"),
    [
        (COIN, "A [ F<=5 heads ]", False),
        (COIN, "E [ F<=1 heads ]", True),
        (COIN, "E [ F<1 heads ]", False),
        (COIN, "E [ G<=3 !heads ]", True),
        (COIN, "A [ G<=3 x<4 ]", True),
        (COIN, "E [ F[2,5] x=3 ]", True),
        (COIN, "E [ F[1,2] x=3 ]", False),
        (COIN, "E [ !heads U=3 x=3 ]", True),
        (COIN, "A [ true U>=7 (heads | x>=0) ]", True),
        (COIN, "E [ G>=1000000000 !heads ]", True),
        (COIN, "A [ F<=2000000000 heads ]", False),
        (GAMBLE, "A [ F<=3 s>2 ]", False),  # who stays in 1 gets nowhere
        (GAMBLE, "A [ F<=1 s>0 ]", True),
        (GAMBLE, "E [ F[3,3] s=2 ]", True),
        (GAMBLE, 'E [ !"bad" U<=1 "good" ]', True),
    ],
)
def test_bounds(text: str, prop: str, expected: bool) -> None:
    assert ask(text, prop).value is expected
