"""What is asked of a parametric model: one operator, the times and rewards it speaks of, and its threshold."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from ..checking import paths
from ..checking.inspection import Terms as Words
from ..checking.inspection import named_structure
from ..lang.expressions import Binary, Expression, Name, Unary
from ..lang.program import Program
from ..lang.properties import Cumulative, Instantaneous, Probability, Reward, children
from ..lang.resolution import Question, is_state_formula, parts
from ..lang.source import LanguageError, Source, UnsupportedError
from .polynomials import Decomposition

Operator = Probability | Reward

__all__ = ["Asked", "Earning", "Operator", "Timed", "operator_of", "refuse_parameters"]


def operator_of(question: Question) -> Operator:
    """The one operator that a property is, ``P`` or ``R``."""
    expression = question.prop.expression
    if not isinstance(expression, (Probability, Reward)):
        raise LanguageError(
            "synthesis needs one P or R operator at the outside",
            question.source,
            expression.span,
            "as in P>=0.9 [ F<=10 done ] or R=? [ C<=10 ]",
        )
    return expression


def refuse_parameters(question: Question, declared: Iterable[Expression], decomposition: Decomposition) -> None:
    """Refuse a property that mentions a parameter, by itself or in the labels and constants declared along with it."""
    for part in (part for whole in (question.prop.expression, *declared) for part in parts(whole)):
        if isinstance(part, Name) and decomposition.depends(part):
            message = f"'{part.name}' depends on a parameter, so it cannot stand in the property"
            raise LanguageError(message, question.source, part.span)


@dataclass(frozen=True)
class Timed:
    """An until within a time."""

    through: Expression
    goal: Expression
    negated: bool
    low: float
    high: float


@dataclass(frozen=True)
class Earning:
    """A reward structure, up to a time or, unless it is earned ``over`` all of it, at that time."""

    structure: str
    time: float
    over: bool


@dataclass(frozen=True, eq=False)
class Asked:
    """One operator of a property, about the initial state of a parametric CTMC.

    Attributes
    ----------
    program, source, operator
        The operator, the text it stands in, and the program with the names it may use.
    rewards
        The names of the model's reward structures.
    threshold
        What the number is compared with; no number where it is not.
    slack
        By how much bounds may be wider without a difference to the answer.
    """

    program: Program
    source: Source
    operator: Operator
    rewards: Collection[str]
    threshold: float = math.nan
    slack: float = 0.0

    def __post_init__(self) -> None:
        self._refuse(self.operator)

    @property
    def is_flat(self) -> bool:
        """Whether no operator is inside another: then nothing is asked but of the initial state."""
        return not self.inner

    @property
    def inner(self) -> list[Operator]:
        """The operators inside the outer one."""
        found = [part for part in parts(self.operator) if isinstance(part, (Probability, Reward))]
        return [part for part in found if part is not self.operator]

    @property
    def horizon(self) -> float:
        """The time that the operator looks ahead."""
        operator = self.operator
        return self.path(operator).high if isinstance(operator, Probability) else self.earning(operator).time

    def path(self, formula: Probability) -> Timed:
        """The until that a formula about paths is."""
        path = paths.normalise(formula.path, self.source)
        if not isinstance(path, paths.Until):
            message = "only untils with a time bound, F, G and U, are supported in a synthesis"
            raise UnsupportedError(message, self.source, formula.span)
        if path.bound is not None and path.bound.is_budget:
            raise UnsupportedError("paths bounded by a reward are not supported", self.source, formula.span)
        low, high = paths.times(path.bound, self.program.constants, self.source)
        if math.isinf(high):
            raise self._unbounded(formula, "as in F<=100 … or a U[10,20] b")
        return Timed(path.through, path.goal, path.negated, low, high)

    def earning(self, formula: Reward) -> Earning:
        """The rewards that are meant, and until when."""
        match formula.objective:
            case Cumulative(bound) if bound is not None:
                time, over = bound, True
            case Instantaneous(moment):
                time, over = moment, False
            case _:
                raise self._unbounded(formula, "as in R=? [ C<=100 ] or R=? [ I=100 ]")
        constants = self.program.constants
        name = named_structure(formula, list(self.rewards), Words(self.program.nature, constants, self.source))
        return Earning(name, paths.time(time, constants, self.source), over)

    def bound(self, formula: Operator) -> float:
        """What an operator inside another is compared with."""
        found = paths.threshold(formula, self.program.constants, self.source, below_zero=False)
        if found is None:
            raise self.unsupported(formula)
        return found

    def state_formulas(self) -> Iterator[Expression | Reward]:
        """What the question sees of states: formulas about them, and operators about what they earn."""
        yield from self._seen(self.operator)

    def unsupported(self, expression: Expression) -> UnsupportedError:
        """The error for what may not stand inside an operator."""
        return UnsupportedError("this cannot stand inside an operator in a synthesis", self.source, expression.span)

    def _seen(self, expression: Expression) -> Iterator[Expression | Reward]:
        match expression:
            case Probability():
                path = self.path(expression)
                yield from self._seen(path.through)
                yield from self._seen(path.goal)
            case Reward():
                yield expression
            case _ if is_state_formula(expression):
                yield expression
            case Unary("!") | Binary("&" | "|" | "=>" | "<=>"):
                for part in children(expression):
                    yield from self._seen(part)
            case _:
                raise self.unsupported(expression)

    def _refuse(self, expression: Expression) -> None:
        """Find what is wrong with a property now, and not after minutes."""
        match expression:
            case Probability():
                path = self.path(expression)
                self._refuse(path.through)
                self._refuse(path.goal)
            case Reward():
                self.earning(expression)
            case _ if not is_state_formula(expression):
                for part in children(expression):
                    self._refuse(part)

    def _unbounded(self, formula: Operator, hint: str) -> LanguageError:
        return LanguageError("the synthesis of a CTMC needs a time bound", self.source, formula.span, hint)
