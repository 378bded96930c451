"""Properties, as trees that extend those of expressions.

Operators (``P R S T A E``, ``filter``, ``multi``, ``quantile``) are expressions like any other, so
``1 - P=? [ F done ]`` needs nothing special. Path formulas are expressions too; the parser sees to it that they only
stand where paths are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from . import expressions
from .expressions import Expression, Name
from .source import LanguageError, Source, Span
from .syntax import ConstantDeclaration, Definition

Optimum = OneOf["min", "max"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The ``>= 0.5`` of ``P>=0.5 [ … ]``."""

    operator: OneOf["<", "<=", ">", ">="]
    bound: Expression


@dataclass(frozen=True, slots=True)
class Probability(Expression):
    """``P=? [ path ]``, ``Pmax=? [ path ]``, ``P>=0.5 [ path ]``."""

    path: Expression
    optimum: Optimum | None = None
    comparison: Comparison | None = None  # None: the value is asked for


@dataclass(frozen=True, slots=True)
class Reward(Expression):
    """``R{"structure"}min=? [ objective ]``. The structure is a name, a number from 1, or None for the only one.

    The objective is a :class:`Cumulative`, an :class:`Instantaneous`, a :class:`LongRun` or a path formula.
    """

    objective: Expression
    structure: str | Expression | None = None
    optimum: Optimum | None = None
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class ExpectedTime(Expression):
    """Storm's ``T=? [ F states ]``: the expected time (or number of steps) until then."""

    path: Expression
    optimum: Optimum | None = None
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class SteadyState(Expression):
    """``S=? [ states ]``: how much of the long run is spent there. Storm writes ``LRA``."""

    states: Expression
    optimum: Optimum | None = None
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class PathQuantifier(Expression):
    """``A [ path ]`` and ``E [ path ]`` of CTL."""

    quantifier: OneOf["A", "E"]
    path: Expression


@dataclass(frozen=True, slots=True)
class Filter(Expression):
    """``filter(operator, operand, states)``; without states, all of them are meant.

    The symbols ``+ & |`` are ``sum``, ``forall`` and ``exists`` here, and ``P=? [ path {states}{max} ]``, the old way
    to write a filter, is this node as well.
    """

    operator: str
    operand: Expression
    states: Expression | None = None


@dataclass(frozen=True, slots=True)
class Multi(Expression):
    """``multi(objective, …)``."""

    objectives: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Quantile(Expression):
    """``quantile(min b, formula)``: the least, or greatest, whole number b for which a formula about it holds."""

    optimum: Optimum
    name: str
    formula: Expression


# Path formulas


@dataclass(frozen=True, slots=True)
class TimeBound:
    """``<=k``, ``<k``, ``>=k``, ``>k``, ``[a,b]`` or, with both ends the same, ``=k``.

    It bounds time or steps or, in ``F{"structure"}<=k`` and Storm's ``F^{rew{"structure"}<=k}``, the accumulated reward
    of a structure. ``counts_steps`` is Storm's ``F^{steps<=k}``; ``also`` are the further bounds of ``F^{…, …}``.
    """

    low: Expression | None = None
    high: Expression | None = None
    low_strict: bool = False
    high_strict: bool = False
    reward: str | None = None
    counts_steps: bool = False
    also: tuple[TimeBound, ...] = ()

    @property
    def is_budget(self) -> bool:
        """Whether more than one number is bounded, or one that is not the time."""
        return self.reward is not None or self.counts_steps or bool(self.also)

    @property
    def all(self) -> tuple[TimeBound, ...]:
        """This bound and those beside it, each by itself."""
        return replace(self, also=()), *self.also


@dataclass(frozen=True, slots=True)
class UnaryPath(Expression):
    """``X``, ``F`` or ``G``, perhaps bounded."""

    operator: OneOf["X", "F", "G"]
    operand: Expression
    bound: TimeBound | None = None


@dataclass(frozen=True, slots=True)
class BinaryPath(Expression):
    """``U`` (until), ``W`` (weak until) or ``R`` (release), perhaps bounded."""

    operator: OneOf["U", "W", "R"]
    left: Expression
    right: Expression
    bound: TimeBound | None = None


