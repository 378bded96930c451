"""Campaign: long MDPs that are hard to leave, by policy iteration in balls; each comparison of choices is certain.

All choices can go both ways, so that every strategy ends, there are no end components, and Howard's algorithm finds the
optimum from any start.
"""

from __future__ import annotations

from random import Random
from typing import Any

from flint import arb, ctx

from . import exact
from .exact import ball
from .judge import EPS, Judge, above, below, shown
from .mdps import read
from .metastable import size, stretches, up
from .model import Made

BITS = 8_192  # what cannot be told apart with so many is a tie, and the model is left out


def play(random: Random, judge: Judge) -> None:
    made = walk(random)
    model = judge.build(made)
    if model is None:
        return
    known: dict[tuple[bool, int, int], list[arb] | None] = {}  # two of the questions have the same answers
    for text, goal, rewards in questions(made):
        for name, sign in (("min", -1), ("max", 1)):
            key = (bool(goal), id(rewards), sign)
            if key not in known:
                known[key] = optimum(made, goal, rewards, sign)
            truths = known[key]
            if truths is None:
                continue
            question = text.replace("#", f"{name}=?")
            unit, probes = text[0] == "P", [random.choice(sorted(made.labels["probes"]))]
            judge.everywhere(model, question, truths, made.text, initial=made.initial, unit=unit, probes=probes)
            if random.random() < 0.5:
                apply(judge, model, made, question, rewards, truths[made.initial])


def walk(random: Random) -> Made:
    """A walk between two ends; some states may choose another drift, or to be thrown back half of the time."""
    n = size(random, random.choice([100, 100, 300, 300, 300, 2000]))
    share = random.choice(
        [0.05, 0.3, 1.0]
    )  # steep walks are short: comparing choices takes as many bits as they are steep
    choices: list[list[dict[int, float]]] = []
    for s, p in enumerate(stretches(random, n, n < 200)):
        rows = [{s - 1: 1 - p, s + 1: p}]
        if random.random() < share:
            other = up(random, n < 200)
            row = {s - 1: 1 - other, s + 1: other}
            if random.random() < 0.2:
                row = {s - 1: (1 - other) / 2, s + 1: other / 2}
                back = random.choice([t for t in range(1, n - 1) if t not in (s - 1, s + 1)])
                row[back] = 0.5
            if row != rows[0] and s not in row:
                rows.append(row)
        choices.append(rows)
    choices[0], choices[-1] = [{0: 1.0}], [{n - 1: 1.0}]
    labels = {"left": {0}, "right": {n - 1}, "end": {0, n - 1}, "probes": set(random.sample(range(n), 3))}
    rewards = [random.choice([0.0, 1.0, 1.0, 0.3]) if 0 < s < n - 1 else 0.0 for s in range(n)]
    return Made("mdp", choices, labels, rewards, initial=random.randrange(1, n - 1))


def questions(made: Made) -> list[tuple[str, set[int], list[float]]]:
    """A text, the states that are worth 1, and rewards."""
    none = [0.0] * made.n
    return [
        ('P# [ F "right" ]', made.labels["right"], none),
        ('P# [ G !"left" ]', made.labels["right"], none),
        ('R{"r"}# [ F "end" ]', set(), made.rewards),
        ('T# [ F "end" ]', set(), [1.0] * made.n),
    ]


def optimum(made: Made, goal: set[int], rewards: list[float], sign: int) -> list[arb] | None:
    """The best values; None where two choices are too much alike."""
    before, bits = ctx.prec, 256
    chosen = [0] * made.n
    try:
        while bits <= BITS:
            ctx.prec = bits
            values = evaluate(made.induced(chosen), goal, rewards)
            state = improve(made, rewards, sign, chosen, values)
            if state == "best":
                return values
            if state == "unclear":
                bits *= 2
        return None
    finally:
        ctx.prec = before


def evaluate(chain: Made, goal: set[int], rewards: list[float]) -> list[arb]:
    fixed = {s: [ball(1.0 if s in goal else 0.0)] for s in chain.labels["end"]}
    constants = [None if s in fixed else [exact.step_gain(chain, s, rewards[s], 0.0, ball)] for s in range(chain.n)]
    return [x[0] for x in exact.solve(chain.rows, constants, fixed, ball)]


def improve(made: Made, rewards: list[float], sign: int, chosen: list[int], values: list[arb]) -> str:
    """Take better choices where there are; ``best`` where there are none for certain."""
    state = "best"
    for s, rows in enumerate(made.choices):
        for c, row in enumerate(rows):
            if c == chosen[s]:
                continue
            whole = sum((ball(w) for w in row.values()), ball(0.0))
            change = sum((ball(w) * (values[t] - values[s]) for t, w in row.items()), ball(0.0))
            gain = sign * (change + whole * ball(rewards[s]))
            if gain > 0:
                chosen[s], state = c, "better"
                break
            if not gain < 0 and state == "best":
                state = "unclear"
    return state


def apply(judge: Judge, model: Any, made: Made, text: str, rewards: list[float], truth: arb) -> None:
    result = judge.ask(model, text, made.text, strategy=True)
    if result is None:
        return
    if result.strategy is None:
        judge.fail(text, "no strategy", made.text)
        return
    chain = read(result.strategy.induced())
    rewards = chain.rewards if text[0] == "R" else [1.0] * chain.n if text[0] == "T" else [0.0] * chain.n
    goal = set() if text[0] in "RT" else chain.labels["right"]
    got = exact.precisely(lambda: [[x] for x in evaluate(chain, goal, rewards)])[chain.initial][0]
    judge.tally.numbers += 1
    # A strategy is as good as the answer is precise.
    if below(got, result.lower * (1 - 2 * EPS)) or above(got, result.upper * (1 + 2 * EPS)):
        judge.fail(text, f"the strategy, applied, gives {shown(got)}, the optimum is {shown(truth)}", made.text)
