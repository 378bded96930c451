"""What a property asks of random paths: from its text to a question that each path settles by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..checking import paths
from ..checking.inspection import Terms, interval_of, named_structure, rewarded_path, step_count
from ..lang.expressions import Expression
from ..lang.model_types import Nature
from ..lang.program import Program
from ..lang.properties import (
    Comparison,
    Cumulative,
    CumulativeBudget,
    ExpectedTime,
    Filter,
    Given,
    Instantaneous,
    LongRun,
    Multi,
    PathQuantifier,
    Probability,
    Quantile,
    Reward,
    SteadyState,
)
from ..lang.resolution import Question, is_state_formula
from ..lang.source import UnsupportedError

__all__ = ["Asked", "asked_of"]


@dataclass(frozen=True)
class Asked:
    """A question about paths.

    Attributes
    ----------
    kind
        ``until``, ``reached``, ``cumulative`` or ``instant``, as in :class:`~galton.model.random_paths.PathQuestion`.
    through, goal
        Conditions on states; None for one that always, or never, holds.
    negated
        Whether the probability that this does not happen is asked for.
    linear
        A formula that an automaton has to follow, in place of the goal.
    structure
        The reward structure; None for time or steps.
    total
        Whether rewards are collected for ever.
    comparison, threshold
        What the value is compared with, if it is.
    """

    kind: str
    through: Expression | None = None
    goal: Expression | None = None
    low: float = 0.0
    high: float = math.inf
    timed: bool = False
    negated: bool = False
    linear: Expression | None = None
    structure: str | None = None
    total: bool = False
    comparison: Comparison | None = None
    threshold: float | None = None

    @property
    def is_probability(self) -> bool:
        """Whether each path says yes or no."""
        return self.kind == "until"

    @property
    def is_open(self) -> bool:
        """Whether a path may take any number of steps."""
        return self.high == math.inf and self.kind in ("until", "reached")

    @property
    def states(self) -> list[Expression]:
        """The conditions on states."""
        return [part for part in (self.through, self.goal) if part is not None]


def asked_of(question: Question, program: Program, nature: Nature) -> Asked:
    """Return what a property asks of the paths of a chain; an error where that is no question about paths."""
    terms = Terms(nature, program.constants, question.source)
    formula = question.prop.expression
    match formula:
        case Probability(Given()):
            raise _unsupported("a probability under a condition", formula, terms, "without the condition")
        case Probability(path):
            found = _of_path(path, terms, formula)
        case Reward(objective):
            found = _of_objective(objective, formula, terms, program.reward_names)
        case ExpectedTime(path):
            found = _until_reached(path, formula, terms, None)
        case SteadyState():
            raise _unsupported("a long-run average", formula, terms, "for a time that is long")
        case PathQuantifier():
            hint = "whether all paths do is not a question of chance"
            raise UnsupportedError("A and E are not checked by simulation", terms.source, formula.span, hint)
        case Filter() | Multi() | Quantile():
            raise _unsupported("a filter, multi(…) or quantile(…)", formula, terms, "one P or R alone")
        case _:
            raise _unsupported("this", formula, terms, "one P or R, as in P=? [ F done ]")
    for part in found.states:
        if not is_state_formula(part):
            raise _unsupported("an operator inside another one", part, terms, "one P or R about states alone")
    bound = paths.threshold(formula, terms.constants, terms.source)
    return replace(found, comparison=formula.comparison, threshold=bound)


def _unsupported(what: str, formula: Expression, terms: Terms, hint: str) -> UnsupportedError:
    message = f"{what} is not checked by simulation"
    return UnsupportedError(message, terms.source, formula.span, f"ask {hint}, or check it without random paths")


def _of_path(path: Expression, terms: Terms, formula: Expression) -> Asked:
    shape = paths.shape(path)
    match shape:
        case paths.Now(states):
            return Asked("until", goal=states, high=0)
        case paths.Next(states):
            return Asked("until", goal=states, low=1, high=1)
        case paths.Linear(linear):
            return Asked("until", linear=linear)
    if paths.is_budget(shape):
        raise _unsupported("a bound on rewards, or several bounds", formula, terms, "with one bound on time")
    low, high, timed = interval_of(shape, terms)
    through = None if shape.through == paths.TRUE else shape.through
    return Asked(
        "until", through, shape.goal, float(low), math.inf if high is None else float(high), timed, shape.negated
    )


def _of_objective(objective: Expression, formula: Reward, terms: Terms, structures: list[str]) -> Asked:
    structure = named_structure(formula, structures, terms)
    timed = terms.nature.is_continuous
    match objective:
        case Cumulative(None):
            return Asked("reached", structure=structure, total=True)
        case Cumulative(limit) if limit is not None:
            high = paths.time(limit, terms.constants, terms.source) if timed else float(step_count(objective, terms))
            return Asked("cumulative", high=high, timed=timed, structure=structure)
        case Instantaneous(moment):
            high = (paths.time if timed else paths.whole)(moment, terms.constants, terms.source)
            return Asked("instant", high=float(high), timed=timed, structure=structure)
        case CumulativeBudget():
            raise _unsupported("a reward within a budget", formula, terms, "for C<=t")
        case LongRun():
            raise _unsupported("a long-run average", formula, terms, "for C<=t with a time that is long")
    return _until_reached(objective, formula, terms, structure)


def _until_reached(path: Expression, formula: Expression, terms: Terms, structure: str | None) -> Asked:
    shape = rewarded_path(path, terms)
    match shape:
        case paths.Linear(linear):
            return Asked("reached", linear=linear, structure=structure)
        case paths.Until(through, goal) if through == paths.TRUE:
            return Asked("reached", goal=goal, structure=structure)
    raise _unsupported("a reward until anything but F states, or a formula of linear time,", formula, terms, "for F")
