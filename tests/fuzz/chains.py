"""Campaign: small chains with wild probabilities, against rationals."""

from __future__ import annotations

from random import Random

from flint import fmpq

import galton

from . import exact, wild
from .exact import ONE, Truth, is_infinite
from .judge import Judge
from .model import Made

NEAR = fmpq(1, 10**14)


def chain(random: Random, type: str, n: int) -> Made:
    choices = [[wild.row(random, n, loop=s) if type == "dtmc" else wild.rates(random, n, s)] for s in range(n)]
    for s in range(n):
        if random.random() < 0.15:
            choices[s] = [{s: 1.0}]
    labels = {"a": wild.subset(random, n, 0.7), "b": wild.subset(random, n, 0.3), "probes": set(range(n))}
    gains = [[random.choice([0.0, 0.0, 1.0, 0.25])] for _ in range(n)] if random.random() < 0.3 else []
    return Made(type, choices, labels, wild.rewards(random, n), gains, random.randrange(n))


def answers(made: Made) -> dict[str, list[Truth]]:
    """Questions and their exact values in all states."""
    rows, n = made.rows, made.n
    everything = set(range(n))
    a, b = made.labels["a"], made.labels["b"]
    gains = [g[0] for g in made.gains]
    found = {
        'P=? [ F "b" ]': exact.until(rows, everything, b),
        'P=? [ "a" U "b" ]': exact.until(rows, a, b),
        'P=? [ !"a" U ("b" & !"a") ]': exact.until(rows, everything - a, b - a),
        'P=? [ G "a" ]': _not(exact.until(rows, everything, everything - a)),
        'P=? [ "a" W "b" ]': _not(exact.until(rows, everything - b, everything - a - b)),
        'P=? [ "b" R "a" ]': _not(exact.until(rows, everything - b, everything - a)),
        'R{"r"}=? [ F "b" ]': exact.accumulated(made, b, made.rewards, gains),
        'T=? [ F "b" ]': exact.accumulated(made, b, [1.0] * n, [0.0] * n),
        'R{"r"}=? [ C ]': exact.total(made, made.rewards, gains),
    }
    weights = [{t: exact.rational(w) for t, w in row.items()} for row in rows]
    totals = [sum(row.values(), fmpq(0)) for row in weights]
    into = [sum((w for t, w in row.items() if t in b), fmpq(0)) for row in weights]
    found['P=? [ X "b" ]'] = [part / total for part, total in zip(into, totals, strict=True)]
    return found


def nested(random: Random, made: Made, known: dict[str, list[Truth]]) -> dict[str, list[Truth]]:
    """A question about the states in which another has an answer above or below a bound."""
    inner = random.choice([text for text in known if text[0] == "P"])
    bound = random.choice([0.5, 0.25, 0.9, 1e-3, 0.0, 1.0])
    relation, holds = random.choice(
        [
            (">=", lambda x: x >= limit),
            ("<=", lambda x: x <= limit),
            (">", lambda x: x > limit),
            ("<", lambda x: x < limit),
        ]
    )
    limit = exact.rational(bound)
    if "[ X" in inner and any(x != limit and abs(x - limit) < NEAR for x in known[inner]):
        return {}  # comparisons of one step take the numbers as they stand, whatever their row adds up to
    goal = {s for s, x in enumerate(known[inner]) if holds(x)}
    text = f"P=? [ F {inner.replace('=?', f'{relation}{bound!r}')} ]"
    return {text: exact.until(made.rows, range(made.n), goal)}


def _not(values: list[Truth]) -> list[Truth]:
    return [ONE - x for x in values]


def play(random: Random, judge: Judge) -> None:
    made = chain(random, random.choice(["dtmc", "dtmc", "ctmc"]), random.randint(2, 12))
    by_text = random.random() < 0.25 and (made.type == "dtmc" or not any(map(any, made.gains)))
    model = judge.build(made, text=by_text)
    if model is None:
        return
    met = sorted(exact.forward(made.rows, [made.initial]) if by_text else range(made.n))
    known = answers(made)
    for text, truths in (known | nested(random, made, known)).items():
        unit = text.startswith("P")
        probes = [random.choice(met)]
        judge.everywhere(model, text, truths, made.text, initial=made.initial, unit=unit, probes=probes)
        if text not in known:
            continue
        thresholds(random, judge, model, made, text, truths[made.initial])
        otherwise(random, judge, model, made, text, truths[made.initial])


METHODS = ["interval", "optimistic", "topological:interval", "topological:optimistic"]


def otherwise(random: Random, judge: Judge, model: object, made: Made, text: str, truth: Truth) -> None:
    """Now and then with another eps, or by a method that is chosen by hand and has a guarantee."""
    unit, kind = text[0] == "P", random.random()
    if kind < 0.15:
        eps = random.choice([1e-2, 1e-4, 1e-9, 1e-11])
        judge.number(model, text, truth, made.text, unit=unit, eps=eps)
    elif kind < 0.25 and "X" not in text:
        settings = galton.Settings(method=random.choice(METHODS), max_iterations=5_000)
        judge.number(model, text, truth, made.text, unit=unit, settings=settings)


def thresholds(random: Random, judge: Judge, model: object, made: Made, text: str, truth: Truth) -> None:
    """A bound a little beside the truth, on either side."""
    if is_infinite(truth):
        judge.threshold(model, text.replace("=?", ">=1e9"), True, made.text)
        return
    guess = float(truth) if isinstance(truth, float) else float(exact.ball(0) + truth)
    bound = guess * random.choice([0.5, 0.999, 0.99999, 1.00001, 1.001, 2])
    if not 1e-300 < bound < 1e300 or (text.startswith("P") and bound > 1):
        bound = random.choice([0.0, 1.0, 0.5])
    relation, holds = random.choice(
        [
            (">=", exact.rational(bound) <= truth),
            ("<=", truth <= exact.rational(bound)),
            (">", exact.rational(bound) < truth),
            ("<", truth < exact.rational(bound)),
        ]
    )
    judge.threshold(model, text.replace("=?", f"{relation}{bound!r}"), bool(holds), made.text)
