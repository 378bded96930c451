"""Exact values of small models, in fractions and by brute force: every memoryless strategy is a chain.

Shares nothing with the checker or the verifier but the parser. Rows are normalised exactly, as certificates mean it.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import product

from galton import Model

Number = Fraction | float  # infinity is a float
Row = list[tuple[int, Fraction]]


def exact_value(model: Model, prop: str) -> list[Number]:
    """The value of a property of the families of :mod:`certificate_models` in every state, without its comparison."""
    n = model.n_states
    rows = [[_row(model, choice) for choice in model.choices(state)] for state in range(n)]
    body = prop[prop.index("[") + 1 : prop.rindex("]")].strip()
    letter = prop[0]
    best = min if _minimises(prop) else max
    a, b = ([bool(x) for x in model.labels[name]] for name in ("a", "b"))
    earned = (
        [Fraction(float(x)) for x in model.rewards["r"].state]
        if model.rewards["r"].state is not None
        else [Fraction(0)] * n
    )
    if letter == "T":
        earned = [Fraction(1)] * n
    per_time = model.type == "ctmc"
    if steps := re.search(r"<=(\d+)|\[(\d+),(\d+)\]|=(\d+)", body):
        return _steps(rows, body, steps, a, b, earned, best, n)
    if body.startswith("X"):
        return _after(rows, [Fraction(x) for x in a], best, n)
    found: list[Number] | None = None
    for picks in product(*(range(len(choices)) for choices in rows)):
        chain = [rows[state][pick] for state, pick in enumerate(picks)]
        gains = earned
        if per_time and letter in "RT" and body != "S":
            gains = [
                earned[s] / sum((Fraction(v) for v, _ in model.transitions(s)[0][1]), Fraction(0)) for s in range(n)
            ]
        value = _chain(chain, letter, body, a, b, gains, model)
        found = value if found is None else [best(x, y) for x, y in zip(found, value, strict=True)]
    assert found is not None
    return found


def _minimises(prop: str) -> bool:
    head = prop[: prop.index("[")]
    return "min" in head or ">" in head


def _row(model: Model, choice: int) -> Row:
    entries = range(int(model.row_starts[choice]), int(model.row_starts[choice + 1]))
    values = [Fraction(float(v)) for v in model.values.array()[entries.start : entries.stop]]
    total = sum(values, Fraction(0))
    return [(int(model.columns[i]), v / total) for i, v in zip(entries, values, strict=True)]


def _after(rows: list[list[Row]], x: list[Number], best, n: int) -> list[Number]:
    return [best(sum((p * x[j] for j, p in row), Fraction(0)) for row in rows[i]) for i in range(n)]


def _steps(rows, body, steps, a, b, earned, best, n) -> list[Number]:
    if body.startswith("C"):
        x: list[Number] = [Fraction(0)] * n
        for _ in range(int(steps[1])):
            x = [e + y for e, y in zip(earned, _after(rows, x, best, n), strict=True)]
        return x
    if body.startswith("I"):
        x = list(earned)
        for _ in range(int(steps[4])):
            x = _after(rows, x, best, n)
        return x
    low, high = (0, int(steps[1])) if steps[1] else (int(steps[2]), int(steps[3]))
    through = [not y for y in b] if "U" in body else [True] * n
    negated = body.startswith("G")
    pick = {min: max, max: min}[best] if negated else best
    x = [Fraction(g) for g in a]
    for _ in range(high - low):
        after = _after(rows, x, pick, n)
        x = [Fraction(1) if a[i] else after[i] if through[i] else Fraction(0) for i in range(n)]
    for _ in range(low):
        after = _after(rows, x, pick, n)
        x = [after[i] if through[i] else Fraction(0) for i in range(n)]
    return [1 - y for y in x] if negated else x


def _chain(chain: list[Row], letter: str, body: str, a, b, earned, model: Model) -> list[Number]:
    n = len(chain)
    everywhere = [True] * n
    if letter == "S" or body == "S":
        return _average(chain, [Fraction(x) for x in a] if letter == "S" else earned, model)
    if letter == "P":
        if "W" in body:  # "b" W "a"
            only_b = [b[i] and not a[i] for i in range(n)]
            return [1 - x for x in _reach(chain, only_b, [not a[i] and not b[i] for i in range(n)])]
        if "R" in body:  # "a" R "b"
            return [1 - x for x in _reach(chain, [not x for x in a], [not y for y in b])]
        if "G" in body:
            return [1 - x for x in _reach(chain, everywhere, a)]
        return _reach(chain, [not y for y in b] if "U" in body else everywhere, a)
    if body == "C":
        bottom = _bottom(chain)
        paying = [bottom[i] is not None and any(earned[j] for j in bottom[i]) for i in range(n)]
        never = [x == 0 for x in _reach(chain, everywhere, paying)]
        return _until(chain, [bottom[i] is not None for i in range(n)], earned, never)
    through = [not y for y in b] if "U" in body else everywhere
    return _until(chain, a, earned, [x == 1 for x in _reach(chain, through, a)])


def _solve(chain: list[Row], unknown: list[int], constant: dict[int, Fraction]) -> dict[int, Fraction]:
    """x_i = Σ p_j x_j + constant_i over the unknowns, by Gauss and Jordan."""
    place = {state: i for i, state in enumerate(unknown)}
    size = len(unknown)
    table = [[Fraction(0)] * (size + 1) for _ in unknown]
    for i, state in enumerate(unknown):
        table[i][i] += 1
        table[i][size] = constant[state]
        for j, p in chain[state]:
            if j in place:
                table[i][place[j]] -= p
    for k in range(size):
        pivot = next(i for i in range(k, size) if table[i][k])
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [x / table[k][k] for x in table[k]]
        for i in range(size):
            if i != k and table[i][k]:
                f = table[i][k]
                table[i] = [x - f * y for x, y in zip(table[i], table[k], strict=True)]
    return {state: table[i][size] for state, i in place.items()}


def _reach(chain: list[Row], through: list[bool], goal: list[bool]) -> list[Fraction]:
    can = {i for i, g in enumerate(goal) if g}
    while True:
        more = {i for i in range(len(chain)) if i not in can and through[i] and any(j in can for j, _ in chain[i])}
        if not more:
            break
        can |= more
    unknown = [i for i in can if not goal[i]]
    constant = {i: sum((p for j, p in chain[i] if goal[j]), Fraction(0)) for i in unknown}
    found = _solve(chain, unknown, constant)
    return [Fraction(1) if goal[i] else found.get(i, Fraction(0)) for i in range(len(chain))]


def _until(chain: list[Row], goal: list[bool], earned: list[Fraction], finite: list[bool]) -> list[Number]:
    unknown = [i for i in range(len(chain)) if finite[i] and not goal[i]]
    found = _solve(chain, unknown, {i: earned[i] for i in unknown})
    return [math.inf if not finite[i] else found.get(i, Fraction(0)) for i in range(len(chain))]


def _bottom(chain: list[Row]) -> list[list[int] | None]:
    """The bottom component of each state that is in one."""
    n = len(chain)
    reach = []
    for i in range(n):
        seen, pending = {i}, [i]
        while pending:
            for j, _ in chain[pending.pop()]:
                if j not in seen:
                    seen.add(j)
                    pending.append(j)
        reach.append(seen)
    return [sorted(reach[i]) if all(i in reach[j] for j in reach[i]) else None for i in range(n)]


def _average(chain: list[Row], earned: list[Fraction], model: Model) -> list[Number]:
    n = len(chain)
    bottom = _bottom(chain)
    value: dict[int, Fraction] = {}
    for i in range(n):
        members = bottom[i]
        if members is None or i in value:
            continue
        first, others = members[0], members[1:]
        stay = [Fraction(1)] * n
        if model.type == "ctmc":
            stay = [1 / sum((Fraction(v) for v, _ in model.transitions(s)[0][1]), Fraction(0)) for s in range(n)]
        around = []
        for reward in ([e * t for e, t in zip(earned, stay, strict=True)], stay):
            x = _solve(chain, others, {j: reward[j] for j in others})
            around.append(reward[first] + sum((p * x.get(j, Fraction(0)) for j, p in chain[first]), Fraction(0)))
        for j in members:
            value[j] = around[0] / around[1]
    unknown = [i for i in range(n) if bottom[i] is None]
    constant = {i: sum((p * value[j] for j, p in chain[i] if j in value), Fraction(0)) for i in unknown}
    value |= _solve(chain, unknown, constant)
    return [value[i] for i in range(n)]
