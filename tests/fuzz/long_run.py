"""Campaign: long-run averages of chains with several bottom components and wild numbers, against rationals."""

from __future__ import annotations

from random import Random

from flint import fmpq

from . import chains, exact, metastable, wild
from .exact import Truth, ball, rational
from .judge import Judge
from .model import Made, Row


def play(random: Random, judge: Judge) -> None:
    long = random.random() < 0.15
    made = (
        metastable_cycle(random)
        if long
        else chains.chain(random, random.choice(["dtmc", "ctmc"]), random.randint(2, 10))
    )
    model = judge.build(made)
    if model is None:
        return
    for text, truths in (precise if long else answers)(made).items():
        probes = [random.choice(sorted(made.labels["probes"]))]
        judge.everywhere(model, text, truths, made.text, initial=made.initial, unit=text[0] == "S", probes=probes)


def answers(made: Made) -> dict[str, list[Truth]]:
    inside = [fmpq(s in made.labels["b"]) for s in range(made.n)]
    worth = [rational(r) + rational(g[0]) for r, g in zip(made.rewards, made.gains, strict=True)]
    return {
        'S=? [ "b" ]': exact.long_run(made, inside),
        'R{"r"}=? [ S ]': exact.long_run(made, worth),
    }


def precise(made: Made) -> dict[str, list[Truth]]:
    """The same in balls."""

    def worked() -> list[list[Truth]]:
        inside = [ball(float(s in made.labels["b"])) for s in range(made.n)]
        worth = [ball(r) for r in made.rewards]
        return [exact.long_run(made, inside, ball), exact.long_run(made, worth, ball)]

    inside, worth = exact.precisely(worked)
    return {'S=? [ "b" ]': list(inside), 'R{"r"}=? [ S ]': list(worth)}


def metastable_cycle(random: Random) -> Made:
    """A walk between two ends that send it back."""
    n = metastable.size(random, 1000)
    ctmc = random.random() < 0.5
    rows: list[Row] = []
    for s, p in enumerate(metastable.stretches(random, n)):
        speed = random.choice([1.0, 1.0, 4.0]) if ctmc else 1.0
        rows.append({s - 1: (1 - p) * speed, s + 1: p * speed})
    rows[0], rows[-1] = {1: 1.0}, {n - 2: 1.0}
    if (not ctmc and n % 2 == 0) or random.random() < 0.5:
        rows[0] = {0: 0.5, 1: 0.5}
    labels = {"b": wild.subset(random, n, 0.3), "probes": set(random.sample(range(n), 2))}
    rewards = [random.choice([0.0, 1.0, 0.3]) for _ in range(n)]
    return Made("ctmc" if ctmc else "dtmc", [[row] for row in rows], labels, rewards, initial=random.randrange(n))
