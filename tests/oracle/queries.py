"""Properties as data: each prints itself in PRISM's language or Storm's, and asks the exact checker for its value.

PRISM defines G, W and R by the until that is their negation, bounds included; so does :meth:`Path.until`. Storm's
parser has no bounded G, no W and no R, and is asked for that until.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import exact_chains as chains
import exact_policies as policies
import exact_steps as steps
import exact_time as time
from exact import Exact, Number, Rewards, States, Vector

MOST_PLACES = 80  # of decimals; longer ones are written as quotients
FLIPPED = {"min": "max", "max": "min", None: None}


# State formulas; `inner` are the operators with a bound in them


@dataclass(frozen=True)
class Label:
    name: str

    def __str__(self) -> str:
        return "true" if self.name == "true" else f'"{self.name}"'

    def states(self, model: Exact) -> States:
        return model.states if self.name == "true" else model.labels[self.name]

    inner = ()


@dataclass(frozen=True)
class Not:
    operand: Formula

    def __str__(self) -> str:
        return f"!{self.operand}" if isinstance(self.operand, Label) else f"!({self.operand})"

    def states(self, model: Exact) -> States:
        return model.states - self.operand.states(model)

    @property
    def inner(self) -> tuple[Threshold, ...]:
        return self.operand.inner


@dataclass(frozen=True)
class Both:
    left: Formula
    right: Formula

    def __str__(self) -> str:
        return f"({self.left} & {self.right})"

    def states(self, model: Exact) -> States:
        return self.left.states(model) & self.right.states(model)

    @property
    def inner(self) -> tuple[Threshold, ...]:
        return (*self.left.inner, *self.right.inner)


@dataclass(frozen=True)
class Threshold:
    """``P>=0.5 [ … ]`` within another property."""

    query: Query
    relation: str
    bound: Fraction

    def __str__(self) -> str:
        return self.query.text(f"{self.relation}{decimal(self.bound)}")

    def states(self, model: Exact) -> States:
        values = self.query.exact(model)
        return frozenset(s for s, value in enumerate(values) if compare(value, self.relation, self.bound))

    @property
    def inner(self) -> tuple[Threshold, ...]:
        return (*self.query.inner, self)

    def distance(self, model: Exact) -> float:
        """How near a value comes to the bound, relative to it: what a checker with an error cannot decide."""
        finite = [value for value in self.query.exact(model) if value < math.inf]
        return min((float(abs(v - self.bound)) / float(max(v, self.bound) or 1) for v in finite), default=1.0)


Formula = Label | Not | Both | Threshold
TRUE = Label("true")


def compare(value: Number, relation: str, bound: Fraction) -> bool:
    """Does the value meet the bound?"""
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[relation]


def decimal(value: Fraction) -> str:
    """A number as a model or a property has it: exact decimals where there are some, and a quotient otherwise."""
    places = 0
    while places < MOST_PLACES and (value * 10**places).denominator != 1:
        places += 1
    if places == MOST_PLACES:
        return f"{value.numerator}/{value.denominator}"
    digits = str((value * 10**places).numerator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


# Path formulas


@dataclass(frozen=True)
class Bound:
    """Of steps or time; ``relation`` is one of ``<= < >= > =`` or ``[]``, which has two ends."""

    relation: str
    first: Fraction
    second: Fraction = Fraction(0)

    def __str__(self) -> str:
        if self.relation == "[]":
            return f"[{decimal(self.first)},{decimal(self.second)}]"
        return f"{self.relation}{decimal(self.first)}"

    def ends(self, strict: Fraction) -> tuple[Fraction, Fraction | None]:
        """The lowest and the highest number that are meant; a strict end is ``strict`` away: 1 step, or no time."""
        match self.relation:
            case "<=":
                return Fraction(0), self.first
            case "<":
                return Fraction(0), self.first - strict
            case ">=":
                return self.first, None
            case ">":
                return self.first + strict, None
            case "=":
                return self.first, self.first
        return self.first, self.second


@dataclass(frozen=True)
class Path:
    operator: str  # X F G U W R
    left: Formula
    right: Formula
    bound: Bound | None = None

    def __str__(self) -> str:
        operator = f"{self.operator}{self.bound or ''}"
        return f"{operator} {self.right}" if self.operator in "XFG" else f"{self.left} {operator} {self.right}"

    @cached_property
    def until(self) -> tuple[bool, Path]:
        """The same as F or U, or as the negation of one."""
        match self.operator:
            case "G":
                return True, Path("F", TRUE, Not(self.right), self.bound)
            case "W":
                left, right = Both(self.left, Not(self.right)), Both(Not(self.left), Not(self.right))
                return True, Path("U", left, right, self.bound)
            case "R":
                return True, Path("U", Not(self.left), Not(self.right), self.bound)
        return False, self


# Queries


@dataclass(frozen=True)
class Probability:
    path: Path
    optimum: str | None = None

    @property
    def inner(self) -> tuple[Threshold, ...]:
        return (*self.path.left.inner, *self.path.right.inner)

    def text(self, asked: str = "=?") -> str:
        return f"P{_optimum(self.optimum, asked)}{asked} [ {self.path} ]"

    @property
    def kind(self) -> str:
        """The operator, for statistics."""
        return f"P{self.optimum or ''} {self.path.operator}{self.path.bound.relation if self.path.bound else ''}"

    def exact(self, model: Exact) -> Vector:
        negated, path = self.path.until
        if negated:
            values = Probability(path, FLIPPED[self.optimum]).exact(model)
            return [1 - value for value in values]
        through, goal = path.left.states(model), path.right.states(model)
        if path.operator == "X":
            return steps.next_step(model, goal, self.optimum)
        if path.operator == "F":
            through = model.states
        if path.bound is None:
            if self.optimum is None:
                return chains.until(model, through, goal)
            return policies.until(model, through, goal, self.optimum)
        if model.type == "ctmc":
            return time.timed_until(model, through, goal, *path.bound.ends(Fraction(0)))
        low, high = path.bound.ends(Fraction(1))
        return steps.bounded_until(model, through, goal, int(low), None if high is None else int(high), self.optimum)


@dataclass(frozen=True)
class Reward:
    """``objective`` is one of ``F C S C<= I=``; the last two have a time, the first has a goal."""

    structure: str
    objective: str
    goal: Formula = TRUE
    time: Fraction = Fraction(0)
    optimum: str | None = None

    @property
    def inner(self) -> tuple[Threshold, ...]:
        return self.goal.inner

    def text(self, asked: str = "=?") -> str:
        inside = {"F": f"F {self.goal}", "C<=": f"C<={decimal(self.time)}", "I=": f"I={decimal(self.time)}"}
        objective = inside.get(self.objective, self.objective)
        return f'R{{"{self.structure}"}}{_optimum(self.optimum, asked)}{asked} [ {objective} ]'

    @property
    def kind(self) -> str:
        return f"R{self.optimum or ''} {self.objective}"

    def exact(self, model: Exact) -> Vector:
        rewards = model.rewards[self.structure]
        match self.objective:
            case "F":
                return _reachability(model, rewards, self.goal, self.optimum)
            case "C" if self.optimum is None:
                return chains.total_reward(model, rewards)
            case "C":
                return policies.total_reward(model, rewards, self.optimum)
            case "S":
                return _average(model, rewards, self.optimum)
        if model.type == "ctmc":
            return (time.cumulative if self.objective == "C<=" else time.instantaneous)(model, rewards, self.time)
        bounded = steps.cumulative if self.objective == "C<=" else steps.instantaneous
        return bounded(model, rewards, int(self.time), self.optimum)


@dataclass(frozen=True)
class ExpectedTime:
    goal: Formula
    optimum: str | None = None

    @property
    def inner(self) -> tuple[Threshold, ...]:
        return self.goal.inner

    def text(self, asked: str = "=?") -> str:
        return f"T{_optimum(self.optimum, asked)}{asked} [ F {self.goal} ]"

    @property
    def kind(self) -> str:
        return f"T{self.optimum or ''} F"

    def exact(self, model: Exact) -> Vector:
        return _reachability(model, model.constant_rewards(), self.goal, self.optimum)


@dataclass(frozen=True)
class LongRun:
    formula: Formula
    optimum: str | None = None

    @property
    def inner(self) -> tuple[Threshold, ...]:
        return self.formula.inner

    def text(self, asked: str = "=?") -> str:
        return f"S{_optimum(self.optimum, asked)}{asked} [ {self.formula} ]"

    @property
    def kind(self) -> str:
        return f"S{self.optimum or ''}"

    def exact(self, model: Exact) -> Vector:
        states = self.formula.states(model)
        nothing = model.constant_rewards(Fraction(0)).choice
        inside = Rewards([Fraction(s in states) for s in range(len(model.rows))], nothing)
        return _average(model, inside, self.optimum)


Query = Probability | Reward | ExpectedTime | LongRun


def _reachability(model: Exact, rewards: Rewards, goal: Formula, optimum: str | None) -> Vector:
    states = goal.states(model)
    if optimum is None:
        return chains.reachability_reward(model, rewards, states)
    return policies.reachability_reward(model, rewards, states, optimum)


def _average(model: Exact, rewards: Rewards, optimum: str | None) -> Vector:
    return chains.long_run(model, rewards) if optimum is None else policies.long_run(model, rewards, optimum)


def _optimum(optimum: str | None, asked: str) -> str:
    """A bound says itself whether the least or the greatest value counts."""
    return (optimum or "") if asked == "=?" else ""
