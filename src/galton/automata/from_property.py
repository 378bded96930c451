"""The path formula of a property as a formula of linear temporal logic over numbered state formulas.

A proposition is a state formula as large as possible: ``x=1 | x=2`` in ``G F (x=1 | x=2)``. Where two such formulas
share a part, both are taken apart at their Boolean connectives, so that ``G (a & b) & (F !a)`` is seen to be false.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from ..lang.expressions import Binary, Conditional, Expression, Literal, Unary
from ..lang.properties import BinaryPath, TimeBound, UnaryPath
from ..lang.resolution import has_path
from ..lang.source import LanguageError, Source
from . import bounds
from . import simplification as make
from .formula import FALSE, TRUE, Formula

Steps = Callable[[TimeBound], tuple[int, int | None]]  # the least and the greatest number of steps of a bound
_CONNECTIVES = ("&", "|", "=>", "<=>")


def path_formula(
    path: Expression, source: Source, steps: Steps, *, counting: bool = False
) -> tuple[Formula, tuple[Expression, ...]]:
    """Return a path formula, and the state formulas that its propositions stand for.

    Parameters
    ----------
    source
        The text that mistakes are shown in.
    steps
        What tells the least and the greatest number of steps that a bound allows; None for no greatest.
    counting
        Whether ``true`` is to be read like a proposition, so that ``X true`` takes a step to become true.
    """
    translation = _Translation(path, source, steps, counting)
    formula = translation.formula(path)
    return formula, tuple(translation.numbers)


class _Translation:
    """One path formula; ``numbers`` are those of its propositions."""

    def __init__(self, path: Expression, source: Source, steps: Steps, counting: bool):
        self.source, self.steps, self.counting = source, steps, counting
        self.numbers: dict[Expression, int] = {}
        whole = dict.fromkeys(_state_formulas(path))
        atoms = Counter(atom for states in whole for atom in set(_atoms(states)))
        self._shared = {states for states in whole if any(atoms[atom] > 1 for atom in _atoms(states))}

    def formula(self, path: Expression) -> Formula:
        if not has_path(path):
            bare, negated = _without_negations(path)
            found = self._apart(bare) if bare in self._shared else self._proposition(bare)
            return make.negation(found) if negated else found
        match path:
            case UnaryPath("X", operand):
                return make.next_step(self.formula(operand))
            case UnaryPath("F", operand, bound):
                return bounds.bounded_until(TRUE, self.formula(operand), *self._steps(bound))
            case UnaryPath(_, operand, bound):
                return bounds.bounded_release(FALSE, self.formula(operand), *self._steps(bound))
            case BinaryPath(operator, left, right, bound):
                join = {
                    "U": bounds.bounded_until,
                    "W": bounds.bounded_weak_until,
                    "R": bounds.bounded_release,
                }[operator]
                return join(self.formula(left), self.formula(right), *self._steps(bound))
        return self._connected(path, self.formula)

    def _apart(self, states: Expression) -> Formula:
        """A state formula as a combination of propositions."""
        return self._connected(states, self._apart) if _is_connective(states) else self._proposition(states)

    def _connected(self, expression: Expression, part: Callable[[Expression], Formula]) -> Formula:
        match expression:
            case Unary("!", operand):
                return make.negation(part(operand))
            case Conditional(condition, then, otherwise):
                first, second, third = part(condition), part(then), part(otherwise)
                return make.conjunction((make.implication(first, second), make.disjunction((first, third))))
            case Binary("&", left, right):
                return make.conjunction((part(left), part(right)))
            case Binary("|", left, right):
                return make.disjunction((part(left), part(right)))
            case Binary("=>", left, right):
                return make.implication(part(left), part(right))
            case Binary("<=>", left, right):
                return make.equivalence(part(left), part(right))
        message = "a temporal operator may only be combined with '!', '&', '|', '=>', '<=>' and '? :'"
        raise LanguageError(message, self.source, expression.span)

    def _proposition(self, states: Expression) -> Formula:
        if isinstance(states, Literal) and not (self.counting and states.value):
            return TRUE if states.value else FALSE
        return make.proposition(self.numbers.setdefault(states, len(self.numbers)))

    def _steps(self, bound: TimeBound | None) -> tuple[int, int | None]:
        if bound is None:
            return 0, None
        low, high = self.steps(bound)
        if max(low, high or 0) > bounds.LARGEST_BOUND:
            limit = bound.high or bound.low
            assert limit is not None
            message = f"beside other temporal operators a bound may be {bounds.LARGEST_BOUND:,} steps at most"
            raise LanguageError(message, self.source, limit.span, "each step is a state of the formula's automaton")
        return low, high


def _state_formulas(path: Expression) -> Iterator[Expression]:
    """The largest state formulas in a path formula, without negations in front."""
    if not has_path(path):
        yield _without_negations(path)[0]
        return
    match path:
        case UnaryPath(_, operand) | Unary(_, operand):
            yield from _state_formulas(operand)
        case BinaryPath(_, left, right) | Binary(_, left, right):
            yield from _state_formulas(left)
            yield from _state_formulas(right)
        case Conditional(condition, then, otherwise):
            for part in (condition, then, otherwise):
                yield from _state_formulas(part)


def _without_negations(states: Expression) -> tuple[Expression, bool]:
    negated = False
    while isinstance(states, Unary) and states.operator == "!":
        states, negated = states.operand, not negated
    return states, negated


def _is_connective(states: Expression) -> bool:
    return (isinstance(states, Unary) and states.operator == "!") or (
        isinstance(states, Binary) and states.operator in _CONNECTIVES
    )


def _atoms(states: Expression) -> Iterator[Expression]:
    """What Boolean connectives join in a state formula."""
    match states:
        case Unary("!", operand):
            yield from _atoms(operand)
        case Binary(operator, left, right) if operator in _CONNECTIVES:
            yield from _atoms(left)
            yield from _atoms(right)
        case _:
            yield states
