"""Campaign: long-run averages of small MDPs, all of whose strategies are tried, in rationals; strategies as well.

The best average is attained by a strategy without memory, whatever the end components and their periods.
"""

from __future__ import annotations

from itertools import product
from random import Random

from flint import fmpq

from . import exact, mdps, wild
from .exact import Truth, rational
from .judge import Judge
from .model import Made, Row


def play(random: Random, judge: Judge) -> None:
    made = random.choice([mdps.mdp, mdps.mdp, rings, sticky])(random)
    model = judge.build(made)
    if model is None:
        return
    chains = [made.induced(chosen) for chosen in product(*(range(len(rows)) for rows in made.choices))]
    for question, value in {'S# [ "b" ]': _occupied, 'R{"r"}# [ S ]': _earned}.items():
        solved = [value(chain) for chain in chains]
        for name, best in (("min", mdps.least), ("max", mdps.most)):
            text = question.replace("#", f"{name}=?")
            truths = [best([values[s] for values in solved]) for s in range(made.n)]
            unit, probes = text[0] == "S", [random.randrange(made.n)]
            judge.everywhere(model, text, truths, made.text, initial=made.initial, unit=unit, probes=probes)
            mdps.apply(judge, model, made, text, value, truths[made.initial])
            if random.random() < 0.2:
                judge.number(model, text, truths[made.initial], made.text, unit=unit, eps=1e-10)


def _occupied(chain: Made) -> list[Truth]:
    return exact.long_run(chain, [fmpq(s in chain.labels["b"]) for s in range(chain.n)])


def _earned(chain: Made) -> list[Truth]:
    worth = [rational(r) + rational(g[0]) for r, g in zip(chain.rewards, chain.gains, strict=True)]
    return exact.long_run(chain, worth)


def rings(random: Random) -> Made:
    """Rings that are gone round for ever, with a choice of where to change from one to another: all are periodic."""
    sizes = [random.randint(1, 5) for _ in range(random.randint(1, 3))]
    firsts = [sum(sizes[:k]) for k in range(len(sizes))]
    choices: list[list[Row]] = []
    for first, size in zip(firsts, sizes, strict=True):
        choices += [[{first + (k + 1) % size: 1.0}] for k in range(size)]
    n = len(choices)
    for s in random.sample(range(n), min(n, random.randint(0, 4))):
        target = random.randrange(n)
        row = {target: 1.0} if random.random() < 0.6 else wild.row(random, n, most=3, loop=s)
        if row not in choices[s]:
            choices[s].append(row)
    return _made(random, choices)


def sticky(random: Random) -> Made:
    """A walk in which steps are rare, by many orders of magnitude, and some states may choose how rare."""
    n = random.randint(2, 5)
    choices: list[list[Row]] = []
    for s in range(n):
        rows: list[Row] = []
        for _ in range(random.choice([1, 2, 2])):
            rare = random.choice([0.5, 1e-3, 1e-6, 1e-9, 1e-12])
            target = random.choice([t for t in range(n) if t != s])
            rows.append({s: 1 - rare, target: rare})
        choices.append([row for k, row in enumerate(rows) if row not in rows[:k]])
    return _made(random, choices)


def _made(random: Random, choices: list[list[Row]]) -> Made:
    n = len(choices)
    labels = {"a": set(range(n)), "b": wild.subset(random, n, 0.3), "probes": set(range(n))}
    gains = [[random.choice([0.0, 1.0, 0.25, 0.1]) for _ in rows] for rows in choices] if random.random() < 0.4 else []
    return Made("mdp", choices, labels, wild.rewards(random, n), gains, random.randrange(n))
