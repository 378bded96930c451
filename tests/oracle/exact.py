"""Small models in exact fractions, and what every exact answer needs: a second opinion that shares nothing with Galton.

Everything in this folder is written straight from the definitions (C. Baier and J.-P. Katoen, *Principles of Model
Checking*, chapter 10; PRISM's manual for rewards), for a dozen states: no iteration, no tolerance, no cleverness.
Chains are solved by elimination. For decision processes the definition is used as it stands, the best over all
memoryless strategies (:func:`over_strategies`), as long as they are few; :mod:`exact_policies` takes over from there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from galton.model.sparse import Model

Number = Fraction | float  # the only float is infinity
Vector = list[Number]
Row = Mapping[int, Fraction]
States = frozenset[int]

ENUMERATED = 24  # strategies that are tried one by one


@dataclass(frozen=True)
class Rewards:
    """Per step in a DTMC or MDP, per unit of time in a CTMC; ``choice[s][c]`` is earned on top of ``state[s]``."""

    state: Sequence[Fraction]
    choice: Sequence[Sequence[Fraction]]

    def total(self, state: int, choice: int = 0) -> Fraction:
        """What one step (or one unit of time) earns."""
        return self.state[state] + self.choice[state][choice]


@dataclass(frozen=True)
class Exact:
    """``rows[s]`` are the distributions of state s, one in a chain; a CTMC is its embedded chain and its exit rates."""

    type: str
    rows: Sequence[Sequence[Row]]
    exit_rates: Sequence[Fraction] = ()
    initial: Sequence[int] = (0,)
    labels: Mapping[str, States] = field(default_factory=dict)
    rewards: Mapping[str, Rewards] = field(default_factory=dict)

    @property
    def states(self) -> States:
        return frozenset(range(len(self.rows)))

    def constant_rewards(self, amount: Fraction = Fraction(1)) -> Rewards:
        """The same everywhere: with 1, what ``T`` measures."""
        return Rewards([amount] * len(self.rows), [[Fraction(0)] * len(rows) for rows in self.rows])


def from_sparse(model: Model) -> Exact:
    """The model that Galton stores, each double taken as the fraction it is.

    Probabilities such as 1/3 do not sum to 1 in doubles; they are divided by their sum, so that the result is a
    stochastic matrix. A test that allows for no rounding at all uses probabilities that doubles can hold.
    """
    rows: list[list[Row]] = []
    rates: list[Fraction] = []
    for state in range(model.n_states):
        weights = [{target: Fraction(value) for value, target in pairs} for _, pairs in model.transitions(state)]
        rows.append([{t: w / sum(row.values()) for t, w in row.items()} for row in weights])
        rates.append(sum(weights[0].values(), Fraction(0)))
    rewards = {}
    for name, parts in model.rewards.items():
        state_part = [Fraction(0)] * len(rows) if parts.state is None else list(map(Fraction, parts.state.tolist()))
        flat = [0.0] * model.n_choices if parts.choice is None else parts.choice.tolist()
        choice_part = [[Fraction(flat[choice]) for choice in model.choices(s)] for s in range(len(rows))]
        rewards[name] = Rewards(state_part, choice_part)
    labels = {name: frozenset(mask.nonzero()[0].tolist()) for name, mask in model.labels.items()}
    return Exact(
        type=model.type,
        rows=rows,
        exit_rates=rates if model.type == "ctmc" else (),
        initial=model.initial.tolist(),
        labels=labels,
        rewards=rewards,
    )


# Graphs


def reachable(model: Exact, start: Iterable[int]) -> States:
    """All states on paths from these, themselves included."""
    found = set(start)
    stack = list(found)
    while stack:
        for row in model.rows[stack.pop()]:
            new = row.keys() - found
            found |= new
            stack += new
    return frozenset(found)


def can_reach(model: Exact, through: Collection[int], goal: Collection[int]) -> States:
    """The states with a path to the goal whose states before it are all in ``through``."""
    found = set(goal)
    while True:
        new = {s for s in through if s not in found and any(row.keys() & found for row in model.rows[s])}
        if not new:
            return frozenset(found)
        found |= new


def bottom_components(chain: Exact) -> list[States]:
    """The bottom strongly connected components: sets that are never left and where every state reaches every other."""
    after = [reachable(chain, [s]) for s in range(len(chain.rows))]
    return sorted({after[s] for s in chain.states if all(s in after[t] for t in after[s])}, key=min)


# Linear equations


def solve(chain: Exact, unknown: Collection[int], constants: Mapping[int, Fraction], known: Sequence[Number]) -> Vector:
    """The x with x[s] = constants[s] + sum of P(s,t) x[t] for unknown s, and x[s] = known[s] for the others."""
    order = sorted(unknown)
    equations: list[dict[int, Fraction]] = []  # sum of coefficient * x = -coefficient[-1], one per unknown
    for s in order:
        equation = {s: Fraction(1), -1: -constants.get(s, Fraction(0))}
        for target, probability in chain.rows[s][0].items():
            if target in unknown:
                _add(equation, target, -probability)
            else:
                value = known[target]
                assert isinstance(value, Fraction)
                _add(equation, -1, -probability * value)
        equations.append(equation)
    x = list(known)
    solved: list[tuple[int, dict[int, Fraction]]] = []
    for s in order:  # elimination; fractions need no pivoting but for zeros
        pivot = next(equation for equation in equations if equation.get(s))
        equations.remove(pivot)
        for equation in equations:
            if factor := equation.pop(s, None):
                for column, value in pivot.items():
                    if column != s:
                        _add(equation, column, -value * factor / pivot[s])
        solved.append((s, pivot))
    for s, equation in reversed(solved):
        rest = sum((v * x[t] for t, v in equation.items() if t not in (s, -1)), equation[-1])
        x[s] = -rest / equation[s]
    return x


def _add(equation: dict[int, Fraction], column: int, value: Fraction) -> None:
    total = equation.get(column, Fraction(0)) + value
    if total or column == -1:
        equation[column] = total
    else:
        equation.pop(column, None)


# Strategies


def strategies(model: Exact) -> Iterator[tuple[int, ...]]:
    """All memoryless deterministic strategies, as the number of the choice in each state."""
    return itertools.product(*(range(len(rows)) for rows in model.rows))


def count_strategies(model: Exact) -> int:
    """How many there are."""
    return math.prod(len(rows) for rows in model.rows)


def induced(model: Exact, strategy: Sequence[int]) -> Exact:
    """The chain in which the strategy has made all choices."""
    rewards = {name: followed(rewards, strategy) for name, rewards in model.rewards.items()}
    return replace(
        model, type="dtmc", rows=[[rows[c]] for rows, c in zip(model.rows, strategy, strict=True)], rewards=rewards
    )


def followed(rewards: Rewards, strategy: Sequence[int]) -> Rewards:
    """The rewards of the chosen choices."""
    return Rewards(rewards.state, [[choices[c]] for choices, c in zip(rewards.choice, strategy, strict=True)])


def over_strategies(model: Exact, answer: Callable[[Exact, Sequence[int]], Sequence[Number]], optimum: str) -> Vector:
    """The definition of min and max: in each state, the best answer that any strategy gives there."""
    best = min if optimum == "min" else max
    answers = [answer(induced(model, strategy), strategy) for strategy in strategies(model)]
    return [best(values) for values in zip(*answers, strict=True)]