@dataclass(frozen=True, slots=True)
class AutomatonPath(Expression):
    """``HOA: {"file", "p" <- states, …}``: the paths that the automaton of a file accepts.

    ``propositions`` are those of the automaton with the states they stand for; ``text`` is that of the file, once it
    has been read. Then all propositions are there.
    """

    file: str
    propositions: tuple[tuple[str, Expression], ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Given(Expression):
    """``path || condition``: a path formula among the runs that satisfy another one."""

    path: Expression
    condition: Expression


# What only ``R [ … ]`` may contain


@dataclass(frozen=True, slots=True)
class Cumulative(Expression):
    """``C<=t``: the reward collected until then; ``C``: for ever."""

    bound: Expression | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class CumulativeBudget(Expression):
    """``C{"cost"}<=k`` or ``C^{rew{"cost"}<=k, …}``: the reward collected while all budgets last."""

    bound: TimeBound


@dataclass(frozen=True, slots=True)
class Instantaneous(Expression):
    """``I=t``: the reward rate at that time."""

    time: Expression


@dataclass(frozen=True, slots=True)
class LongRun(Expression):
    """``S``: the average reward in the long run."""


# Files


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a file. ``parsed`` holds what is wrong with it, when it could not be read."""

    name: str | None
    text: str
    span: Span
    parsed: Expression | LanguageError

    @property
    def expression(self) -> Expression:
        """The property's tree; reading it raises the error, if there is one."""
        if isinstance(self.parsed, LanguageError):
            raise self.parsed
        return self.parsed

    @property
    def error(self) -> LanguageError | None:
        return self.parsed if isinstance(self.parsed, LanguageError) else None


@dataclass(frozen=True, slots=True)
class PropertyFile:
    """Everything in a property file, each kind in the order of the file."""

    source: Source
    constants: tuple[ConstantDeclaration, ...]
    formulas: tuple[Definition, ...]
    labels: tuple[Definition, ...]
    properties: tuple[Property, ...]


def map_children(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return a property with every direct operand changed, bounds included."""

    def maybe(part: Expression | None) -> Expression | None:
        return part and change(part)

    def compared(comparison: Comparison | None) -> Comparison | None:
        return comparison and Comparison(comparison.operator, change(comparison.bound))

    def bounded(bound: TimeBound | None) -> TimeBound | None:
        if bound is None:
            return None
        also = tuple(found for other in bound.also if (found := bounded(other)) is not None)
        return replace(bound, low=maybe(bound.low), high=maybe(bound.high), also=also)

    span = expression.span
    match expression:
        case Probability(path, optimum, comparison):
            return Probability(change(path), optimum, compared(comparison), span=span)
        case Reward(objective, structure, optimum, comparison):
            index = change(structure) if isinstance(structure, Expression) else structure
            return Reward(change(objective), index, optimum, compared(comparison), span=span)
        case ExpectedTime(path, optimum, comparison):
            return ExpectedTime(change(path), optimum, compared(comparison), span=span)
        case SteadyState(states, optimum, comparison):
            return SteadyState(change(states), optimum, compared(comparison), span=span)
        case PathQuantifier(quantifier, path):
            return PathQuantifier(quantifier, change(path), span=span)
        case Filter(operator, operand, states):
            return Filter(operator, change(operand), maybe(states), span=span)
        case Multi(objectives):
            return Multi(tuple(map(change, objectives)), span=span)
        case UnaryPath(operator, operand, bound):
            return UnaryPath(operator, change(operand), bounded(bound), span=span)
        case BinaryPath(operator, left, right, bound):
            return BinaryPath(operator, change(left), change(right), bounded(bound), span=span)
        case AutomatonPath(file, propositions, text):
            return AutomatonPath(file, tuple((name, change(part)) for name, part in propositions), text, span=span)
        case Cumulative(limit, strict):
            return Cumulative(maybe(limit), strict, span=span)
        case CumulativeBudget(bound):
            changed = bounded(bound)
            assert changed is not None
            return CumulativeBudget(changed, span=span)
        case Instantaneous(time):
            return Instantaneous(change(time), span=span)
        case Given(path, condition):
            return Given(change(path), change(condition), span=span)
        case Quantile(optimum, name, formula):
            return Quantile(optimum, name, change(formula), span=span)
    return expressions.map_children(expression, change)


def substitute(expression: Expression, definitions: Mapping[str, Expression]) -> Expression:
    """A property with names, such as those of formulas, replaced by what they stand for.

    What replaces a name may come from another text, so all of it gets the place of the name.
    """
    if isinstance(expression, Name):
        meant = definitions.get(expression.name)
        return expression if meant is None else _at(meant, expression.span)
    return map_children(expression, lambda part: substitute(part, definitions))


def _at(expression: Expression, span: Span) -> Expression:
    return replace(map_children(expression, lambda part: _at(part, span)), span=span)


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands of a property, bounds included."""
    found: list[Expression] = []

    def note(part: Expression) -> Expression:
        found.append(part)
        return part

    map_children(expression, note)
    return tuple(found)
