"""Counterexamples to bounds on probabilities: the likeliest paths that together pass the bound.

The fewest paths that do are the likeliest ones, from the first on (Han, Katoen and Damman 2009). Their sum is rounded
down, so that it proves that the property is false. Where loops make the paths too many, a part of the states is shown
instead, whose paths alone pass the bound: the states on the likeliest paths, as few of them as do.

``P>=p`` is false where the complement is likelier than ``1 - p``: paths of it end where the formula is sure to fail.
For an MDP all is about the chain of a strategy that attains the value; for a CTMC about the chain of its jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...graph import can_reach
from ...lang.depth import DeepRecursion
from ...lang.expressions import Expression
from ...lang.program import Program
from ...lang.properties import ExpectedTime, PathQuantifier, Probability, Reward, SteadyState
from ...lang.resolution import Question
from ...lang.source import GaltonError, UnsupportedError
from ...model.sparse import Mask, Model
from ...reduce.submodels import Rows, with_rows
from ...solve.settings import Settings
from .. import paths
from ..answering import check
from ..evaluation import Evaluation
from ..inspection import Terms, UsageError, interval_of
from ..result import Result
from .arcs import Steps, strategy_arcs
from .counterexample import Counterexample, Path, in_words
from .downward import Downward
from .likeliest import Step, cheapest_paths
from .search import Search, Staged, Unbounded

if TYPE_CHECKING:
    from ..strategies.strategy import Strategy

__all__ = ["MOST_PATHS", "check_explained", "find_counterexample"]

MOST_PATHS = 1_000
MOST_STEPS = 100_000  # of all paths together


def check_explained(question: Question, terms: Terms, settings: Settings) -> None:
    """Refuse properties that no path is a counterexample to, before anything is built."""
    formula = question.prop.expression
    if settings.fair:
        raise UsageError("--fair and --counterexample do not go together: no table holds a fair strategy")
    if isinstance(formula, PathQuantifier):
        return
    if not isinstance(formula, Probability) or formula.comparison is None:
        message = "there are counterexamples to bounds on probabilities, such as P<=0.1 [ … ], and to A and E"
        hint = "give it a bound" if isinstance(formula, Probability) else None
        if isinstance(formula, (Reward, ExpectedTime, SteadyState)):
            message += ", not to averages, which no set of paths shows"
        raise UnsupportedError(message, terms.source, formula.span, hint)
    path = paths.shape(formula.path)
    if isinstance(path, paths.Linear):
        message = "counterexamples to bounds on formulas with more than one temporal operator (LTL) are not supported"
        raise UnsupportedError(message, terms.source, formula.path.span, "there are some to A and E of them")
    if isinstance(path, paths.Until):
        low, high, timed = interval_of(path, terms)
        if timed:
            message = "counterexamples to bounds on time are not supported: a path has no single time"
            raise UnsupportedError(message, terms.source, formula.path.span)
        if low and high is None:
            message = "counterexamples to bounds without an upper end are not supported"
            raise UnsupportedError(message, terms.source, formula.path.span)


def find_counterexample(
    program: Program,
    model: Model,
    question: Question,
    settings: Settings | None = None,
    *,
    result: Result | None = None,
    most: int = MOST_PATHS,
) -> Counterexample | None:
    """Find what shows that a property is false; None where it is true. For ``E`` it is the other way round.

    ``result`` is the answer where it is known, with its strategy if the model is an MDP. ``most`` is the number of
    paths up to which they are listed.
    """
    settings = settings or Settings()
    check_explained(question, Terms(model.nature, program.constants, question.source), settings)
    formula = question.prop.expression
    assert isinstance(formula, (Probability, PathQuantifier))
    model = model.to_host()
    if result is None:
        result = check(program, model, question, settings, strategy=_needs_strategy(model, formula))
    if result.value is None:
        raise GaltonError("whether the property holds is not decided, so there is no counterexample; ask for less eps")
    settings = replace(settings, method=None, strategy=False, watch=None)
    evaluation = Evaluation(model, program, question.source, settings)
    with DeepRecursion(question.source):
        if isinstance(formula, PathQuantifier):
            from .single import find_path

            found = find_path(evaluation, formula, question.prop.text, holds=result.value is True)
        elif result.value:
            return None
        else:
            found = _Evidence(evaluation, formula, question.prop.text, result.strategy, most).found()
    constants = {name: value for name, value in program.constants.items() if isinstance(value, (bool, int, float))}
    return None if found is None else replace(found, constants=constants)


def _needs_strategy(model: Model, formula: Expression) -> bool:
    return model.has_choices and isinstance(formula, Probability)


@dataclass(eq=False)
class _Evidence:
    """What there is to show that a bound on a probability is not met."""

    evaluation: Evaluation
    formula: Probability
    text: str
    strategy: Strategy | None
    most: int

    def __post_init__(self) -> None:
        evaluation, formula = self.evaluation, self.formula
        self.model = evaluation.model
        bound = paths.threshold(formula, evaluation.program.constants, evaluation.source)
        assert formula.comparison is not None
        assert bound is not None
        operator = formula.comparison.operator
        above = operator in ("<", "<=")  # the probability of the formula is too large; otherwise that of its negation
        self.least = Fraction(bound) if above else 1 - Fraction(bound)
        self.strictly = operator in ("<=", ">=")
        shape = paths.shape(formula.path)
        self.single = isinstance(shape, paths.Next)
        self.low, self.high, self.through, self.goal, negated = self._until(shape)
        self.happens = above != negated
        self.shows = in_words(formula.path, holds=above)

    def _until(self, shape: paths.Path | paths.Linear) -> tuple[int, int | None, Mask, Mask, bool]:
        evaluation = self.evaluation
        everywhere = np.ones(self.model.n_states, dtype=np.bool_)
        match shape:
            case paths.Now(states):
                return 0, 0, everywhere, evaluation.mask(states), False
            case paths.Next(states):
                return 1, 1, everywhere, evaluation.mask(states), False
            case paths.Until(through, goal, _, negated):
                terms = Terms(self.model.nature, evaluation.program.constants, evaluation.source)
                low, high, _ = interval_of(shape, terms)
                end = None if high is None else int(high)
                return int(low), end, evaluation.mask(through), evaluation.mask(goal), negated
        raise TypeError(f"no single operator: {shape!r}")

    def found(self) -> Counterexample:
        """The likeliest paths; where they are too many, states."""
        start = self._start()
        search = self._search()
        probabilities = Steps(self.model, as_they_stand=self.single and not self.model.has_rates)
        total, found, length = Downward(0), list[Path](), 0
        listed = Counterexample(
            formula=self.text,
            model=self.model,
            kind="paths",
            paths=(),
            shows=self.shows,
            least=self.least,
            strictly=self.strictly,
            strategy=self.strategy,
        )
        for steps in cheapest_paths(search, start):
            path, worth = self._path(search, start, steps, probabilities)
            found.append(path)
            total, length = total + worth, length + len(path)
            if listed.passes(total.fraction) or len(found) >= self.most or length > MOST_STEPS:
                break
        complete = listed.passes(total.fraction)
        listed = replace(listed, paths=tuple(found), probability=float(total), complete=complete)
        return listed if complete else self._subsystem(listed, search, start)

    def _start(self) -> int:
        """The initial state that the property is false in; the first of several."""
        initial = self.model.initial
        if len(initial) == 1:
            return int(initial[0])
        truth = self.evaluation.truth(self.formula)
        may = np.broadcast_to(truth.may, self.model.n_states)[initial]
        return int(initial[np.flatnonzero(~may)[0] if not may.all() else 0])

    def _rows(self, step: int = 0) -> Rows:
        """The row that each state takes."""
        return np.arange(self.model.n_states) if self.strategy is None else self.strategy.rows(step)

    @property
    def _counts_steps(self) -> bool:
        return self.strategy is not None and self.strategy.steps is not None

    def _chain(self) -> Model:
        """The chain that is left, over all states."""
        if self.strategy is None:
            return self.model
        return replace(with_rows(self.model, self._rows(), None), type="dtmc")

    def _reaching(self) -> tuple[Mask, Mask]:
        """The paths that show it, without a bound, as an until."""
        if self.happens:
            return self.through, self.goal
        return self.through & ~self.goal, ~can_reach(self._chain(), self.through, self.goal)

    def _search(self) -> Search:
        if self.high is None:
            return Unbounded.of(strategy_arcs(self.model, self._rows()), *self._reaching())
        graphs = cache(lambda step: strategy_arcs(self.model, self._rows(step)))
        if not self._counts_steps:
            alone = graphs(0)
            return Staged.of(lambda _: alone, self.model.n_states, self.high, self._rule())
        return Staged.of(graphs, self.model.n_states, self.high, self._rule())

    def _rule(self) -> Callable[[int], tuple[Mask, Mask]]:
        nowhere = np.zeros(self.model.n_states, dtype=np.bool_)
        through, goal = self.through, self.goal
        if self.happens:
            return lambda step: (goal, through & ~goal) if step >= self.low else (nowhere, through)
        # Who cannot reach the goal by any choice has missed it; and so have all others at the end.
        missed = ~can_reach(self.model, through, goal)

        def rule(step: int) -> tuple[Mask, Mask]:
            if step < self.low:
                return ~through, through
            ends = ~goal if step == self.high else missed
            return ends, through & ~goal & ~ends

        return rule

    def _path(self, search: Search, start: int, steps: list[Step], probabilities: Steps) -> tuple[Path, Downward]:
        states, rows, worth, each = [start], list[int](), Downward(1), list[float]()
        for place, arc in steps:
            graph = search.arcs(place)
            row, entry = int(graph.rows[arc]), int(graph.entries[arc])
            probability = probabilities.probability(row, entry)
            worth = worth * probability
            rows.append(row)
            each.append(float(probability))
            states.append(int(graph.targets[arc]))
        return Path(tuple(states), tuple(rows), tuple(each), float(worth)), worth

    # States whose paths pass the bound.

    def _subsystem(self, listed: Counterexample, search: Search, start: int) -> Counterexample:
        """The fewest states, in the order of the likeliest path through each, that pass the bound together."""
        many = f"the first {len(listed):,} paths are not enough"
        if self.high is not None and (self._counts_steps or not self.happens):
            return replace(listed, note=f"{many}, and for this formula states alone do not show it")
        costs = search.through(start)
        order = np.argsort(costs, kind="stable")
        order = order[: int(np.isfinite(costs).sum())]
        chain = replace(self._chain(), initial=np.array([start], dtype=np.int32))
        reaching = (self.through, self.goal) if self.high is not None else self._reaching()

        def worth(count: int) -> float:
            inside = np.zeros(self.model.n_states, dtype=np.bool_)
            inside[order[:count]] = True
            return self._bounded_from_below(chain, reaching[0] & inside, reaching[1] & inside, start)

        if not listed.passes(Fraction(worth(len(order)))):
            why = "the probability is too close to the bound for states to show it"
            return replace(listed, note=f"{many}; {why}")
        low, high = 0, len(order)  # so many do not pass, so many do
        for count in _doubling(len(order)):
            if listed.passes(Fraction(worth(count))):
                high = count
                break
            low = count
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if listed.passes(Fraction(worth(middle))) else (middle, high)
        states = np.sort(order[:high]).astype(np.int32)
        return replace(listed, kind="subsystem", states=states, probability=worth(high), complete=True, note=f"{many}")

    def _bounded_from_below(self, chain: Model, through: Mask, goal: Mask, start: int) -> float:
        settings = self.evaluation.settings
        if self.high is None:
            from ..unbounded.until import until

            return float(until(chain, through, goal, None, settings).lower[start])
        from ..bounded.within_steps import bounded_until

        return float(bounded_until(chain, through, goal, self.low, self.high, None, settings).lower[start])


def _doubling(most: int) -> Iterator[int]:
    count = 1
    while count < most:
        yield count
        count *= 2
