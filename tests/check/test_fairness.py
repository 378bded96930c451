"""Fair strategies, beside what is left when every choice is taken with a small probability that goes to zero.

A strategy that takes each choice with probability ε or more is fair, and as ε goes to zero such strategies come as
close to the best fair value as one likes. So the oracle mixes ε of every choice into each, tries all strategies of what
that leaves, and solves their chains in fractions.

Least rewards are the exception: where ε may miss a goal for ever, its reward is infinite, though a fair strategy may
well go straight to the goal. There all strategies without ε are tried, until runs are where fair ones may end.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from asking import COIN, GAMBLE

import galton
from galton import GaltonError
from galton.checking.inspection import UsageError

N, ROUNDS = 4, 40
EPS, MUCH, CLOSE = Fraction(1, 10**10), 10**6, 1e-6
Row = list[Fraction]
Mdp = list[list[tuple[Row, Fraction]]]  # for each state its choices: where it leads, and what it earns


def random_mdp(random: Random) -> Mdp:
    def row() -> Row:
        while not any(weights := [random.choice((0, 0, 0, 1, 1, 2)) for _ in range(N)]):
            pass
        return [Fraction(weight, sum(weights)) for weight in weights]

    return [[(row(), Fraction(random.choice((0, 0, 1, 3)))) for _ in range(random.randint(1, 3))] for _ in range(N)]


def as_model(mdp: Mdp) -> galton.Model:
    rows = [row for state in mdp for row, _ in state]
    from galton.model.sparse import Rewards

    matrix = np.array([[float(p) for p in row] for row in rows])
    earned = Rewards(choice=np.array([float(reward) for state in mdp for _, reward in state]))
    groups = np.cumsum([0, *map(len, mdp)])
    labels = {f"s{i}": np.arange(N) == i for i in range(N)}
    return galton.Model.from_matrix("mdp", matrix, row_groups=groups, labels=labels, rewards={"r": earned})


def chains(mdp: Mdp, eps: Fraction = EPS) -> Any:
    """All chains of strategies that take every choice with a small probability at least: rows, and what they earn."""
    mixed: Mdp = []
    for state in mdp:
        mean = [sum(row[t] for row, _ in state) / len(state) for t in range(N)]
        pay = sum((reward for _, reward in state), Fraction(0)) / len(state)
        mixed.append(
            [([(1 - eps) * p + eps * q for p, q in zip(row, mean, strict=True)], (1 - eps) * reward + eps * pay)
             for row, reward in state]
        )  # fmt: skip
    for taken in product(*mixed):
        yield [row for row, _ in taken], [reward for _, reward in taken]


def solved(matrix: list[Row], right: Row) -> Row:
    """Gauss's elimination of ``x = matrix x + right``."""
    n = len(right)
    rows = [[Fraction(int(i == j)) - matrix[i][j] for j in range(n)] + [right[i]] for i in range(n)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i and rows[k][i]:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n] for row in rows]


def reaching(matrix: list[Row], goal: set[int], through: set[int]) -> set[int]:
    found = set(goal)
    while more := {s for s in through - found if any(matrix[s][t] for t in found)}:
        found |= more
    return found


def until(matrix: list[Row], through: set[int], goal: set[int]) -> Row:
    open_states = reaching(matrix, goal, through) - goal
    inner = [
        [matrix[s][t] if s in open_states and t in open_states else Fraction(0) for t in range(N)] for s in range(N)
    ]
    into = [
        sum((matrix[s][t] for t in goal), Fraction(0)) if s in open_states else Fraction(int(s in goal))
        for s in range(N)
    ]
    return solved(inner, into)


def bottoms(matrix: list[Row]) -> list[set[int]]:
    reach = [{t for t in range(N) if s in reaching(matrix, {t}, set(range(N))) and s != t} | {s} for s in range(N)]
    return [c for c in map(set, {tuple(sorted(r)) for r in reach}) if all(reach[s] == c for s in c)]


def rewards_until(matrix: list[Row], earned: Row, goal: set[int]) -> list[Fraction | None]:
    sure = until(matrix, set(range(N)), goal)
    inside = {s for s in range(N) if sure[s] == 1 and s not in goal}
    inner = [[matrix[s][t] if s in inside and t in inside else Fraction(0) for t in range(N)] for s in range(N)]
    found = solved(inner, [earned[s] if s in inside else Fraction(0) for s in range(N)])
    return [value if sure[s] == 1 else None for s, value in enumerate(found)]


