"""What a question looks at, so that what it cannot see may be left out of the model.

Formulas about states stand in a property, and rewards that it collects. Symmetries may be used that leave both alone
(:mod:`.symmetry`), and variables be left out that neither reads (:mod:`.slicing`): operators inside operators then have
the same value in all states that are alike. Questions about single states need all of them: what is printed, counted or
summed up state by state, and what is not listed here.
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
from . import paths
from .exploration import closed, is_plain
from .inspection import Terms, named_structure

__all__ = ["Looks", "looks_of", "why_whole"]

# Of these filters, states that are alike are as good as one of them.
EXTREMES = ("min", "max", "range", "forall", "exists")


class _WholeModelNeeded(Exception):
    """Single states are asked about, or something that has not been thought through."""


@dataclass
class Looks:
    """What a property looks at: formulas about states, in terms of the variables, and numbers of reward structures.

    Attributes
    ----------
    starts
        Whether it asks of states if they are initial; a filter over the initial states does not.
    steps
        Whether it may see a step that changes nothing, or that there is none: by ``X``, an automaton, ``A``, ``E`` or
        ``"deadlock"``.
    whole
        Why all states are needed; empty where they are not.
    """

    context: Program
    question: Question
    formulas: list[Expression] = field(default_factory=list)
    structures: set[int] = field(default_factory=set)
    starts: bool = False
    steps: bool = False
    whole: str = ""

    def _at(self, expression: Expression) -> None:
        if is_state_formula(expression):
            return self._at_states(expression)
        match expression:
            case UnaryPath(bound=bound) | BinaryPath(bound=bound) if bound is not None and bound.is_budget:
                raise _WholeModelNeeded("budgets are counted in the whole model")
            case Reward():
                names = self.context.reward_names
                terms = Terms(self.context.nature, self.context.constants, self.question.source)
                self.structures.add(names.index(named_structure(expression, names, terms)))
                self._along(expression.objective)
            case Filter(operator) if operator not in EXTREMES:
                raise _WholeModelNeeded(f"a filter '{operator}' is about all states")
            case Filter(_, operand, Label("init")):
                return self._at(operand)
            case Probability(path) | ExpectedTime(path):
                self._along(path)
            case PathQuantifier() | AutomatonPath():
                self.steps = True
            case (
                Unary()
                | Binary()
                | Conditional()
                | Call()
                | SteadyState()
                | Filter()
                | UnaryPath()
                | BinaryPath()
                | Cumulative()
                | Instantaneous()
                | LongRun()
            ):
                pass
            case _:
                raise _WholeModelNeeded("the property is answered in the whole model")
        for part in children(expression):
            self._at(part)

    def _along(self, path: Expression) -> None:
        """Note whether steps of a path count: all but untils may see them."""
        self.steps |= isinstance(paths.shape(path), (paths.Next, paths.Linear))

    def _at_states(self, formula: Expression) -> None:
        if is_plain(formula, self.context):
            found = closed(formula, self.context)
            if found not in self.formulas:
                self.formulas.append(found)
        elif isinstance(formula, Label) and formula.name in BUILT_IN:
            self.starts |= formula.name == "init"
            self.steps |= formula.name == "deadlock"
        elif any(isinstance(part, Label) and part.name in BUILT_IN for part in parts(formula)):
            for part in children(formula):
                self._at(part)
        else:
            raise _WholeModelNeeded("the property has a label that the program does not know")


def looks_of(context: Program, question: Question) -> Looks:
    """What a question looks at; ``context`` knows its names."""
    looks = Looks(context, question)
    with DeepRecursion(question.source):
        try:
            looks._at(question.prop.expression)
        except _WholeModelNeeded as reason:
            looks.whole = str(reason)
        except GaltonError:  # what is wrong with a property is told when its turn comes
            looks.whole = "the property cannot be answered"
    return looks


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
