"""Campaign: bounds on steps and on time, with horizons long enough for numbers to leave the doubles.

Steps are taken in balls, where no sum of positive numbers loses a digit; time is the exponential of a matrix of balls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random

from flint import arb, arb_mat, ctx

from . import chains, exact, mdps
from .exact import Truth, ball
from .judge import Judge
from .model import Made

STEPS = [0, 1, 2, 3, 7, 12, 40, 40, 100, 300, 3000]
TIMES = [0.0, 0.125, 0.5, 1.0, 3.0, 10.0, 100.0]

Vector = list[arb]


def play(random: Random, judge: Judge) -> None:
    if random.random() < 0.35:
        timed(random, judge)
    else:
        stepwise(random, judge)


# -- steps, of chains and MDPs


def stepwise(random: Random, judge: Judge) -> None:
    made = mdps.mdp(random) if random.random() < 0.5 else chains.chain(random, "dtmc", random.randint(2, 8))
    model = judge.build(made)
    if model is None:
        return
    low, high = sorted((random.choice(STEPS), random.choice(STEPS)))
    for name, best in (("min", least), ("max", greatest)) if made.type == "mdp" else (("", least),):
        for text, truths in step_answers(made, low, high, best).items():
            question = text.replace("#", f"{name}=?")
            probes = [random.randrange(made.n)]
            unit = text[0] == "P"
            judge.everywhere(model, question, truths, made.text, initial=made.initial, unit=unit, probes=probes)


def least(values: list[arb]) -> arb:
    found = values[0]
    for x in values[1:]:
        found = found.min(x)
    return found


def greatest(values: list[arb]) -> arb:
    found = values[0]
    for x in values[1:]:
        found = found.max(x)
    return found


class Steps:
    """One step back: the best mean over the choices of a state."""

    def __init__(self, made: Made, best: Callable[[list[arb]], arb]) -> None:
        self.best, self.n = best, made.n
        self.rows, self.gains = [], []
        for s, rows in enumerate(made.choices):
            wholes = [sum((ball(w) for w in row.values()), ball(0.0)) for row in rows]
            self.rows.append(
                [[(t, ball(w) / whole) for t, w in row.items()] for row, whole in zip(rows, wholes, strict=True)]
            )
            self.gains.append([ball(made.rewards[s]) + ball(g) for g in made.gains[s]])
        self.rewards = [ball(r) for r in made.rewards]

    def back(self, values: Vector, gain: bool = False) -> Vector:
        found = []
        for rows, gains in zip(self.rows, self.gains, strict=True):
            means = []
            for row, g in zip(rows, gains, strict=True):
                start = g if gain else ball(0.0)
                means.append(sum((p * values[t] for t, p in row), start))
            found.append(self.best(means) if len(means) > 1 else means[0])
        return found

    def times(self, k: int, values: Vector, gain: bool = False) -> Vector:
        for _ in range(k):
            values = self.back(values, gain)
        return values

    def always(self, hold: Collection[int], k: int) -> Vector:
        """``G<=k hold``."""
        values = [ball(float(s in hold)) for s in range(self.n)]
        for _ in range(k):
            next = self.back(values)
            values = [next[s] if s in hold else ball(0.0) for s in range(self.n)]
        return values

    def until(self, hold: Collection[int], goal: Collection[int], low: int, high: int) -> Vector:
        """``hold U[low,high] goal``."""
        one, zero = ball(1.0), ball(0.0)
        values = [one if s in goal else zero for s in range(self.n)]
        for _ in range(high - low):
            next = self.back(values)
            values = [one if s in goal else next[s] if s in hold else zero for s in range(self.n)]
        for _ in range(low):
            next = self.back(values)
            values = [next[s] if s in hold else zero for s in range(self.n)]
        return values


def step_answers(made: Made, low: int, high: int, best: Callable[[list[arb]], arb]) -> dict[str, list[Truth]]:
    a, b, everything = made.labels["a"], made.labels["b"], set(range(made.n))
    before, ctx.prec = ctx.prec, 192
    try:
        steps = Steps(made, best)
        found = {
            f'P# [ F<={high} "b" ]': steps.until(everything, b, 0, high),
            f'P# [ "a" U[{low},{high}] "b" ]': steps.until(a, b, low, high),
            f'P# [ F={high} "b" ]': steps.until(everything, b, high, high),
            f'R{{"r"}}# [ C<={high} ]': steps.times(high, [ball(0.0)] * made.n, gain=True),
            f'R{{"r"}}# [ I={high} ]': steps.times(high, steps.rewards),
            f'P# [ G<={high} "a" ]': steps.always(a, high),
        }
        if made.type == "dtmc":
            ever = [arb(x) for x in exact.until(made.rows, everything, b)]
            found[f'P# [ F>={low} "b" ]'] = steps.times(low, ever)
        return found
    finally:
        ctx.prec = before


# -- time


def timed(random: Random, judge: Judge) -> None:
    made = chains.chain(random, "ctmc", random.randint(2, 7))
    most = max(sum(row.values()) for row in made.rows)
    times = [t for t in TIMES if t * most < 2e4] or [0.0]
    model = judge.build(made)
    if model is None:
        return
    low, high = sorted((random.choice(times), random.choice(times)))
    for text, truths in time_answers(made, low, high).items():
        probes = [random.randrange(made.n)]
        unit = text[0] == "P"
        judge.everywhere(model, text, truths, made.text, initial=made.initial, unit=unit, probes=probes)
        method = random.choice(["uniformisation", "adaptive-uniformisation", "rational-krylov"])
        judge.number(model, text, truths[made.initial], made.text, unit=unit, method=method)


def time_answers(made: Made, low: float, high: float) -> dict[str, list[Truth]]:
    n, a, b = made.n, made.labels["a"], made.labels["b"]
    everything = set(range(n))

    def worked() -> list[list[arb]]:
        reach = moved(made, everything - b, high, [ball(1.0 if s in b else 0.0) for s in range(n)])
        later = moved(made, a - b, high - low, [ball(1.0 if s in b else 0.0) for s in range(n)])
        through = moved(made, a, low, [x if s in a else ball(0.0) for s, x in enumerate(later)], kill=everything - a)
        if low == 0:
            through = later
        rates = [ball(made.rewards[s]) + ball(made.gains[s][0]) for s in range(n)]
        earned = moved(made, everything, high, [*[ball(0.0)] * n, ball(1.0)], rates)[:n]
        stays = moved(made, a, high, [ball(float(s in a)) for s in range(n)], kill=everything - a)
        instant = moved(made, everything, high, [ball(r) for r in made.rewards])
        return [reach, through, earned, instant, stays]

    reach, through, earned, instant, stays = exact.precisely(worked, 256)
    return {
        f'P=? [ F<={high} "b" ]': list(reach),
        f'P=? [ "a" U[{low},{high}] "b" ]': list(through),
        f'R{{"r"}}=? [ C<={high} ]': list(earned),
        f'R{{"r"}}=? [ I={high} ]': list(instant),
        f'P=? [ G<={high} "a" ]': list(stays),
    }


def moved(
    made: Made,
    free: Collection[int],
    time: float,
    values: Vector,
    rates: Vector | None = None,
    kill: Collection[int] = (),
) -> Vector:
    """``exp(Q time) values`` with states that are not ``free`` absorbing, and those of ``kill`` worth nothing.

    With ``rates`` there is one more value that each state earns per unit of time.
    """
    size = len(values)
    matrix = [[arb(0)] * size for _ in range(size)]
    for s in free:
        for t, w in made.rows[s].items():
            if t != s:
                matrix[s][s] -= ball(w) * ball(time)
                if t not in kill:
                    matrix[s][t] += ball(w) * ball(time)
        if rates:
            matrix[s][-1] = rates[s] * ball(time)
    flow = arb_mat(matrix).exp()
    found = flow * arb_mat([[x] for x in values])
    reach = graph(made, free, kill, values, size, bool(rates))
    return [found[s, 0] if s in reach else arb(0) for s in range(size)]


def graph(made: Made, free: Collection[int], kill: Collection[int], values: Vector, size: int, earns: bool) -> set[int]:
    """The states whose value is not zero, so that a ball around zero is never taken for one."""
    if earns:
        return set(range(size))
    rows = [[t for t in made.rows[s] if t not in kill] if s in free else [] for s in range(made.n)]
    return exact.backward(exact.predecessors(rows), [s for s, x in enumerate(values) if x != 0], set(range(made.n)))