def total(matrix: list[Row], earned: Row) -> list[Fraction | None]:
    free = set().union(*(c for c in bottoms(matrix) if not any(earned[s] for s in c)), set())
    return rewards_until(matrix, earned, free)


def free_bottoms(mdp: Mdp, together: list[Row]) -> set[int]:
    """The states of components that no choice leaves and no choice earns in."""
    return {s for c in bottoms(together) if not any(r for t in c for _, r in mdp[t]) for s in c}


def average(matrix: list[Row], earned: Row) -> Row:
    found = [Fraction(0)] * N
    for component in bottoms(matrix):
        first, *rest = sorted(component)
        # The mean reward between visits of the first state, over the mean time between them.
        inner = [[matrix[s][t] if s in rest and t in rest else Fraction(0) for t in range(N)] for s in range(N)]
        pays = solved(inner, [earned[s] if s in rest else Fraction(0) for s in range(N)])
        lasts = solved(inner, [Fraction(int(s in rest)) for s in range(N)])
        gain = (earned[first] + sum(p * v for p, v in zip(matrix[first], pays, strict=True))) / (
            1 + sum(p * v for p, v in zip(matrix[first], lasts, strict=True))
        )
        there = until(matrix, set(range(N)), component)
        found = [value + p * gain for value, p in zip(found, there, strict=True)]
    return found


def again_and_again(matrix: list[Row], states: set[int], *, all_of: bool = False) -> Row:
    found = [Fraction(0)] * N
    for component in bottoms(matrix):
        if component <= states if all_of else component & states:
            found = [a + b for a, b in zip(found, until(matrix, set(range(N)), component), strict=True)]
    return found


def names(states: set[int]) -> str:
    return " | ".join(f'"s{s}"' for s in sorted(states)) or "false"


def best(values: list[list[Fraction | None]], optimum: str) -> list[float]:
    """The best over all strategies in each state; what goes to infinity, with ε to zero, is infinite."""
    infinite = Fraction(10**30)
    chosen = [(max if optimum == "max" else min)(infinite if v[s] is None else v[s] for v in values) for s in range(N)]
    return [float("inf") if value > MUCH else float(value) for value in chosen]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_beside_strategies_that_take_every_choice(seed: int) -> None:
    random = Random(seed)
    mdp = random_mdp(random)
    model = as_model(mdp)
    all_states = set(range(N))
    through, goal = ({s for s in all_states if random.random() < share} for share in (0.7, 0.35))
    a, b = names(through), names(goal)
    cases = {
        f"P{{}}=? [ ({a}) U ({b}) ]": [until(m, through, goal) for m, _ in chains(mdp)],
        f"P{{}}=? [ G ({a}) ]": [[1 - v for v in until(m, all_states, all_states - through)] for m, _ in chains(mdp)],
        f"P{{}}=? [ G (F ({b})) ]": [again_and_again(m, goal) for m, _ in chains(mdp)],
        f"P{{}}=? [ F (G ({a})) ]": [again_and_again(m, through, all_of=True) for m, _ in chains(mdp)],
        f'R{{{{"r"}}}}{{}}=? [ F ({b}) ]': [rewards_until(m, earned, goal) for m, earned in chains(mdp)],
        'R{{"r"}}{}=? [ C ]': [total(m, earned) for m, earned in chains(mdp)],
        'R{{"r"}}{}=? [ S ]': [average(m, earned) for m, earned in chains(mdp)],
    }
    straight, together = list(chains(mdp, Fraction(0))), next(iter(chains(mdp)))[0]
    least = {
        "[ F": [rewards_until(m, earned, goal) for m, earned in straight],
        "[ C": [rewards_until(m, earned, free_bottoms(mdp, together)) for m, earned in straight],
    }
    for text, values in cases.items():
        for optimum in ("min", "max"):
            plain = next((found for mark, found in least.items() if mark in text and text[0] == "R"), None)
            expected = best(values if plain is None or optimum == "max" else plain, optimum)
            for state in range(N):
                asked = f'filter(state, {text.format(optimum)}, "s{state}")'
                found = galton.check(model, asked, fair=True).value
                assert found == pytest.approx(expected[state], rel=CLOSE, abs=CLOSE), (asked, mdp)
                if text.startswith("P"):
                    for operator, holds in ((">=1", expected[state] > 1 - 1e-7), (">0", expected[state] > 1e-7)):
                        if optimum == "max":  # bounds are for all strategies
                            continue
                        asked = f'filter(state, {text.format("").replace("=?", operator)}, "s{state}")'
                        assert galton.check(model, asked, fair=True).value is holds, (asked, mdp)


