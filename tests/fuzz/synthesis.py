"""Campaign: parameter synthesis, looked at in points.

At random points of the boxes, and at their corners, the exact value has to be between the bounds of the box, on the
side of the threshold that the box is said to be on, and no better than the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from flint import arb, arb_mat, ctx, fmpq

import galton

from . import exact
from .exact import ONE, Truth, is_infinite, rational
from .judge import LIMIT, Judge, Late, above, alarm, below, shown

ROUNDING = 1e-9  # coefficients of polynomials are doubles; no probability here is small

# How a row is divided among its targets: a text and its value at (p, q) for each.
THIRD = fmpq(1, 3)
SPLITS: list[list[tuple[str, Any]]] = [
    [("p", lambda p, q: p), ("1-p", lambda p, q: 1 - p)],
    [("q", lambda p, q: q), ("1-q", lambda p, q: 1 - q)],
    [("p*q", lambda p, q: p * q), ("1-p*q", lambda p, q: 1 - p * q)],
    [("p*q", lambda p, q: p * q), ("p*(1-q)", lambda p, q: p * (1 - q)), ("1-p", lambda p, q: 1 - p)],
    [("p/2", lambda p, q: p / 2), ("q/2", lambda p, q: q / 2), ("1-p/2-q/2", lambda p, q: 1 - p / 2 - q / 2)],
    [("0.25", lambda p, q: fmpq(1, 4)), ("0.75", lambda p, q: fmpq(3, 4))],
    [("1", lambda p, q: ONE)],
]
RATES: list[tuple[str, Any]] = [
    ("p", lambda p, q: p),
    ("q", lambda p, q: q),
    ("2*p", lambda p, q: 2 * p),
    ("p*q", lambda p, q: p * q),
    ("p+q", lambda p, q: p + q),
    ("0.5", lambda p, q: fmpq(1, 2)),
]


@dataclass
class Parametric:
    type: str
    choices: list[list[list[tuple[str, Any, int]]]]  # state, choice, (text, value, target)
    earns: int  # the state with a reward of 1

    @property
    def n(self) -> int:
        return len(self.choices)

    def text(self) -> str:
        lines = [self.type, "const double p;", "const double q;", "module m", f"  s : [0..{self.n - 1}];"]
        for s, rows in enumerate(self.choices):
            for row in rows:
                lines.append(f"  [] s={s} -> " + " + ".join(f"{text}:(s'={t})" for text, _, t in row) + ";")
        return "\n".join([*lines, "endmodule", f'rewards "r" s={self.earns} : 1; endrewards', ""])

    def at(self, p: fmpq, q: fmpq, chosen: list[int]) -> list[dict[int, Any]]:
        rows = []
        for choices, c in zip(self.choices, chosen, strict=True):
            row: dict[int, Any] = {}
            for _, value, t in choices[c]:
                row[t] = row.get(t, fmpq(0)) + value(p, q)
            rows.append({t: w for t, w in row.items() if w != 0})
        return rows


def parametric(random: Random) -> Parametric:
    type = random.choice(["dtmc", "dtmc", "mdp", "ctmc"])
    n = random.randint(3, 6)
    choices = []
    for s in range(n - 2):
        rows = []
        for _ in range(random.randint(1, 2) if type == "mdp" else 1):
            if type == "ctmc":
                targets = random.sample([t for t in range(n) if t != s], random.randint(1, 2))
                pool = [("p*q", lambda p, q: p * q), ("p+q", lambda p, q: p + q)] if s == 0 else RATES
                rows.append([(*random.choice(pool), t) for t in targets])
            else:
                split = random.choice(SPLITS[2:5] if s == 0 else SPLITS)  # the first state knows both parameters
                split = split if len(split) <= n else SPLITS[0]
                targets = random.sample(range(n), len(split))
                rows.append([(text, value, t) for (text, value), t in zip(split, targets, strict=True)])
        choices.append(rows)
    choices += [[[("1", lambda p, q: ONE, n - 2)]], [[("1", lambda p, q: ONE, n - 1)]]]
    return Parametric(type, choices, random.randrange(n - 2))


def play(random: Random, judge: Judge) -> None:
    model = parametric(random)
    judge.tally.models += 1
    space = {}
    for name in "pq":
        low, high = sorted((round(random.uniform(0.05, 0.95), 2), round(random.uniform(0.05, 0.95), 2)))
        space[name] = (low, high + 0.01)
    goal = f"s={model.n - 1}"
    time = random.choice([0.5, 1.0, 4.0])
    path = f"F<={time} {goal}" if model.type == "ctmc" else f"F {goal}"
    kind = random.choice(["threshold", "accuracy", "maximize", "minimize"])
    optimum = random.choice(["min", "max"]) if model.type == "mdp" else ""
    if kind == "threshold":
        bound = round(random.uniform(0.02, 0.98), 2)
        relation = random.choice([">=", "<=", ">", "<"])
        optimum = ("min" if relation[0] == ">" else "max") if model.type == "mdp" else ""
        ask, how = f"P{relation}{bound} [ {path} ]", {"volume": 0.2}
    else:
        bound, relation = 0.0, ""
        ask = f"P{optimum}=? [ {path} ]"
        how = {"accuracy": 0.1} if kind == "accuracy" else {kind: True, "tolerance": 0.05}
    judge.tally.questions += 1
    question = f"{ask}, {how}, {space}"
    try:
        with alarm(LIMIT):
            regions = galton.synthesize(galton.parse(model.text()), ask, **how, **space, device=judge.device)
    except galton.GaltonError as error:
        judge.refuse(error, question, model.text)
        return
    except (Exception, Late) as error:
        judge.fail(question, f"{type(error).__name__}: {error}", model.text)
        return
    if regions.interrupted or not regions.complete:
        judge.fail(question, f"not complete: {regions.warnings}", model.text)
    for box in random.sample(regions.boxes, min(len(regions.boxes), 12)):
        for _ in range(3):
            point = tuple(
                random.choice([low, high, random.uniform(low, high)])
                for low, high in zip(box.low, box.high, strict=True)
            )
            truth = value(model, point, time, optimum)
            judge.tally.numbers += 1
            judge.tally.bounded += 1
            mistake = wrong(box, truth, relation, bound)
            if not mistake and regions.optimum and (kind == "maximize" or kind == "minimize"):
                low, high = regions.optimum
                beyond = above(truth, high) if kind == "maximize" else below(truth, low)
                mistake = f"better than the optimum in [{low!r}, {high!r}]" if beyond else ""
            if mistake:
                judge.fail(question, f"at p={point[0]!r}, q={point[1]!r} {shown(truth)}: {mistake}", model.text, truth)


def wrong(box: Any, truth: Truth, relation: str, bound: float) -> str:
    if below(truth, box.lower) or above(truth, box.upper):
        return f"the box has [{box.lower!r}, {box.upper!r}]"
    if box.verdict not in ("true", "false") or is_infinite(truth):
        return ""
    limit = rational(bound)
    certain = {">=": truth >= limit, ">": truth > limit, "<=": truth <= limit, "<": truth < limit}[relation]
    impossible = {">=": truth < limit, ">": truth <= limit, "<=": truth > limit, "<": truth >= limit}[relation]
    if (box.verdict == "true" and impossible) or (box.verdict == "false" and certain):
        return f"the box is {box.verdict}"
    return ""


def value(model: Parametric, point: tuple[float, ...], time: float, optimum: str) -> Truth:
    """The exact value at a point, as a ball of what rounding of coefficients may do."""
    p, q = (rational(x) for x in point)
    before, ctx.prec = ctx.prec, 192
    try:
        if model.type == "ctmc":
            found = transient(model, model.at(p, q, [0] * model.n), time)
        else:
            goal, everything = {model.n - 1}, set(range(model.n))
            policies: list[list[int]] = [[]]
            for rows in model.choices:
                policies = [[*policy, c] for policy in policies for c in range(len(rows))]
            values = [exact.until(model.at(p, q, policy), everything, goal, itself)[0] for policy in policies]
            found = arb(max(values) if optimum == "max" else min(values))
        return arb(found.mid(), abs(found) * ROUNDING + found.rad())
    finally:
        ctx.prec = before


def itself(x: Any) -> fmpq:
    return x if isinstance(x, fmpq) else rational(x)


def transient(model: Parametric, rows: list[dict[int, Any]], time: float) -> arb:
    n = model.n
    matrix = [[arb(0)] * n for _ in range(n)]
    for s in range(n - 1):
        for t, w in rows[s].items():
            if t != s:
                matrix[s][t] += arb(w) * arb(time)
                matrix[s][s] -= arb(w) * arb(time)
    return arb_mat(matrix).exp()[0, n - 1]
