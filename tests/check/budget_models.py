"""Small random models with costs, and budgets and conditions of them answered in fractions, by all strategies.

A state is unfolded with what it has spent so far, counted upwards. Where nothing is spent a level is a small model of
its own: each of its strategies is solved by Gauss's elimination, and the best value of each state is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import galton
from galton.checking.result import Result

Row = list[tuple[Fraction, int]]
Spent = tuple[int, ...]
INFINITE = math.inf
Value = Fraction | float


# A phone: from 0 call (costs 2, 3/4 get through) or write (costs 1, half of it arrives); 1 thinks for free, 2 is done.
PHONE = """
mdp
module phone
  s : [0..2];
  [call] s=0 -> 0.75 : (s'=2) + 0.25 : (s'=1);
  [write] s=0 -> 0.5 : (s'=2) + 0.5 : (s'=1);
  [think] s=1 -> 0.5 : (s'=0) + 0.5 : (s'=1);
  [end] s=2 -> true;
endmodule
rewards "cost" [call] true : 2; [write] true : 1; endrewards
rewards "fraction" [call] true : 0.5; [write] true : 0.2; endrewards
rewards "joy" [call] true : 3; s=2 : 1; endrewards
rewards "debt" [call] true : -1; endrewards
rewards "odd" [call] true : 0.3333333333333; [write] true : 0.7142857142857; endrewards
"""

WALK = """
dtmc
module walk
  x : [0..3] init 1;
  [step] x>0 & x<3 -> 0.5 : (x'=x+1) + 0.5 : (x'=x-1);
  [stay] x=0 | x=3 -> true;
