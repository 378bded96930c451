"""Counterexamples, beside all paths of small models in fractions."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from asking import COIN, GAMBLE, MACHINE, SPLIT
from played import played_device

import galton
from galton import Counterexample, GaltonError, Model
from galton.checking.witnesses.downward import Downward

ROUNDS = 40
Graph = list[dict[int, Fraction]]  # for each state, the probabilities of the states that follow
Ended = Callable[[tuple[int, ...]], bool | None]  # whether a path shows it, or cannot any more; None if neither


def random_chain(random: Random, kind: str = "dtmc") -> Model:
    n = random.randint(2, 6)
    matrix = np.zeros((n, n))
    for row in matrix:
        while not row.any():
            row[:] = [random.choice((0, 0, 1, 2, 3)) for _ in range(n)]
    if kind == "dtmc":
        matrix /= matrix.sum(axis=1, keepdims=True)
    return Model.from_matrix(kind, matrix, labels=_labels(random, n))  # type: ignore[arg-type]


def _labels(random: Random, n: int) -> dict[str, np.ndarray]:
    a, b = ([random.random() < share for _ in range(n)] for share in (0.8, 0.35))
    return {"a": np.array(a), "b": np.array(b)}


def graph_of(model: Model, rows: np.ndarray | None = None) -> Graph:
    """The exact probabilities of a chain, or of the rows that a strategy takes: doubles over the sum of their row."""
    found = []
    for state in range(model.n_states):
        row = state if rows is None else int(rows[state])
        entries = slice(int(model.row_starts[row]), int(model.row_starts[row + 1]))
        numbers = [Fraction(p) for p in model.values[entries].tolist()]
        found.append(dict(zip(model.columns[entries].tolist(), (p / sum(numbers) for p in numbers), strict=True)))
    return found


def likeliest(graph: Graph, ended: Ended, useful: set[int]) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """All paths from state 0 that show it, from the likeliest on, through states from which it can still happen."""
    heap: list[tuple[Fraction, tuple[int, ...]]] = [(Fraction(-1), (0,))]
    while heap:
        worth, path = heappop(heap)
        verdict = ended(path)
        if verdict:
            yield -worth, path
        elif verdict is None:
            for target, p in graph[path[-1]].items():
                if p and target in useful:
                    heappush(heap, (worth * p, (*path, target)))


def can_reach(graph: Graph, through: set[int], goal: set[int]) -> set[int]:
    found = set(goal)
    while more := {s for s in through - found if any(p and t in found for t, p in graph[s].items())}:
        found |= more
    return found


def until(through: set[int], goal: set[int]) -> Ended:
    return lambda path: True if path[-1] in goal else None if path[-1] in through else False


def states(model: Model, label: str) -> set[int]:
    return set(np.flatnonzero(model.labels[label]).tolist())


def assert_fewest_paths(found: Counterexample, graph: Graph, ended: Ended, useful: set[int]) -> None:
    """The paths are the likeliest, their sum is proved, and without the last they are too few."""
    assert found.kind == "paths"
    assert found.complete
    assert found.probability is not None
    worth = []
    for path in found:
        assert ended(path.states) is True
        assert not any(ended(path.states[:k]) for k in range(1, len(path.states)))
        exact = Fraction(1)
        for source, target in zip(path.states[:-1], path.states[1:], strict=True):
            exact *= graph[source][target]
        assert path.probability is not None
        assert exact * (1 - Fraction(1, 10**12)) <= Fraction(path.probability) <= exact
        worth.append(exact)
    assert len({path.states for path in found}) == len(found)
    expected = [p for p, _ in islice(likeliest(graph, ended, useful), len(worth))]
    assert [float(p) for p in worth] == pytest.approx([float(p) for p in expected], rel=1e-12)
    assert Fraction(found.probability) <= sum(worth)
    assert found.probability == pytest.approx(float(sum(worth)))
    assert found.passes(sum(worth, Fraction(0)))
    assert not found.passes(sum(worth[:-1], Fraction(0)))


@pytest.mark.parametrize("kind", ["dtmc", "ctmc"])
def test_the_fewest_paths_of_an_until(kind: str) -> None:
    random, compared = Random(kind), 0
    for _ in range(ROUNDS):
        model = random_chain(random, kind)
        graph, through, goal = graph_of(model), states(model, "a"), states(model, "b")
        value = galton.check(model, 'P=? [ "a" U "b" ]').value
        for share in (0.2, 0.6, 0.9):
            bound = float(value) * share  # type: ignore[arg-type]
            for operator in ("<", "<="):
                found = galton.counterexample(model, f'P{operator}{bound} [ "a" U "b" ]')
                if value == 0:
                    assert found is None or operator == "<"
                    continue
                assert found is not None
                if found.kind == "paths":
                    assert_fewest_paths(found, graph, until(through, goal), can_reach(graph, through, goal))
                    compared += 1
    assert compared > ROUNDS


def test_the_complement_is_shown_by_paths_to_where_the_goal_cannot_be_reached() -> None:
    random, compared = Random(7), 0
    for _ in range(ROUNDS):
        model = random_chain(random)
        graph, through, goal = graph_of(model), states(model, "a"), states(model, "b")
        value = float(galton.check(model, 'P=? [ "a" U "b" ]'))
        bound = value + (1 - value) * 0.5
        if value > 0.999:
            continue
        failed = set(range(model.n_states)) - can_reach(graph, through, goal)
        for prop in (f'P>={bound} [ "a" U "b" ]', f'P<={1 - bound} [ !"a" R !"b" ]'):
            found = galton.counterexample(model, prop)
            assert found is not None
            ended = until(through - goal, failed)
            if found.kind == "paths":
                assert_fewest_paths(found, graph, ended, can_reach(graph, through - goal, failed))
                compared += 1
    assert compared > ROUNDS // 2


def within(through: set[int], goal: set[int], low: int, high: int, *, happens: bool) -> Ended:
    """Whether a path decides an until within steps, by its meaning; a miss is known where no goal can be met."""

    def ended(path: tuple[int, ...]) -> bool | None:
        steps, state = len(path) - 1, path[-1]
        if steps >= low and state in goal:
            return happens
        if state not in through or steps == high:
            return not happens
        return None

    return ended


@pytest.mark.parametrize("happens", [True, False])
def test_the_fewest_paths_within_steps(happens: bool) -> None:
    random, compared = Random(happens), 0
    for _ in range(ROUNDS):
        model = random_chain(random)
        low = random.randint(0, 2)
        high = low + random.randint(0, 3)
        graph, through, goal = graph_of(model), states(model, "a"), states(model, "b")
        path = f'"a" U[{low},{high}] "b"'
        value = float(galton.check(model, f"P=? [ {path} ]"))
        worth = value if happens else 1 - value
        if worth < 1e-6:
            continue
        prop = f"P<={value * 0.7} [ {path} ]" if happens else f"P>={value + worth * 0.3} [ {path} ]"
        found = galton.counterexample(model, prop)
        assert found is not None
        ended = within(through, goal, low, high, happens=happens)
        shown = sum(p for p, _ in likeliest(graph, ended, set(range(model.n_states))))
        assert float(shown) == pytest.approx(worth)
        if happens:
            assert_fewest_paths(found, graph, ended, set(range(model.n_states)))
        else:  # a path may end as soon as no goal can be reached any more, and stands for all that go on like it
            assert found.complete
            assert all(len(path) <= high for path in found)
            assert found.probability is not None
            assert found.probability <= worth * (1 + 1e-9)
        compared += 1
    assert compared > ROUNDS // 2


def test_the_fewest_paths_of_a_linear_formula() -> None:
    """``(F a) & (F b)``: a path shows it once it has met both, or is certain to meet what it has not."""
    random, compared = Random(11), 0
    for _ in range(ROUNDS):
        model = random_chain(random)
        graph, every = graph_of(model), set(range(model.n_states))
        goals = [states(model, "a"), states(model, "b")]
        may = [can_reach(graph, every, goal) for goal in goals]
        certain = [every - can_reach(graph, every - goal, every - far) for goal, far in zip(goals, may, strict=True)]
        value = float(galton.check(model, 'P=? [ (F "a") & (F "b") ]'))
        if value < 1e-6:
            continue
        found = galton.counterexample(model, f'P<={value * 0.7} [ (F "a") & (F "b") ]')
        assert found is not None
        assert_fewest_paths(found, graph, both(goals, may, certain), every)
        compared += 1
    assert compared > ROUNDS // 2


def both(goals: list[set[int]], may: list[set[int]], certain: list[set[int]]) -> Ended:
    def ended(path: tuple[int, ...]) -> bool | None:
        met = [bool(goal & {*path}) for goal in goals]
        if all(done or path[-1] in sure for done, sure in zip(met, certain, strict=True)):
            return True
        return None if all(done or path[-1] in far for done, far in zip(met, may, strict=True)) else False

    return ended


def test_paths_of_an_mdp_follow_a_strategy() -> None:
    found = galton.counterexample(galton.parse(GAMBLE), 'P<=0.9 [ F "good" ]')
    assert found is not None
    assert found.strategy is not None
    rows = found.strategy.rows()
    for path in found:
        assert all(row == rows[state] for row, state in zip(path.rows, path.states[:-1], strict=True))
    graph = graph_of(found.model, rows)
    goal = {s for s in range(found.model.n_states) if found.model.states[s]["s"] == 3}  # type: ignore[index]
    assert_fewest_paths(
        found, graph, until(set(range(len(graph))), goal), can_reach(graph, set(range(len(graph))), goal)
    )


def random_mdp(random: Random) -> Model:
    n = random.randint(2, 5)
    counts = [random.randint(1, 3) for _ in range(n)]
    matrix = np.zeros((sum(counts), n))
    for row in matrix:
        while not row.any():
            row[:] = [random.choice((0, 0, 0, 1, 2)) for _ in range(n)]
    matrix /= matrix.sum(axis=1, keepdims=True)
    return Model.from_matrix("mdp", matrix, row_groups=np.cumsum([0, *counts]), labels=_labels(random, n))


def test_the_fewest_paths_of_random_mdps() -> None:
    random, compared = Random(5), 0
    for _ in range(ROUNDS):
        model = random_mdp(random)
        every, through, goal = set(range(model.n_states)), states(model, "a"), states(model, "b")
        for optimum, operator in (("max", "<="), ("min", ">=")):
            value = float(galton.check(model, f'P{optimum}=? [ "a" U "b" ]'))
            worth = value if optimum == "max" else 1 - value
            if worth < 1e-6:
                continue
            bound = value * 0.7 if optimum == "max" else value + 0.3 * worth
            found = galton.counterexample(model, f'P{operator}{bound} [ "a" U "b" ]')
            assert found is not None
            if found.kind != "paths":
                continue
            assert found.strategy is not None
            graph = graph_of(model, found.strategy.rows())
            pair = (through, goal)
            if optimum == "min":
                pair = (through - goal, every - can_reach(graph, through, goal))
            assert_fewest_paths(found, graph, until(*pair), can_reach(graph, *pair))
            compared += 1
    assert compared > ROUNDS


def test_paths_of_a_strategy_that_counts_steps() -> None:
    found = galton.counterexample(galton.parse(GAMBLE), 'P<=0.65 [ F<=8 "good" ]')
    assert found is not None
    assert found.strategy is not None
    assert found.complete
    for path in found:
        for step, (row, state) in enumerate(zip(path.rows, path.states[:-1], strict=True)):
            assert row == found.strategy.rows(step)[state]


def test_numbers_that_fit_are_exact() -> None:
    """Two paths of a quarter each are not less than one half, though sums are rounded down."""
    model = Model.from_matrix("dtmc", [[0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0, 1]])
    found = galton.counterexample(galton.parse(COIN), "P<0.75 [ F<=2 heads ]")
    assert found is not None
    assert (len(found), found.probability, found.needed) == (2, 0.75, ">= 0.75")
    assert galton.counterexample(model, "P<=0 [ X false ]") is None


def test_a_bound_that_is_met_just_so_is_no_counterexample() -> None:
    assert galton.counterexample(galton.parse(COIN), "P<=0.75 [ F<=2 heads ]") is None


WALK = "dtmc module walk x : [0..200]; [] x<200 -> 0.5 : (x'=x+1) + 0.5 : (x'=x); [] x=200 -> true; endmodule"
SLOW = """
dtmc
module slow
  x : [0..4];
  [] x=0 -> 0.998 : (x'=0) + 0.0011 : (x'=1) + 0.0009 : (x'=2);
  [] x=1 -> 0.5 : (x'=0) + 0.5 : (x'=3);
  [] x=2 -> 0.5 : (x'=4) + 0.5 : (x'=3);
  [] x>2 -> true;
endmodule
"""


@pytest.mark.parametrize(
    ("prop", "expected", "shares"),
    [
        ("P<=0.3 [ F x=3 ]", {0, 1, 3}, 0.275 / 0.725),
        ("P<=0.4 [ F x=3 ]", {0, 1, 2, 3}, 0.5 / 0.725),
        ("P>=0.8 [ F x=3 ]", {0, 2, 4}, 0.225),
    ],
)
def test_states_where_loops_make_the_paths_too_many(prop: str, expected: set[int], shares: float) -> None:
    found = galton.counterexample(galton.parse(SLOW), prop, paths=50)
    assert found is not None
    assert (found.kind, found.complete, len(found)) == ("subsystem", True, 50)
    assert found.states is not None
    assert {found.model.states[s]["x"] for s in found.states.tolist()} == expected  # type: ignore[index]
    assert found.probability == pytest.approx(shares)
    assert found.probability <= shares
    assert "the first 50 paths are not enough" in repr(found)


def test_states_of_random_chains_pass_the_bound_alone() -> None:
    random, compared = Random(3), 0
    for _ in range(ROUNDS):
        model = random_chain(random)
        value = float(galton.check(model, 'P=? [ F "b" ]'))
        if value < 0.1:
            continue
        found = galton.counterexample(model, f'P<={value * 0.99} [ F "b" ]', paths=1)
        assert found is not None
        if found.kind == "paths":
            continue
        assert found.states is not None
        inside = np.isin(np.arange(model.n_states), found.states)
        kept = Model.from_matrix(
            "dtmc",
            model.to_scipy().toarray(),
            labels={"inside": inside, "b": inside & model.labels["b"]},
        )
        alone = float(galton.check(kept, 'P=? [ "inside" U "b" ]'))
        assert value * 0.99 < alone
        assert found.probability == pytest.approx(alone, rel=1e-5)
        compared += 1
    assert compared > 5


def test_a_set_that_would_be_too_large_says_so() -> None:
    """Of a formula that holds for a while, each path is as long as that: no few states stand for them."""
    found = galton.counterexample(galton.parse(WALK), "P<=0.5 [ G<=10 x<200 ]", paths=20)
    assert found is not None
    assert (found.kind, found.complete, len(found)) == ("paths", False, 20)
    assert "the first 20 paths are not enough, and for this formula states alone do not show it" in repr(found)
    found = galton.counterexample(galton.parse(WALK), "P<=0.5 [ G<=10 x<200 ]")
    assert found is not None
    assert (found.kind, found.complete, len(found)) == ("paths", True, 513)


# A and E.


def holds(formula: Any, word: list[int], loop: int, place: int = 0) -> bool:
    """What a formula means on a path that goes round for ever."""

    def after(here: int) -> int:
        return here + 1 if here + 1 < len(word) else loop

    def future(here: int) -> list[int]:
        seen = []
        while here not in seen:
            seen.append(here)
            here = after(here)
        return seen

    match formula:
        case ("at", chosen):
            return word[place] in chosen
        case ("!", inner):
            return not holds(inner, word, loop, place)
        case ("&", left, right):
            return holds(left, word, loop, place) and holds(right, word, loop, place)
        case ("X", inner):
            return holds(inner, word, loop, after(place))
        case ("F", inner):
            return any(holds(inner, word, loop, here) for here in future(place))
        case ("G", inner):
            return all(holds(inner, word, loop, here) for here in future(place))
        case ("U", left, right):
            for here in future(place):
                if holds(right, word, loop, here):
                    return True
                if not holds(left, word, loop, here):
                    return False
            return False
    raise AssertionError(formula)


def as_text(formula: Any) -> str:
    match formula:
        case ("at", chosen):
            return f"({'|'.join(f's={state}' for state in chosen)})"
        case ("!" | "X" | "F" | "G" as operator, inner):
            return f"({operator} {as_text(inner)})"
        case ("&" | "U" as operator, left, right):
            return f"({as_text(left)} {operator} {as_text(right)})"
    raise AssertionError(formula)


def random_formula(random: Random, depth: int) -> Any:
    if not depth:
        return ("at", tuple(random.sample(range(4), random.randint(1, 3))))
    operator = random.choice("!&XFGU")
    return (operator, *(random_formula(random, depth - 1) for _ in range(2 if operator in "&U" else 1)))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_paths_of_linear_formulas_mean_what_they_should(depth: int) -> None:
    """A formula is judged on the path itself, with its circle; one that ends may go on in any way."""
    random, shown = Random(depth), 0
    for _ in range(ROUNDS):
        commands = []
        for state in range(4):
            for _ in range(random.randint(1, 2)):
                targets = random.sample(range(4), random.randint(1, 2))
                commands.append(
                    f"[c] s={state} -> " + " + ".join(f"1/{len(targets)} : (s'={t})" for t in targets) + ";"
                )
        program = galton.parse(f"mdp module m s : [0..3]; {' '.join(commands)} endmodule")
        formula = random_formula(random, depth)
        for quantifier in "AE":
            prop = f"{quantifier} [ {as_text(formula)} ]"
            found = galton.counterexample(program, prop)
            answer = galton.check(program, prop).value
            assert (found is None) == (answer is (quantifier == "A")), prop
            if found is None:
                continue
            (path,) = found.paths
            assert_is_path(found.model, path.states, path.rows)
            shown += 1
            word = [found.model.states[state]["s"] for state in path.states]  # type: ignore[index]
            assert word[0] == 0
            if path.loop is None:
                # What comes after does not matter: any circle from there will do.
                word, loop = closed(found.model, path.states)
            else:
                assert path.states[-1] == path.states[path.loop]
                word, loop = word[:-1], path.loop
            assert holds(formula, word, loop) is (quantifier == "E"), (prop, word, loop)
    assert shown > ROUNDS // 2


def test_single_paths_within_steps() -> None:
    random, shown = Random(13), 0
    for _ in range(3 * ROUNDS):
        model = random_mdp(random)
        through, goal = states(model, "a"), states(model, "b")
        graph = [{t: Fraction(1) for _, row in model.transitions(s) for _, t in row} for s in range(model.n_states)]
        low = random.randint(0, 2)
        high = low + random.randint(0, 3)
        for quantifier in "AE":
            found = galton.counterexample(model, f'{quantifier} [ "a" U[{low},{high}] "b" ]')
            if found is None:
                continue
            (path,) = found.paths
            assert_is_path(model, path.states, path.rows)
            verdict = within(through, goal, low, high, happens=True)(path.states)
            if quantifier == "E":
                assert verdict is True
            else:  # it has failed, or cannot happen any more
                assert verdict is False or path.states[-1] not in can_reach(graph, through, goal)
            shown += 1
    assert shown > ROUNDS


def assert_is_path(model: Model, path: tuple[int, ...], rows: tuple[int, ...]) -> None:
    for source, row, target in zip(path[:-1], rows, path[1:], strict=True):
        assert row in model.choices(source)
        assert target in model.columns[model.row_starts[row] : model.row_starts[row + 1]]


def closed(model: Model, path: tuple[int, ...]) -> tuple[list[int], int]:
    """A path that goes on with first transitions until it comes back."""
    found = list(path)
    while True:
        target = model.transitions(found[-1])[0][1][0][1]
        if target in found[len(path) - 1 :]:
            loop = len(path) - 1 + found[len(path) - 1 :].index(target)
            return [model.states[state]["s"] for state in found], loop  # type: ignore[index]
        found.append(target)


@pytest.mark.parametrize(
    ("text", "prop", "steps", "loop"),
    [
        (COIN, "A [ G x<3 ]", 3, None),
        (COIN, "E [ F x=3 ]", 3, None),
        (COIN, "A [ F heads ]", 4, 0),  # around through x = 1, 2, 3
        (COIN, "A [ F<=2 heads ]", 2, None),
        (COIN, "E [ G<=5 !heads ]", 5, None),
        (COIN, "E [ X heads ]", 1, None),
        (COIN, "E [ F[2,4] heads ]", 2, None),
        (COIN, "E [ F>=6 x=3 ]", 7, None),
        (COIN, "A [ F>=6 heads ]", 10, 6),
        (COIN, "A [ x=1 ]", 0, None),
        (GAMBLE, 'A [ F "good" ]', 2, 1),
        (MACHINE, "A [ G state!=2 ]", 2, None),
    ],
)
def test_single_paths(text: str, prop: str, steps: int, loop: int | None) -> None:
    found = galton.counterexample(galton.parse(text), prop)
    assert found is not None
    (path,) = found.paths
    assert (len(path), path.loop) == (steps, loop)


@pytest.mark.parametrize(
    "prop", ["A [ F true ]", "E [ F false ]", "A [ (F heads) | (G !heads) ]", "E [ (G heads) & (F !heads) ]"]
)
def test_no_single_path_shows_the_others(prop: str) -> None:
    assert galton.counterexample(galton.parse(COIN), prop) is None


# Initial states, mistakes, files.


def test_of_several_initial_states_one_where_it_is_false() -> None:
    found = galton.counterexample(galton.parse(SPLIT), "P<=0.3 [ F x=1 ]")
    assert found is not None
    assert found.name(found.paths[0].states[0]) == "(x=0, y=true)"
    found = galton.counterexample(galton.parse(SPLIT), "A [ G x!=2 ]")
    assert found is not None
    assert found.name(found.paths[0].states[0]) == "(x=0, y=false)"


BOUNDS = "there are counterexamples to bounds on probabilities, such as P<=0.1 [ … ], and to A and E"


@pytest.mark.parametrize(
    ("text", "prop", "said"),
    [
        (COIN, "P=? [ F heads ]", BOUNDS),
        (COIN, 'R{"tosses"}<=1 [ F heads ]', f"{BOUNDS}, not to averages, which no set of paths shows"),
        (COIN, "S<=0.1 [ heads ]", "not to averages"),
        (COIN, "filter(forall, P<=0.1 [ F heads ])", BOUNDS),
        (GAMBLE, "P<=0.1 [ G (F s=3) ]", "formulas with more than one temporal operator (LTL) are not supported"),
        (COIN, "P<=0.1 [ F>=3 heads ]", "counterexamples to bounds without an upper end are not supported"),
        (MACHINE, "P<=0.1 [ F<=3 state=2 ]", "bounds on time are not supported: a path has no single time"),
        (MACHINE, "A [ F<=3 state=2 ]", "'A' with a bound on time is not supported"),
        (GAMBLE, "multi(P>=0.9 [ F s=3 ], P>=0.9 [ F s=4 ])", BOUNDS),
    ],
)
def test_what_has_no_counterexample(text: str, prop: str, said: str) -> None:
    with pytest.raises(GaltonError) as error:
        galton.counterexample(galton.parse(text), prop)
    assert said in str(error.value)


def test_mistakes_of_callers() -> None:
    program = galton.parse(COIN)
    for prop, options, said in (
        ("P<=0.1 [ F heads ]", {"paths": 0}, "a counterexample has one path or more"),
        ("P<=0.1 [ F heads ]", {"N": 1}, "has no constant 'N'"),
        ("P<=0.1 [ F heads ]; A [ F heads ]", {}, "one property is asked for, and this text has 2"),
    ):
        with pytest.raises(GaltonError, match=said):
            galton.counterexample(program, prop, **options)  # type: ignore[arg-type]
    found = galton.counterexample(program, "const double p; P<=p [ F heads ]", p=0.1)
    assert found is not None
    assert found.constants == {"p": 0.1}


def test_too_many_steps_to_look_for_paths_in() -> None:
    with pytest.raises(GaltonError, match="are too many to look for paths in"):
        galton.counterexample(galton.parse(COIN), "P<=0.1 [ F<=2000000000 heads ]")


def test_json_and_csv(tmp_path: Path) -> None:
    found = galton.counterexample(galton.parse(GAMBLE), 'P>=0.7 [ F "good" ]')
    assert found is not None
    found.write(tmp_path / "why.json")
    record = json.loads((tmp_path / "why.json").read_text())
    assert record["property"] == 'P>=0.7 [ F "good" ]'
    assert (record["kind"], record["complete"], record["probability"]) == ("paths", True, 0.5)
    assert record["paths"][0]["steps"] == [
        {"state": {"s": 0}},
        {"action": "a", "choice": 0, "probability": 1.0, "state": {"s": 1}},
        {"action": "a", "choice": 0, "probability": 0.5, "state": {"s": 4}},
    ]
    found.write(tmp_path / "why.csv")
    rows = list(csv.DictReader((tmp_path / "why.csv").read_text().splitlines()))
    assert [row["s"] for row in rows] == ["0", "1", "4"]
    assert [row["action"] for row in rows] == ["", "a", "a"]
    with pytest.raises(GaltonError, match=r"ends in \.json or \.csv"):
        found.write(tmp_path / "why.txt")


def test_text_of_long_paths_and_of_many_is_cut() -> None:
    found = galton.counterexample(galton.parse(WALK), "P<=0 [ F x=200 ]")
    assert found is not None
    lines = repr(found).splitlines()
    assert any("161 more steps" in line for line in lines)
    assert len(lines) < 60


def test_a_probability_that_no_double_holds() -> None:
    walk = WALK.replace("200", "2000")
    found = galton.counterexample(galton.parse(walk), "P<=0 [ F<=2000 x=2000 ]")
    assert found is not None
    assert (found.complete, found.probability, len(found.paths[0])) == (True, 0.0, 2000)
    assert "with a probability above 0 that is too small for a double; > 0 is needed" in found.title


def test_a_model_on_a_device_is_brought_home() -> None:
    with played_device():
        model = galton.parse(GAMBLE).build(device="cuda")
        assert model.on_device
        found = galton.counterexample(model, 'P>=0.7 [ F "good" ]')
    assert found is not None
    assert [path.probability for path in found] == [0.5]


# Numbers that are rounded down.


def test_downward_is_never_above_and_close() -> None:
    random = Random(1)
    for _ in range(300):
        numbers = [
            Fraction(random.random()) * Fraction(2) ** random.randint(-1200, 0) for _ in range(random.randint(1, 40))
        ]
        product, total = Downward(1), Downward(0)
        exact_product, exact_total = Fraction(1), Fraction(0)
        for number in numbers:
            product, total = product * Downward.of(number), total + Downward.of(number)
            exact_product, exact_total = exact_product * number, exact_total + number
        for found, exact in ((product, exact_product), (total, exact_total)):
            assert exact * (1 - Fraction(1, 2**240)) <= found.fraction <= exact
            assert Fraction(float(found)) <= exact
