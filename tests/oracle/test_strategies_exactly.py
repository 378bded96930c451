"""Strategies of random MDPs: in every state the chain that one leaves is worth the best value, in exact fractions."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path as File

import exact_steps as steps
import numpy as np
import pytest
from exact import Exact, Number, Rewards, Vector, from_sparse
from queries import TRUE, Bound, ExpectedTime, Formula, Label, LongRun, Not, Path, Probability, Reward, _reachability

import galton
from galton.checking.strategies.strategy import Strategy
from galton.checking.strategies.strategy_file import read_strategy, write_strategy
from galton.model.sparse import Model
from galton.model.sparse import Rewards as EarnedBy

PARTS = ([1.0], [1.0], [0.5, 0.5], [0.25, 0.75], [0.125, 0.375, 0.5], [2.0**-10, 1 - 2.0**-10])
CLOSE = Fraction(1, 10**5)
OPTIMA = ("min", "max")


@dataclass(frozen=True)
class NextReward:
    """``R [ X goal ]``: what one step earns, infinite where it may miss the goal."""

    goal: Formula
    optimum: str | None = None

    def text(self) -> str:
        return f'R{{"r"}}{self.optimum or ""}=? [ X {self.goal} ]'

    def exact(self, model: Exact) -> Vector:
        best, goal, rewards = min if self.optimum == "min" else max, self.goal.states(model), model.rewards["r"]
        return [
            best(rewards.total(s, c) if row.keys() <= goal else math.inf for c, row in enumerate(rows))
            for s, rows in enumerate(model.rows)
        ]


@dataclass(frozen=True)
class UntilReward:
    """``R [ through U goal ]``: the same as ``F goal`` where states that are in neither are never left."""

    through: Formula
    goal: Formula
    optimum: str | None = None

    def text(self) -> str:
        return f'R{{"r"}}{self.optimum or ""}=? [ {self.through} U {self.goal} ]'

    def exact(self, model: Exact) -> Vector:
        lost = model.states - self.through.states(model) - self.goal.states(model)
        rows = [[{s: Fraction(1)}] * len(rows) if s in lost else rows for s, rows in enumerate(model.rows)]
        return _reachability(replace(model, rows=rows), model.rewards["r"], self.goal, self.optimum)


Query = Probability | Reward | ExpectedTime | LongRun | NextReward | UntilReward


def random_mdp(source: random.Random) -> Model:
    """A few states with a few choices each; rewards are rare, so that there are ways to earn nothing."""
    size = source.randint(2, 6)
    rows, starts = [], [0]
    for state in range(size):
        for _ in range(source.choice((1, 1, 2, 3))):
            row = [0.0] * size
            for part in source.choice(PARTS):
                row[source.choice((state, source.randrange(size), source.randrange(size)))] += part
            rows.append(row)
        starts.append(len(rows))
    some = [source.random() < 0.5 for _ in range(size)], [source.random() < 0.3 for _ in range(size)]
    earned = source.choice((0.2, 0.5)), (0.0, 1.0, 3.0, 0.5)
    state = [source.choice(earned[1]) if source.random() < earned[0] else 0.0 for _ in range(size)]
    choice = [source.choice(earned[1]) if source.random() < earned[0] else 0.0 for _ in rows]
    return Model.from_matrix(
        "mdp",
        np.array(rows),
        row_groups=starts,
        labels={"a": np.array(some[0]), "b": np.array(some[1])},
        rewards={"r": EarnedBy(state=np.array(state), choice=np.array(choice))},
    )


def queries(source: random.Random) -> list[Query]:
    """One of every kind."""
    labels = [Label("a"), Label("b"), Not(Label("a")), Not(Label("b"))]
    found: list[Query] = []
    for operator in "XFGUWR":
        for relation in ("", "<=", ">=", "=", "[]"):
            first, second = sorted((source.randint(0, 4), source.randint(0, 4)))
            bound = Bound(relation, Fraction(first), Fraction(second)) if relation and operator != "X" else None
            left = TRUE if operator in "XFG" else source.choice(labels)
            path = Path(operator, left, source.choice(labels), bound)
            found += [Probability(path, optimum) for optimum in OPTIMA]
    for optimum in OPTIMA:
        goal = source.choice(labels)
        count = Fraction(source.randint(0, 4))
        found += [Reward("r", "F", goal, optimum=optimum), Reward("r", "C", optimum=optimum)]
        found += [Reward("r", objective, time=count, optimum=optimum) for objective in ("C<=", "I=")]
        found += [ExpectedTime(goal, optimum), NextReward(goal, optimum)]
        found += [Reward("r", "S", optimum=optimum), LongRun(goal, optimum)]
        found.append(UntilReward(source.choice(labels), goal, optimum))
    return found


def left(model: Exact, strategy: Strategy) -> Exact:
    """The chain that a strategy leaves: its first states are those of the model, before any step."""
    layers, n = np.atleast_2d(strategy.choices), len(model.rows)
    starts = strategy.model.choice_starts
    rows, choices = [], []
    for step, layer in enumerate(layers.tolist()):
        shift = min(step + 1, len(layers) - 1) * n
        for s, row in enumerate(layer):
            choice = 0 if row < 0 else row - int(starts[s])
            rows.append([{shift + t: p for t, p in model.rows[s][choice].items()}])
            choices.append([model.rewards["r"].choice[s][choice]])
    copies = range(0, len(rows), n)
    labels = {name: frozenset(k + s for k in copies for s in states) for name, states in model.labels.items()}
    rewards = {"r": Rewards([*model.rewards["r"].state] * len(layers), choices)}
    return Exact("dtmc", rows, labels=labels, rewards=rewards)


def same(one: Number, other: Number) -> bool:
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= CLOSE * min(one, other)


def mistakes(model: Model, query: Query, method: str | None = None, file: File | None = None) -> Sequence[str]:
    """In words, where the strategy of a question is not worth what it should be."""
    exact = from_sparse(model)
    found = galton.check(model, query.text(), strategy=True, method=method)
    assert found.strategy is not None
    best, plain = query.exact(exact), replace(query, optimum=None)
    worth = plain.exact(left(exact, found.strategy))
    wrong = [s for s in range(model.n_states) if not same(best[s], worth[s])]
    if file is not None:
        write_strategy(file, found.strategy)
        again, _ = read_strategy(file, model)
        wrong += [s for s in model.initial.tolist() if not same(best[s], plain.exact(left(exact, again))[s])]
    return [f"{query.text()}: in {s} {float(worth[s])}, not {float(best[s])}" for s in wrong]


@pytest.mark.parametrize("seed", range(25))
def test_strategies_attain_the_value_in_every_state(seed: int, tmp_path: File) -> None:
    source = random.Random(seed)
    model = random_mdp(source)
    wrong = [line for query in queries(source) for line in mistakes(model, query, file=tmp_path / "s.json")]
    assert not wrong


def is_unbounded(query: object) -> bool:
    """Whether a method has something to do for a query: others are refused."""
    if isinstance(query, Probability):
        return query.path.bound is None and query.path.operator != "X"
    if isinstance(query, Reward):
        return query.objective in ("F", "C")
    return not isinstance(query, NextReward | LongRun)


@pytest.mark.parametrize("method", ["policy-iteration", "value-iteration", "interval", "gauss-seidel", "optimistic"])
def test_strategies_of_methods_chosen_by_hand(method: str) -> None:
    for seed in range(100, 105):
        source = random.Random(seed)
        model = random_mdp(source)
        unbounded = [query for query in queries(source) if is_unbounded(query)]
        assert not [line for query in unbounded for line in mistakes(model, query, method)]


def test_the_oracle_knows_a_bad_strategy() -> None:
    """Both choices of the only decision, one of which is wrong."""
    model = Model.from_matrix(
        "mdp",
        np.array([[0.0, 1], [1, 0], [0, 1]]),
        row_groups=[0, 2, 3],
        labels={"a": np.array([False, True])},
        rewards={"r": EarnedBy(state=np.array([0.0, 1]))},
    )
    exact = from_sparse(model)
    values = [
        Reward("r", "C").exact(left(exact, Strategy(model, np.array([row, 2], dtype=np.int32)))) for row in (0, 1)
    ]
    assert values == [[math.inf, math.inf], [0, math.inf]]
    assert steps.next_step(exact, {1}, "max") == [1, 1]
