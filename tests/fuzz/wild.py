"""Random numbers and rows that models in the wild have, and those that they should not."""

from __future__ import annotations

import math
from random import Random

from .model import Row

DECIMALS = [0.1, 0.2, 0.3, 0.7, 0.9, 0.01, 0.99, 0.999, 1 / 3, 1e-3, 0.05]


def magnitude(random: Random) -> float:
    """A positive number up to 1, of any size."""
    kind = random.random()
    if kind < 0.3:
        return 2.0 ** -random.choice([1, 1, 2, 3, 4, 10, 30, 52, 60])
    if kind < 0.55:
        return random.choice(DECIMALS)
    if kind < 0.8:
        return random.random() or 0.5
    if kind < 0.95:
        return 10.0 ** -random.uniform(0, 18)
    return 10.0 ** -random.uniform(0, 300)


def row(random: Random, n: int, most: int = 4, loop: int | None = None) -> Row:
    """A row of probabilities whose doubles sum to 1 as nearly as doubles do; one in a hundred is a little off.

    One of the targets takes what is left; it is ``loop`` where that is given and chance wants it.
    """
    targets = random.sample(range(n), min(n, random.randint(1, most)))
    if len(targets) == 1:
        return {targets[0]: 1.0}
    if loop is not None and random.random() < 0.3:
        targets = [loop, *(t for t in targets if t != loop)]
    found, left = {}, 1.0
    for t in targets[1:]:
        p = magnitude(random) * left
        if 0 < p < left:
            found[t] = p
            left = 1.0 - math.fsum(found.values())
    if left > 0:
        found[targets[0]] = left
    if random.random() < 0.01:  # as somebody writes 0.333333
        t = random.choice(list(found))
        found[t] *= 1 + random.choice([-1, 1]) * 10.0 ** -random.uniform(6, 12)
    return found


def rates(random: Random, n: int, here: int, most: int = 4) -> Row:
    """Rates over many orders of magnitude; sometimes none but to itself, seldom with a sum that overflows."""
    targets = [
        t for t in random.sample(range(n), min(n, random.randint(1, most))) if t != here or random.random() < 0.3
    ]
    if not targets:
        return {here: 1.0}
    kind = random.random()
    if kind < 0.005:
        return {t: 10.0 ** random.uniform(307, 308.2) for t in targets}
    spread = 1 if kind < 0.5 else 6 if kind < 0.9 else 150
    return {t: random.choice([magnitude(random), 10.0 ** random.uniform(-spread, spread)]) for t in targets}


def rewards(random: Random, n: int) -> list[float]:
    """Mostly small numbers, with zeros and a few that are very large or small."""
    return [random.choice([0.0, 0.0, 1.0, 1.0, 0.1, 3.0, 1e-9, 1e9, 2.0**-40, random.random() * 10]) for _ in range(n)]


def subset(random: Random, n: int, share: float = 0.4) -> set[int]:
    return {s for s in range(n) if random.random() < share}
