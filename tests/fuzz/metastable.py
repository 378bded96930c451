"""Campaign: long components that are hard to leave, against balls of as many bits as it takes.

Small random models do not have them: walks that drift away from their exits, queues with two levels, blocks that hardly
know of each other, rings that are seldom left, landscapes with wells.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from flint import arb

from . import exact, wild
from .exact import Truth, ball
from .judge import Judge
from .model import Made, Row


def play(random: Random, judge: Judge) -> None:
    made = random.choice([walk, walk, hard_to_leave, queue, blocks, ring, landscape])(random)
    model = judge.build(made)
    if model is None:
        return
    probes = sorted(made.labels["probes"])
    for text, truths in answers(made).items():
        unit = text[0] in "PS"
        judge.everywhere(model, text, truths, made.text, initial=made.initial, unit=unit, probes=probes[:2])


def size(random: Random, most: int = 5000) -> int:
    return round(60 * (most / 60) ** random.random() ** 2)


def finished(random: Random, type: str, rows: list[Row], left: set[int], right: set[int]) -> Made:
    n = len(rows)
    labels = {"left": left, "right": right, "end": left | right, "here": wild.subset(random, n, 0.2)}
    labels["probes"] = set(random.sample(range(n), 2))
    rewards = [0.0 if s in labels["end"] else random.choice([0.0, 1.0, 1.0, 0.3, 1e-6]) for s in range(n)]
    free = [s for s in range(n) if s not in labels["end"]]
    return Made(type, [[row] for row in rows], labels, rewards, initial=random.choice(free))


def up(random: Random, steep: bool = True) -> float:
    """The chance to go up, of a stretch of a walk."""
    mild = [0.5, 0.3, 0.7, 0.45, 0.55, 0.4, 0.6, random.uniform(0.3, 0.7)]
    return random.choice([*mild, 1 / 8, 7 / 8, 0.1, 0.9, random.random(), 2**-10, 1 - 2**-10] if steep else mild)


def stretches(random: Random, n: int, steep: bool = True) -> list[float]:
    """A chance to go up for each place, the same over long stretches."""
    cuts = sorted(random.sample(range(1, n), random.randint(0, 5)))
    found: list[float] = []
    for start, end in zip([0, *cuts], [*cuts, n], strict=True):
        p = up(random, steep)
        found += [p] * (end - start)
    return found


def walk(random: Random) -> Made:
    """Between two ends, with a drift that changes, perhaps lazy, perhaps with an end that is seldom entered."""
    n = size(random)
    lazy = random.choice([0.0, 0.0, 0.5, 0.25, 0.999])
    rows: list[Row] = []
    for s, p in enumerate(stretches(random, n)):
        move = 1 - lazy
        row = {s - 1: move * (1 - p), s + 1: move * p} | ({s: lazy} if lazy else {})
        rows.append({t: w for t, w in row.items() if w > 0})
    rows[0] = {0: 1.0}
    if random.random() < 0.6:
        rows[-1] = {n - 1: 1.0}
        return finished(random, "dtmc", rows, {0}, {n - 1})
    rare = 10.0 ** -random.randint(1, 15)
    rows[-1] = {n - 2: 1 - rare, n: rare}
    return finished(random, "dtmc", [*rows, {n: 1.0}], {0}, {n})


def hard_to_leave(random: Random) -> Made:
    """Downhill to a place whose exit is rare, from the middle uphill to the other end."""
    n = size(random)
    middle = random.randrange(1, n - 1)
    steep = random.choice([1 / 8, 1 / 16, 0.1, 0.25, 0.4])
    rare = 10.0 ** -random.uniform(3, 16)
    rows: list[Row] = [{1: 1 - rare, n: rare}]
    rows += [{s + 1: steep, s - 1: 1 - steep} for s in range(1, middle)]
    rows += [{s + 1: 1 - steep, s - 1: steep} for s in range(middle, n - 1)]
    return finished(random, "dtmc", [*rows, {n - 1: 1.0}, {n: 1.0}], {n}, {n - 1})


def queue(random: Random) -> Made:
    """A birth–death process in continuous time with two levels that it likes; one end is left, or both."""
    n = size(random)
    low, high, between = n // 4, 3 * n // 4, n // 2
    slow, fast = random.choice([(1.0, 2.0), (1 / 8, 16.0), (0.9, 1.0), (1e-3, 1.0), (0.3, 0.7)])
    rows: list[Row] = []
    for s in range(n):
        rising = s < low or between <= s < high
        rows.append(
            {t: w for t, w in ((s - 1, slow if rising else fast), (s + 1, fast if rising else slow)) if 0 <= t < n}
        )
    rows[-1] = {n - 1: 1.0}
    if random.random() < 0.5:
        return finished(random, "ctmc", rows, set(), {n - 1})
    rows[0] = {0: 1.0}
    return finished(random, "ctmc", rows, {0}, {n - 1})


def blocks(random: Random) -> Made:
    """Blocks of a few states, coupled by very little; two of them may be left."""
    size_of_block = random.randint(3, 8)
    count = max(60, size(random, 600)) // size_of_block
    n = count * size_of_block
    coupling = 10.0 ** -random.uniform(3, 15)
    ctmc = random.random() < 0.4
    rows: list[Row] = []
    for s in range(n):
        block = s // size_of_block
        inside = [block * size_of_block + i for i in random.sample(range(size_of_block), 3)]
        weights = {
            t: random.choice([0.1, 0.5, 1.0, random.random()])
            for t in [*inside, (s + 1) if (s + 1) % size_of_block else block * size_of_block]
        }
        if random.random() < 0.5:
            weights[(s + random.choice([-1, 1]) * size_of_block) % n] = coupling * random.random()
        rows.append(weights)
    for s, t in ((0, n), (n // 2, n + 1)):
        rows[s][t] = coupling * random.random()
    if not ctmc:
        rows = [normal(row) for row in rows]
    return finished(random, "ctmc" if ctmc else "dtmc", [*rows, {n: 1.0}, {n + 1: 1.0}], {n}, {n + 1})


def normal(row: Row) -> Row:
    whole = sum(row.values())
    return {t: w / whole for t, w in row.items()}


def ring(random: Random) -> Made:
    """Round and round, with a few rare ways out."""
    n = size(random, 2000)
    p = random.choice([0.5, 0.9, 0.99, 1 - 1e-9])
    rows: list[Row] = [{(s + 1) % n: p, s: 1 - p} for s in range(n)]
    for s in random.sample(range(n), random.randint(2, 5)):
        rare = 10.0 ** -random.uniform(2, 16)
        rows[s] = {(s + 1) % n: 1 - rare, random.choice([n, n + 1]): rare}
    rows[0] = {1: 0.5, n: 1e-12, n + 1: 0.5 - 1e-12} if random.random() < 0.3 else rows[0]
    some = {t for row in rows for t in row if t >= n}
    for s, t in ((1, n), (2, n + 1)):
        if t not in some:
            rows[s] = {s + 1: 1 - 2.0**-40, t: 2.0**-40}
    return finished(random, "dtmc", [*rows, {n: 1.0}, {n + 1: 1.0}], {n}, {n + 1})


def landscape(random: Random) -> Made:
    """A grid whose steps go down into the nearest well, most of the time."""
    wide, high = random.randint(8, 16), random.randint(8, 16)
    wells = [(random.randrange(wide), random.randrange(high)) for _ in range(random.randint(1, 3))]
    steep = random.choice([0.6, 0.8, 0.95, 1 - 2**-12])
    rows: list[Row] = []
    for y in range(high):
        for x in range(wide):
            beside = [(x + dx, y + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
            beside = [(u, v) for u, v in beside if 0 <= u < wide and 0 <= v < high]
            down = min(beside, key=lambda c: min(abs(c[0] - u) + abs(c[1] - v) for u, v in wells))
            rows.append(normal({v * wide + u: steep if (u, v) == down else 1 - steep for u, v in beside}))
    n = wide * high
    rows[0], rows[-1] = {0: 1.0}, {n - 1: 1.0}
    return finished(random, "dtmc", rows, {0}, {n - 1})


def answers(made: Made) -> dict[str, list[Truth]]:
    """Where it ends, how long that takes and what it costs, in all states."""
    left, right, end = (made.labels[name] for name in ("left", "right", "end"))
    everything = range(made.n)
    rewards, none = made.rewards, [0.0] * made.n
    if len(exact.backward(exact.predecessors(made.rows), end, everything)) < made.n:
        works = [
            lambda: exact.until(made.rows, everything, left, ball),
            lambda: exact.until(made.rows, everything, right, ball),
            lambda: exact.accumulated(made, end, rewards, none, ball),
            lambda: exact.accumulated(made, end, [1.0] * made.n, none, ball),
        ]
        lefts, rights, costs, times = ([x for (x,) in exact.precisely(lambda w=w: [[x] for x in w()])] for w in works)
        missed = True
    else:  # all at once
        lefts, rights, costs, times = zip(*exact.precisely(lambda: ends(made)), strict=True)
        missed = False
    found = {'P=? [ F "right" ]': rights, 'R{"r"}=? [ F "end" ]': costs, 'T=? [ F "end" ]': times}
    if not missed:
        found['R{"r"}=? [ C ]'] = costs
    if left:
        found |= {'P=? [ F "left" ]': lefts, 'P=? [ !"right" U "left" ]': lefts}
        if not missed:
            found['P=? [ G !"left" ]'] = rights
    return {text: list(values) for text, values in found.items()}


def ends(made: Made) -> list[Sequence[arb]]:
    """The chances of both ends, cost and time, of a chain that ends for certain."""
    zero, one = ball(0.0), ball(1.0)
    fixed = {s: [one, zero, zero, zero] for s in made.labels["left"]}
    fixed |= {s: [zero, one, zero, zero] for s in made.labels["right"]}
    constants = [
        None if s in fixed else [zero, zero, *(exact.step_gain(made, s, r, 0.0, ball) for r in (made.rewards[s], 1.0))]
        for s in range(made.n)
    ]
    return exact.solve(made.rows, constants, fixed, ball)