endmodule
rewards "cost" x=1 : 1; x=2 : 2; endrewards
"""


def ask(text: str, prop: str, **options: Any) -> Result:
    return galton.check(galton.parse(text), prop, **options)


@dataclass(frozen=True)
class Choice:
    """What a choice spends of each budget and earns, and where it leads."""

    spends: Spent
    earns: int
    row: Row


@dataclass(frozen=True)
class Bound:
    """``least <= spent <= most``; None for no end."""

    most: int | None
    least: int = 0

    def allows(self, spent: int) -> bool:
        return spent >= self.least and (self.most is None or spent <= self.most)

    @property
    def cap(self) -> int:
        """From here on nothing changes."""
        return self.least if self.most is None else self.most + 1

    def text(self) -> str:
        if self.most is None:
            return f">={self.least}"
        return f"<={self.most}" if not self.least else f"[{self.least},{self.most}]"


@dataclass(frozen=True)
class Costly:
    """A model with costs "a" and "b" and a reward "r"; a chain where each state has one choice and it is said to be."""

    choices: list[list[Choice]]
    goal: set[int]
    through: set[int]
    is_mdp: bool

    @property
    def n(self) -> int:
        return len(self.choices)

    def text(self) -> str:
        lines = ["mdp" if self.is_mdp else "dtmc", "module m", f"s : [0..{self.n - 1}] init 0;"]
        rewards: dict[str, list[str]] = {"a": [], "b": [], "r": []}
        for state, choices in enumerate(self.choices):
            for number, choice in enumerate(choices):
                action = f"c{state}_{number}"
                parts = " + ".join(f"{p} : (s'={t})" for p, t in choice.row)
                lines.append(f"[{action}] s={state} -> {parts};")
                for name, amount in zip("abr", (*choice.spends, choice.earns), strict=True):
                    if amount:
                        rewards[name].append(f"[{action}] true : {amount};")
        lines.append("endmodule")
        for name, items in rewards.items():
            lines += [f'rewards "{name}"', *(items or ["false : 1;"]), "endrewards"]
        for label, states in (("goal", self.goal), ("through", self.through)):
            lines.append(f'label "{label}" = {" | ".join(f"s={s}" for s in sorted(states)) or "false"};')
        return "\n".join(lines) + "\n"


def random_model(random: Random, *, most_states: int = 5, is_mdp: bool | None = None) -> Costly:
    n = random.randint(2, most_states)
    is_mdp = random.random() < 0.7 if is_mdp is None else is_mdp
    free = random.choice((0.2, 0.5, 0.8))

    def cost() -> int:
        return 0 if random.random() < free else random.randint(1, 3)

    def row() -> Row:
        targets = random.sample(range(n), random.randint(1, min(3, n)))
        # Eighths, which doubles have without rounding: the text and the model are the same numbers.
        cuts = [0, *sorted(random.sample(range(1, 8), len(targets) - 1)), 8]
        return [(Fraction(b - a, 8), t) for a, b, t in zip(cuts, cuts[1:], targets, strict=False)]

    choices = [
        [
            Choice((cost(), cost()), random.choice((0, 0, 1, 2)), row())
            for _ in range(random.randint(1, 2) if is_mdp else 1)
        ]
        for _ in range(n)
    ]
    goal = {s for s in range(n) if random.random() < 0.3} or {n - 1}
    through = {s for s in range(n) if random.random() < 0.9}
    return Costly(choices, goal, through, is_mdp)


def best_until(model: Costly, bounds: Sequence[Bound | None], optimum: str) -> Fraction:
    """The best probability of ``through U goal`` within bounds, from state 0."""

    def known(state: int, spent: Spent) -> Value | None:
        if state in model.goal and all(b is None or b.allows(c) for b, c in zip(bounds, spent, strict=True)):
            return Fraction(1)
        return None if state in model.through else Fraction(0)

    found = _unfolded(model, bounds, optimum, known, earning=False)
    assert isinstance(found, Fraction)
    return found


def best_reward(model: Costly, bounds: Sequence[Bound | None], optimum: str) -> Value:
    """The best reward that is collected by choices that stay within upper bounds."""
    return _unfolded(model, bounds, optimum, lambda state, spent: None, earning=True)


def _unfolded(
    model: Costly,
    bounds: Sequence[Bound | None],
    optimum: str,
    known: Callable[[int, Spent], Value | None],
    *,
    earning: bool,
) -> Value:
    levels: dict[Spent, list[Value]] = {}

    def after(spent: Spent, choice: Choice) -> Spent:
        return tuple(
            0 if bound is None else min(old + new, bound.cap)
            for bound, old, new in zip(bounds, spent, choice.spends, strict=True)
        )

    def is_over(spent: Spent) -> bool:
        return any(b is not None and b.most is not None and c > b.most for b, c in zip(bounds, spent, strict=True))

    def level(spent: Spent) -> list[Value]:
        if spent not in levels:
            levels[spent] = solve(spent)
        return levels[spent]

    def solve(spent: Spent) -> list[Value]:
        fixed = [known(state, spent) for state in range(model.n)]
        options: list[list[tuple[Row | None, Value]]] = []  # a row of this level, and what is got besides
        for state, choices in enumerate(model.choices):
            if fixed[state] is not None:
                options.append([(None, fixed[state] or Fraction(0))])
                continue
            found: list[tuple[Row | None, Value]] = []
            for choice in choices:
                then = after(spent, choice)
                earned = Fraction(choice.earns) if earning else Fraction(0)
                if is_over(then):
                    found.append((None, Fraction(0)))
                elif then == spent:
                    found.append((choice.row, earned))
                else:
                    later = level(then)
                    found.append((None, earned + sum((p * later[t] for p, t in choice.row), Fraction(0))))
            options.append(found)
        best: list[Value] | None = None
        pick = max if optimum == "max" else min
        for strategy in itertools.product(*options):
            values = _chain(strategy)
            best = values if best is None else [pick(x, y) for x, y in zip(best, values, strict=True)]
        assert best is not None
        return best

    return level(tuple(0 for _ in bounds))[0]


def _chain(rows: Sequence[tuple[Row | None, Value]]) -> list[Value]:
    """What is got in all, from each state of a chain: rows go on, and those without one end."""
    n = len(rows)
    reach = [{s} | {t for _, t in (rows[s][0] or [])} for s in range(n)]
    for _ in range(n):
        reach = [set().union(*(reach[t] for t in r)) for r in reach]
    # In a class that nothing leaves a run stays for ever, and gets nothing or infinitely much.
    stays = [all(s in reach[t] and rows[t][0] is not None for t in reach[s]) for s in range(n)]
    endless = [(stays[s] and any(rows[t][1] > 0 for t in reach[s])) or rows[s][1] == INFINITE for s in range(n)]
    infinite = [any(endless[t] for t in r) for r in reach]
    open_states = [s for s in range(n) if not stays[s] and not infinite[s]]
    place = {s: i for i, s in enumerate(open_states)}
    matrix = [[Fraction(int(i == j)) for j in range(len(open_states))] for i in range(len(open_states))]
    right = [Fraction(rows[s][1]) for s in open_states]
    for s in open_states:
        for p, t in rows[s][0] or []:
            if t in place:
                matrix[place[s]][place[t]] -= p
    found = solved(matrix, right)
    return [INFINITE if infinite[s] else found[place[s]] if s in place else Fraction(0) for s in range(n)]


def solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of linear equations."""
    n = len(right)
    rows = [[*row, number] for row, number in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(n):
            if k != i and rows[k][i]:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return [row[n] for row in rows]


def conditional_values(model: Costly, path: int, condition: int) -> Iterator[Fraction]:
    """P(F s=path & F s=condition) / P(F s=condition) from state 0, by every strategy that knows what it has seen."""
    start = (0, path == 0, condition == 0)
    nodes, waiting = {start: 0}, [start]
    edges: list[list[list[tuple[Fraction, int]]]] = []
    order = [start]
    while waiting:
        state, seen, met = waiting.pop(0)
        found = []
        for choice in model.choices[state]:
            row = []
            for p, t in choice.row:
                node = (t, seen or t == path, met or t == condition)
                if node not in nodes:
                    nodes[node] = len(nodes)
                    order.append(node)
                    waiting.append(node)
                row.append((p, nodes[node]))
            found.append(row)
        edges.append(found[:1] if seen and met else found)
    ends = [(bool(seen and met), bool(met)) for _, seen, met in order]
    for strategy in itertools.product(*edges):
        joint = _chain([(None, Fraction(1)) if ends[i][0] else (row, Fraction(0)) for i, row in enumerate(strategy)])
        alone = _chain([(None, Fraction(1)) if ends[i][1] else (row, Fraction(0)) for i, row in enumerate(strategy)])
        if alone[0]:
            yield Fraction(joint[0]) / Fraction(alone[0])
