"""What a question looks at, so that symmetries of the program may be used which leave that alone.

Where every formula about states that stands in a property, and every reward that it collects, is the same in all states
of an orbit, one state of each orbit answers it: operators inside operators have the same value in the whole orbit,
because its states behave alike. Questions about single states need all of them: what is printed, counted or summed up
state by state, and what is not listed here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..lang.depth import DeepRecursion
from ..lang.expressions import Binary, Call, Conditional, Expression, Label, Unary
from ..lang.program import Program
from ..lang.properties import (
    AutomatonPath,
    BinaryPath,
    Cumulative,
    ExpectedTime,
    Filter,
    Instantaneous,
    LongRun,
    PathQuantifier,
    Probability,
    Reward,
    SteadyState,
    UnaryPath,
    children,
)
from ..lang.resolution import BUILT_IN, Question, is_state_formula, parts
from ..lang.source import GaltonError
from ..lower.symmetry import Symmetries, Symmetry
from .exploration import closed, is_plain
from .inspection import Terms, named_structure

__all__ = ["symmetry_of", "why_whole"]

# Of these filters, the states of an orbit are as good as one of them.
EXTREMES = ("min", "max", "range", "forall", "exists")


class _WholeModelNeeded(Exception):
    """Single states are asked about, or something that has not been thought through."""


@dataclass
class _Looks:
    """What a property looks at: formulas about states, in terms of the variables, and numbers of reward structures."""

    context: Program
    question: Question
    formulas: list[Expression] = field(default_factory=list)
    structures: set[int] = field(default_factory=set)

    def at(self, expression: Expression) -> None:
        if is_state_formula(expression):
            return self._at_states(expression)
        match expression:
            case UnaryPath(bound=bound) | BinaryPath(bound=bound) if bound is not None and bound.is_budget:
                raise _WholeModelNeeded("budgets are counted in the whole model")
            case Reward():
                names = self.context.reward_names
                terms = Terms(self.context.nature, self.context.constants, self.question.source)
                self.structures.add(names.index(named_structure(expression, names, terms)))
            case Filter(operator) if operator not in EXTREMES:
                raise _WholeModelNeeded(f"a filter '{operator}' is about all states")
            case (
                Unary()
                | Binary()
                | Conditional()
                | Call()
                | Probability()
                | ExpectedTime()
                | SteadyState()
                | PathQuantifier()
                | Filter()
                | UnaryPath()
                | BinaryPath()
                | AutomatonPath()
                | Cumulative()
                | Instantaneous()
                | LongRun()
            ):
                pass
            case _:
                raise _WholeModelNeeded("the property is answered in the whole model")
        for part in children(expression):
            self.at(part)

    def _at_states(self, formula: Expression) -> None:
        if is_plain(formula, self.context):
            found = closed(formula, self.context)
            if found not in self.formulas:
                self.formulas.append(found)
        elif isinstance(formula, Label) and formula.name in BUILT_IN:
            pass  # a symmetry maps initial states to initial states, and those that cannot move to such
        elif any(isinstance(part, Label) and part.name in BUILT_IN for part in parts(formula)):
            for part in children(formula):
                self.at(part)
        else:
            raise _WholeModelNeeded("the property has a label that the program does not know")


def symmetry_of(symmetries: Symmetries, context: Program, question: Question) -> Symmetry:
    """What a question leaves of the symmetries of its program; ``context`` knows its names."""
    looks = _Looks(context, question)
    with DeepRecursion(question.source):
        try:
            looks.at(question.prop.expression)
        except _WholeModelNeeded as reason:
            return symmetries.unused(str(reason))
        except GaltonError:  # what is wrong with a property is told when its turn comes
            return symmetries.unused("the property cannot be answered")
    return symmetries.keeping(looks.formulas, looks.structures)


def why_whole(
    *,
    full: bool = False,
    exact: bool = False,
    fair: bool = False,
    strategy: bool = False,
    paths: bool = False,
) -> str:
    """What besides the property needs all states; empty where nothing does."""
    reasons = {
        "all states are asked for": full,
        "exact numbers are computed in the whole model": exact,
        "fairness is about all choices": fair,
        "a strategy is one for all states": strategy,
        "a strategy is followed, or paths are shown, in the whole model": paths,
    }
    return next((reason for reason, given in reasons.items() if given), "")