@pytest.mark.parametrize("seed", range(ROUNDS // 2))
def test_bounds_without_an_end(seed: int) -> None:
    """The first steps are free; what follows is fair."""
    random = Random(2000 + seed)
    mdp = random_mdp(random)
    model = as_model(mdp)
    through, goal = ({s for s in range(N) if random.random() < share} for share in (0.8, 0.35))
    values = [until(matrix, through, goal) for matrix, _ in chains(mdp)]
    for optimum in ("min", "max"):
        choose: Any = max if optimum == "max" else min
        found = [choose(value[s] for value in values) for s in range(N)]
        for _ in range(2):
            means = [choose(sum(p * v for p, v in zip(row, found, strict=True)) for row, _ in state) for state in mdp]
            found = [mean if s in through else Fraction(0) for s, mean in enumerate(means)]
        for state in range(N):
            asked = f'filter(state, P{{}} [ ({names(through)}) U>=2 ({names(goal)}) ], "s{state}")'
            value = galton.check(model, asked.format(f"{optimum}=?"), fair=True).value
            assert value == pytest.approx(float(found[state]), rel=CLOSE, abs=CLOSE), (asked, mdp)
            if optimum == "min":
                assert galton.check(model, asked.format(">=1"), fair=True).value is (found[state] > 1 - 1e-7)
                assert galton.check(model, asked.format(">0"), fair=True).value is (found[state] > 1e-7)


def subsets(states: set[int]) -> Any:
    return chain.from_iterable(combinations(sorted(states), k) for k in range(1, len(states) + 1))


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_fair_paths_beside_all_sets_of_states(seed: int) -> None:
    """A fair path avoids an until by leaving it, or by staying among states each of whose choices may stay there."""
    random = Random(1000 + seed)
    mdp = random_mdp(random)
    model = as_model(mdp)
    through, goal = ({s for s in range(N) if random.random() < share} for share in (0.8, 0.4))
    any_choice = [[sum(row[t] for row, _ in state) for t in range(N)] for state in mdp]
    good = set(range(N)) - through - goal
    for candidate in map(set, subsets(through - goal)):
        inside = [[p if s in candidate and t in candidate else Fraction(0) for t, p in enumerate(row)]
                  for s, row in enumerate(any_choice)]  # fmt: skip
        linked = all(candidate <= reaching(inside, {t}, candidate) for t in candidate)
        stays = all(any(row[t] for t in candidate) for s in candidate for row, _ in mdp[s])
        if linked and stays:
            good |= candidate
    expected = reaching(any_choice, good, through - goal)
    later = expected
    for _ in range(2):  # the first steps of a bound without an end
        later = {s for s in range(N) if s not in through or any(any_choice[s][t] for t in later)}
    until_text = f"({names(through)}) U ({names(goal)})"
    for state in range(N):
        for text, value in (
            (f"E [ !({until_text}) ]", state in expected),
            (f"A [ {until_text} ]", state not in expected),
        ):
            # The same formula as one of LTL, by the product with an automaton.
            linear = text.replace(until_text, f"({until_text}) & (F true)")
            for asked in (text, linear):
                found = galton.check(model, f'filter(state, {asked}, "s{state}")', fair=True).value
                assert found is value, (asked, state, mdp)
            asked, value = text.replace(" U ", " U>=2 "), (state in later) == text.startswith("E")
            assert galton.check(model, f'filter(state, {asked}, "s{state}")', fair=True).value is value, (asked, mdp)


WAITING = """
mdp
module waiting
  s : [0..3];
  [wait] s=0 -> (s'=0);
  [go] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> (s'=3);
  [] s=2 -> (s'=3);
  [] s=3 -> (s'=3);
endmodule
rewards "waits" [wait] true : 1; endrewards
rewards "goes" [go] true : 1; endrewards
"""
TURNS = """
mdp
module turns
  s : [0..2];
  [left] s=0 -> (s'=1);
  [right] s=0 -> (s'=2);
  [] s>0 -> (s'=0);
endmodule
"""


@pytest.mark.parametrize(
    ("text", "prop", "free", "fair"),
    [
        (WAITING, "Pmin=? [ F s=3 ]", 0, 1),
        (WAITING, "Pmin=? [ F s=1 ]", 0, 0.5),
        (WAITING, "Pmax=? [ G s=0 ]", 1, 0),
        (WAITING, "P>=1 [ F s=3 ]", False, True),
        (WAITING, "P<1 [ s=0 W s=3 ]", False, True),
        (WAITING, "Pmin=? [ F<=5 s=3 ]", 0, 0),  # it may wait five times
        (WAITING, "Pmax=? [ X s=0 ]", 1, 1),
        (WAITING, 'R{"waits"}max=? [ F s=3 ]', np.inf, np.inf),  # as often as it likes
        (WAITING, 'R{"goes"}max=? [ F s=3 ]', np.inf, 1),
        (WAITING, 'R{"goes"}min=? [ C ]', 0, 1),
        (WAITING, 'R{"waits"}max=? [ S ]', 1, 0),
        (WAITING, "Smax=? [ s=0 ]", 1, 0),
        (WAITING, "Tmax=? [ F s=3 ]", np.inf, np.inf),
        (WAITING, "A [ F s=3 ]", False, True),
        (WAITING, "E [ G s=0 ]", True, False),
        (WAITING, "E [ G<=9 s=0 ]", True, True),
        (WAITING, "Pmin=? [ F>=3 s=3 ]", 0, 1),
        (WAITING, "Pmax=? [ G>=3 s=0 ]", 1, 0),
        (WAITING, "P>=1 [ F>=3 s=3 ]", False, True),
        (WAITING, "A [ F>=3 s=3 ]", False, True),
        (WAITING, "E [ G>=3 s=0 ]", True, False),
        (WAITING, "filter(count, P>=1 [ F P>=1 [ G s=3 ] ])", 3, 4),
        # Turns may be taken one after the other: every choice is taken, though never at the wrong time.
        (TURNS, "Pmax=? [ G ((s=1 => (X (X s=2))) & (s=2 => (X (X s=1)))) ]", 1, 1),
        (TURNS, "Pmax=? [ G s!=2 ]", 1, 0),
        (TURNS, "Pmin=? [ (G (F s=1)) & (G (F s=2)) ]", 0, 1),
        (TURNS, "A [ (G (F s=1)) & (G (F s=2)) ]", False, True),
        (TURNS, "Smax=? [ s=1 ]", 0.5, 0.5),  # the other turn ever more seldom
    ],
)
def test_what_fairness_changes(text: str, prop: str, free: float, fair: float) -> None:
    program = galton.parse(text)
    assert galton.check(program, prop).value == pytest.approx(free)
    assert galton.check(program, prop, fair=True).value == pytest.approx(fair)


@pytest.mark.parametrize(
    ("text", "prop", "options", "said"),
    [
        (
            COIN,
            "P=? [ F heads ]",
            {},
            "fair=True is about the choices of an MDP, and this model has none; leave it away",
        ),
        (GAMBLE, "Pmin=? [ F s=3 ]", {"strategy": True}, "fair=True and strategy=True do not go together"),
        (GAMBLE, "Pmin=? [ F s=3 ]", {"certificate": True}, "fair=True and certificate=True do not go together"),
        (
            GAMBLE,
            'R{"cost"}max=? [ F (s=3 & (X s=3)) ]',
            {},
            "the greatest reward until a formula of LTL is not answered for fair strategies",
        ),
        (
            GAMBLE,
            "multi(Pmax=? [ F s=3 ], P>=0.1 [ F s=4 ])",
            {},
            "this is not answered for fair strategies",
        ),
    ],
)
def test_where_fairness_is_refused(text: str, prop: str, options: dict[str, bool], said: str) -> None:
    with pytest.raises(GaltonError, match=said) as error:
        galton.check(galton.parse(text), prop, fair=True, **options)  # type: ignore[arg-type]
    assert isinstance(error.value, UsageError) or error.value.kind == "unsupported"


def test_automata_from_files(tmp_path: Path) -> None:
    file = tmp_path / "again.hoa"
    file.write_text(
        'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "left"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n'
        "--BODY--\nState: 0\n[0] 0 {0}\n[!0] 0\n--END--\n"
    )
    prop = f'Pmin=? [ HOA: {{"{file}", "left" <- s=1}} ]'
    assert galton.check(galton.parse(TURNS), prop).value == 0
    assert galton.check(galton.parse(TURNS), prop, fair=True).value == 1


def test_bounds_that_fairness_does_not_change_are_answered() -> None:
    program = galton.parse(GAMBLE)
    for prop in (
        "Pmin=? [ F[2,4] s=3 ]",
        "Pmax=? [ G<=4 s<3 ]",
        "Pmax=? [ F>=3 s=3 ]",
        "Pmin=? [ G>=3 s!=3 ]",
        'R{"cost"}min=? [ F (s=3 & (X s=3)) ]',
    ):
        assert galton.check(program, prop, fair=True).value == galton.check(program, prop).value
