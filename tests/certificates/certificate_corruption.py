"""Certificates that must be refused: false claims with all the support that can be forged, and broken files.

A false claim excludes the exact value; whatever its numbers, ranks and strategies say, accepting it is a mistake of the
verifier. (A certificate that was changed and still claims what is true may be accepted: it may still prove it.)
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from galton.verifier.certificate import Bound, Certificate, Side
from galton.verifier.numbers import Exact, Vector, dyadic

Number = Fraction | float


def false_claim(rng: random.Random, certificate: Certificate, truth: list[Number], initial: int) -> Certificate | None:
    """The certificate with a claim that is false, and with values to match; None where no claim would be false."""
    sides: list[Side] = []
    value = truth[initial]
    if value != math.inf:
        sides.append("lower")
    if value != 0:
        sides.append("upper")
    if not sides:
        return None
    side = rng.choice(sides)
    tries = _beyond(rng, value, side)
    if not tries:
        return None
    chosen = rng.choice(tries)
    wrong: Exact = None if chosen == math.inf else dyadic(chosen)
    claim: dict[str, Any] = {side: wrong, "holds": None} if certificate.holds is None else {side: wrong}
    if certificate.holds is not None:
        claim["holds"] = not certificate.holds
    if not certificate.bounds:
        return replace(certificate, **claim)
    bound = certificate.bounds[side]
    forged = _forged(rng, bound, truth, side, wrong, initial)
    return replace(certificate, bounds={**certificate.bounds, side: forged}, **claim)


def _beyond(rng: random.Random, value: Number, side: Side) -> list[float]:
    """Numbers that are no bounds of that side."""
    if value == math.inf:  # upper bounds that are finite
        return [0.0, 1.0, 1e6, 1e300]
    assert isinstance(value, Fraction)
    near = float(value)
    if side == "lower":
        tries = [near * (1 + 10.0 ** -rng.randint(1, 15)), near + 10.0 ** -rng.randint(1, 18), near * 2 + 1e-9, 1.0]
        tries += [math.nextafter(near, math.inf), math.nextafter(math.nextafter(near, math.inf), math.inf), math.inf]
        return [x for x in tries if x == math.inf or Fraction(x) > value]
    tries = [near * (1 - 10.0 ** -rng.randint(1, 15)), near - 10.0 ** -rng.randint(1, 18), near / 2, 0.0]
    tries += [math.nextafter(near, -math.inf), math.nextafter(math.nextafter(near, -math.inf), -math.inf)]
    return [x for x in tries if x >= 0 and Fraction(x) < value]


def _forged(rng: random.Random, bound: Bound, truth: list[Number], side: Side, wrong: Exact, initial: int) -> Bound:
    """Values that agree with the false claim, in one of many ways, and ranks and choices that may or may not help."""
    values: list[Exact] = list(bound.values)
    n = len(values)
    way = rng.randrange(7)
    if way == 1:  # all by the same factor, which no equation without constants sees
        factor = _ratio(wrong, truth[initial])
        values = [None if v is None else (v[0] * factor[0], v[1] + factor[1]) for v in values]
    elif way == 2:  # all the same
        values = [wrong] * n
    elif way == 3:  # swapped states
        rng.shuffle(values)
    elif way == 4:  # the exact values elsewhere, nearly
        values = [None if x == math.inf else dyadic(float(x)) for x in truth]
    elif way == 5:  # extremes
        values = [rng.choice(((0, 0), (1, 0), wrong, v)) for v in values]
    elif way == 6:  # all by the same distance
        step = (
            dyadic(float(Fraction(*_fraction(wrong))) - float(truth[initial]))
            if wrong and truth[initial] != math.inf
            else (0, 0)
        )
        values = [None if v is None else _plus(v, step) for v in values]
    values[initial] = wrong
    parts: dict[str, Any] = {}
    for name in ("ranks", "layers", "choices"):
        part = getattr(bound, name)
        if name in ("ranks", "layers") and part is None and rng.random() < 0.7:
            part = np.zeros(n, dtype=np.int64)
        if part is not None and rng.random() < 0.7:
            part = part.copy()
            for _ in range(rng.randint(1, n)):
                part[rng.randrange(n)] = rng.randint(0, 2 if name == "choices" else n)
        parts[name] = part
    biases = bound.biases
    if biases is not None and rng.random() < 0.5:
        changed = list(biases)
        changed[rng.randrange(n)] = dyadic(rng.uniform(-10, 10))
        biases = Vector(changed)
    return Bound(Vector(values), biases=biases, **parts)


def _fraction(number: Exact) -> tuple[int, int]:
    m, e = number or (0, 0)
    return (m << e, 1) if e >= 0 else (m, 1 << -e)


def _ratio(wrong: Exact, truth: Number) -> tuple[int, int]:
    if wrong is None or truth in (0, math.inf):
        return 2, 0
    return dyadic(float(Fraction(*_fraction(wrong)) / truth))


def _plus(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    low = min(a[1], b[1])
    return (a[0] << (a[1] - low)) + (b[0] << (b[1] - low)), low


def broken(rng: random.Random, raw: bytes) -> bytes | None:
    """The JSON of a certificate with something in it that must not be there; None where it was no use to change it."""
    data = json.loads(raw)
    ways = ["format", "version", "property", "model", "type", "cut", "junk", "sign", "constants", "claim", "top"]
    way = rng.choice(ways)
    sides = list(data["bounds"])
    if way in ("format", "version"):
        data[way] = rng.choice((None, 7, "x", [], {}))
    elif way == "property":
        data["property"] += " & true"
    elif way == "model":
        data["model"][rng.choice(("states", "choices", "transitions"))] += rng.choice((1, -1, 10**9))
    elif way == "type":
        data["model"]["type"] = "other"
    elif way == "constants":
        data["constants"]["nobody"] = 1
    elif way == "claim":
        data[rng.choice(("lower", "upper"))] = rng.choice((None, 0.5, "nan", "0x1p999999999", "1/3", "-inf", "0x", []))
    elif way == "top":
        return rng.choice(
            (b"", b"[]", b"null", b"PK\x03\x04", raw[: rng.randrange(len(raw) - 2)], b"[" * 100_000, b"\xff" + raw)
        )
    elif sides:
        bound = data["bounds"][rng.choice(sides)]
        name = rng.choice(list(bound))
        if way == "cut":
            bound[name] = rng.choice((bound[name][:-1], bound[name] * 2, [], None, "array", 5, {"0": 1}))
            if bound[name] == []:
                bound[name] = [0]
                if data["model"]["states"] == 1:
                    return None
        elif way == "junk":
            if rng.random() < 0.3:
                bound["other"] = []
            else:
                bound[name][rng.randrange(len(bound[name]))] = rng.choice(
                    (None, "x", 1.5, True, [], "0x1p+9999999", "-inf", "nan")
                )
        else:
            if name in ("values", "biases"):
                bound[name][rng.randrange(len(bound[name]))] = "-inf"
            else:
                bound[name][rng.randrange(len(bound[name]))] = rng.choice((-1, 2**31, 10**30))
    else:
        return None
    return json.dumps(data).encode()


def random_values(rng: random.Random, truth: list[Number], side: Side) -> Vector:
    """Numbers for all states that might pass for bounds: near the truth, the same in many states, or at an end."""
    finite = [float(x) for x in truth if x != math.inf]
    pool = [0.0, 1.0, 0.5, *finite, *([math.inf] if rng.random() < 0.5 else [])]
    spread = 10.0 ** -rng.randint(0, 12)
    lean = rng.random()  # how many states keep a number that is a bound
    shift = -1 if side == "lower" else 1
    values: list[float] = []
    same = rng.choice(pool)
    for exact in truth:
        near = float(exact)
        if rng.random() < lean:
            values.append(near if near == math.inf else max(0.0, near + shift * spread * rng.random()))
        else:
            values.append(rng.choice((same, rng.choice(pool), near * (1 - shift * spread), near + 1e-3 * rng.random())))
    return Vector.of_doubles(np.array(values))
