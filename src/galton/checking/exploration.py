"""How much of a model the properties asked need: what follows the targets of a reachability question is not.

``P [ a U b ]`` in the initial states is settled in every state where ``b`` holds or ``a`` does not; so is a reward or a
time until ``b``. Where all questions are settled, the explorer may stop. Questions about other states, about a lower
bound on time, about the long run, or with operators inside operators need the whole model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ..lang.depth import DeepRecursion
from ..lang.expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Unary, Value
from ..lang.program import Program
from ..lang.properties import (
    BinaryPath,
    ExpectedTime,
    Filter,
    PathQuantifier,
    Probability,
    Reward,
    UnaryPath,
    children,
    map_children,
    substitute,
)
from ..lang.resolution import BUILT_IN, Question, agrees, constants_of, is_state_formula, parts
from ..lang.source import GaltonError
from . import paths

__all__ = ["closed", "is_plain", "needs_automaton", "terminal"]

_EVERYTHING = Literal(False)  # the condition that ends no path


def needs_automaton(question: Question) -> bool:
    """Whether a property is one operator about paths that only an automaton can follow."""
    if question.prop.error is not None:
        return False
    match question.prop.expression:
        case Probability(path) | ExpectedTime(path) | PathQuantifier(_, path) | Reward(path):
            with DeepRecursion(question.source):
                return isinstance(paths.shape(path), paths.Linear)
    return False


def terminal(asked: Iterable[tuple[Program, Question]]) -> Expression | None:
    """Return a condition on states past which no question needs the model, or None where the whole of it is needed.

    The condition is an expression over the variables of the program.
    """
    conditions: list[Expression] = []
    ends = _Ends()
    for context, question in asked:
        if question.prop.error is not None:
            continue
        with DeepRecursion(question.source):
            for condition in ends.conditions(question.prop.expression, context, question):
                if condition is _EVERYTHING:
                    return None
                if condition not in conditions:
                    conditions.append(condition)
    if not conditions:
        return None
    joint = conditions[0]
    for condition in conditions[1:]:
        joint = Binary("&", joint, condition)
    return joint


class _Closed(NamedTuple):
    """A formula in terms of the variables alone, and what that was made with."""

    formula: Expression
    labels: Mapping[str, Expression]
    constants: Mapping[str, Value]


class _Ends:
    """Where properties are settled."""

    def __init__(self) -> None:
        self._known: dict[Expression, _Closed] = {}

    def conditions(self, expression: Expression, context: Program, question: Question) -> Collection[Expression]:
        """Where each operator of a property is settled."""
        match expression:
            case Literal() | Name() | Label():
                return ()
            case Unary() | Binary() | Conditional() | Call():
                inner = (self.conditions(part, context, question) for part in children(expression))
                return [condition for conditions in inner for condition in conditions]
            case Filter(_, operand, Label("init")):
                return self.conditions(operand, context, question)
            case Probability(path) | ExpectedTime(path):
                return (self._settled(path, context, question, bounds=isinstance(expression, Probability)),)
            case Reward(UnaryPath() | BinaryPath() as path):
                return (self._settled(path, context, question, bounds=False),)
        return (_EVERYTHING,)

    def _settled(self, formula: Expression, context: Program, question: Question, *, bounds: bool) -> Expression:
        """Where a path formula is settled."""
        try:
            path = paths.normalise(formula, question.source)
            if not isinstance(path, paths.Until) or (path.bound is not None and not bounds):
                return _EVERYTHING
            for bound in () if path.bound is None else path.bound.all:
                if bound.reward is not None and not context.nature.has_choices:
                    return _EVERYTHING  # what its commands spend one by one is looked at in the whole model
                if bound.low is None:
                    continue
                low = paths.constant(bound.low, context.constants, question.source)
                if low != 0 or bound.low_strict:
                    return _EVERYTHING
        except GaltonError:  # will be told when the property's turn comes
            return _EVERYTHING
        if not all(is_plain(operand, context) for operand in (path.through, path.goal)):
            return _EVERYTHING
        end = path.goal
        if path.through != paths.TRUE:
            end = Binary("|", path.goal, Unary("!", path.through))
        return self._closed(end, context)

    def _closed(self, formula: Expression, context: Program) -> Expression:
        """A formula in terms of the variables alone: made once for all values of constants that it does not use."""
        known = self._known.get(formula)
        if known is None or known.labels != context.labels or not agrees(context, known.constants):
            made = closed(formula, context)
            self._known[formula] = known = _Closed(made, context.labels, constants_of(formula, context))
        return known.formula


def is_plain(formula: Expression, context: Program) -> bool:
    """Whether the explorer can tell where a formula holds."""
    if not is_state_formula(formula):
        return False
    labels = [part.name for part in parts(formula) if isinstance(part, Label)]
    return all(name in context.labels and name not in BUILT_IN for name in labels)


def closed(formula: Expression, context: Program) -> Expression:
    """A formula in terms of the variables alone."""

    def without_labels(part: Expression) -> Expression:
        if isinstance(part, Label):
            return without_labels(context.labels[part.name])
        return map_children(part, without_labels)

    constants = {name: Literal(value) for name, value in context.constants.items()}
    return substitute(without_labels(formula), constants)
