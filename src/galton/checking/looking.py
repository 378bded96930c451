"""What a property looks at: formulas about states, and reward structures.

Where all of that is the same in some states, and these behave alike, one of them answers for all: operators inside
operators have the same value in them. Questions about single states need all of them: what is printed, counted or
summed up state by state, and what is not listed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
from ..lang.resolution import Question, is_state_formula
from . import paths
from .inspection import Terms, named_structure

__all__ = ["Looks", "WholeModelNeeded", "why_whole"]

# Of these filters, states that are alike are as good as one of them.
EXTREMES = ("min", "max", "range", "forall", "exists")
OPERATORS = (
    Unary,
    Binary,
    Conditional,
    Call,
    SteadyState,
    Filter,
    UnaryPath,
    BinaryPath,
    Cumulative,
    Instantaneous,
    LongRun,
)


class WholeModelNeeded(Exception):
    """Single states are asked about, or something that has not been thought through."""


@dataclass
class Looks:
    """What a property looks at: formulas about states, as they stand in it, and names of reward structures.

    Attributes
    ----------
    reward_names
        Those of the model.
    operators
        Further ones that have been thought through.
    steps
        Whether it may see a step that changes nothing: by ``X``, an automaton, ``A`` or ``E``.
    initially
        Whether it asks about the initial states by a filter.
    """

    context: Program
    question: Question
    reward_names: Sequence[str]
    operators: tuple[type[Expression], ...] = ()
    formulas: list[Expression] = field(default_factory=list)
    structures: list[str] = field(default_factory=list)
    steps: bool = False
    initially: bool = False

    def at(self, expression: Expression) -> None:
        """Look at an expression and at all in it."""
        if is_state_formula(expression):
            if expression not in self.formulas:
                self.formulas.append(expression)
            return
        match expression:
            case UnaryPath(bound=bound) | BinaryPath(bound=bound) if bound is not None and bound.is_budget:
                raise WholeModelNeeded("budgets are counted in the whole model")
            case Reward():
                terms = Terms(self.context.nature, self.context.constants, self.question.source)
                name = named_structure(expression, self.reward_names, terms)
                if name not in self.structures:
                    self.structures.append(name)
                self._along(expression.objective)
            case Probability(path) | ExpectedTime(path):
                self._along(path)
            case PathQuantifier() | AutomatonPath():
                self.steps = True
            case Filter(operator) if operator not in EXTREMES:
                raise WholeModelNeeded(f"a filter '{operator}' is about all states")
            case Filter(_, operand, Label("init")):
                self.initially = True
                return self.at(operand)
            case _ if not isinstance(expression, (*OPERATORS, *self.operators)):
                raise WholeModelNeeded("the property is answered in the whole model")
        for part in children(expression):
            self.at(part)

    def _along(self, path: Expression) -> None:
        """Note whether steps of a path count: all but untils may see them."""
        self.steps |= isinstance(paths.shape(path), (paths.Next, paths.Linear))


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
