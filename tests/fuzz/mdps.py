"""Campaign: small MDPs, all of whose strategies are tried, in rationals; strategies given back are tried as well.

Probabilities and expected rewards as asked here have an optimum among strategies without memory, end components or not.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

from flint import fmpq

from . import exact, wild
from .case import from_file
from .chains import otherwise
from .exact import ONE, Truth, is_infinite
from .judge import EPS, Judge, above, below, shown
from .model import Made

MOST = 40  # strategies

Value = Callable[[Made], list[Truth]]  # of a chain, in all states


def mdp(random: Random) -> Made:
    n = random.randint(2, 7)
    choices, strategies = [], 1
    for s in range(n):
        rows = []
        for _ in range(random.choice([1, 1, 2, 2, 3])):
            if strategies * (len(rows) + 1) > MOST:
                break
            kind = random.random()
            row = {s: 1.0} if kind < 0.12 else wild.row(random, n, most=1 if kind < 0.3 else 3, loop=s)
            if row not in rows:
                rows.append(row)
        choices.append(rows)
        strategies *= len(rows)
    labels = {"a": wild.subset(random, n, 0.7), "b": wild.subset(random, n, 0.25), "probes": set(range(n))}
    labels["b"] |= {random.randrange(n)} if random.random() < 0.7 else set()
    gains = [[random.choice([0.0, 1.0, 0.25]) for _ in rows] for rows in choices] if random.random() < 0.3 else []
    return Made("mdp", choices, labels, wild.rewards(random, n), gains, random.randrange(n))


def _until(made: Made, hold: set[int], goal: set[int]) -> list[Truth]:
    return exact.until(made.rows, hold, goal)


def _all(made: Made) -> set[int]:
    return set(range(made.n))


def _gains(made: Made) -> list[float]:
    return [g[0] for g in made.gains]


QUESTIONS: dict[str, Value] = {
    'P# [ F "b" ]': lambda m: _until(m, _all(m), m.labels["b"]),
    'P# [ "a" U "b" ]': lambda m: _until(m, m.labels["a"], m.labels["b"]),
    'P# [ G "a" ]': lambda m: [ONE - x for x in _until(m, _all(m), _all(m) - m.labels["a"])],
    'P# [ "a" W "b" ]': lambda m: [
        ONE - x for x in _until(m, _all(m) - m.labels["b"], _all(m) - m.labels["a"] - m.labels["b"])
    ],
    'R{"r"}# [ F "b" ]': lambda m: exact.accumulated(m, m.labels["b"], m.rewards, _gains(m)),
    'T# [ F "b" ]': lambda m: exact.accumulated(m, m.labels["b"], [1.0] * m.n, [0.0] * m.n),
    'R{"r"}# [ C ]': lambda m: exact.total(m, m.rewards, _gains(m)),
}


def play(random: Random, judge: Judge) -> None:
    made = mdp(random)
    model = judge.build(made)
    if model is None:
        return
    chains = [made.induced(chosen) for chosen in product(*(range(len(rows)) for rows in made.choices))]
    for question, value in QUESTIONS.items():
        solved = [value(chain) for chain in chains]
        for name, best in (("min", least), ("max", most)):
            text = question.replace("#", f"{name}=?")
            truths = [best([values[s] for values in solved]) for s in range(made.n)]
            unit, probes = text[0] == "P", [random.randrange(made.n)]
            judge.everywhere(model, text, truths, made.text, initial=made.initial, unit=unit, probes=probes)
            apply(judge, model, made, text, value, truths[made.initial])
            otherwise(random, judge, model, made, text, truths[made.initial])
            if random.random() < 0.02:
                from_file(judge, made.text(), text, truths[made.initial])


def apply(judge: Judge, model: Any, made: Made, text: str, value: Value, truth: Truth) -> None:
    """The strategy that comes with an answer, and the exact value of the chain that it makes."""
    result = judge.ask(model, text, made.text, strategy=True)
    if result is None:
        return
    if result.strategy is None:
        judge.fail(text, "no strategy", made.text)
        return
    try:
        chain = read(result.strategy.induced())
    except Exception as error:
        judge.fail(text, f"the strategy cannot be applied: {type(error).__name__}: {error}", made.text)
        return
    got = value(chain)[chain.initial]
    judge.tally.numbers += 1
    # A strategy is as good as the answer is precise.
    if below(got, result.lower * (1 - 2 * EPS)) or above(got, result.upper * (1 + 2 * EPS)):
        judge.fail(text, f"the strategy, applied, gives {shown(got)}, the optimum is {shown(truth)}", made.text)


def read(model: Any) -> Made:
    """A chain that Galton made, as what it is."""
    model = model.to_host()
    rows = [[{t: p for p, t in model.transitions(s)[0][1]}] for s in range(model.n_states)]
    labels = {name: {int(s) for s in mask.nonzero()[0]} for name, mask in model.labels.items()}
    parts = model.rewards["r"]
    zeros = [0.0] * model.n_states
    state = zeros if parts.state is None else [float(x) for x in parts.state]
    gains = zeros if parts.choice is None else [float(x) for x in parts.choice]
    return Made("dtmc", rows, labels, state, [[g] for g in gains], int(model.initial[0]))


def least(values: list[Truth]) -> Truth:
    return min(values, key=_size)


def most(values: list[Truth]) -> Truth:
    return max(values, key=_size)


def _size(value: Truth) -> tuple[bool, fmpq]:
    return (True, fmpq(0)) if is_infinite(value) else (False, value)
