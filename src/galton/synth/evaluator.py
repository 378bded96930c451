"""Bounds on the answer to a question about a parametric CTMC, for many boxes of parameters at once.

Every formula gives each state bounds, or a truth that is sure, possible or excluded, for all points of a box at once.
An inner threshold that a box leaves undecided in some state is taken as false for the lower bound of the operator
around it and as true for the upper one, which is right because untils grow with their operands.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..backend import CPU
from ..checking.evaluation import Evaluation
from ..checking.intervals import Truth
from ..device.arrays import namespace, on_host
from ..device.errors import DeviceError, device_errors
from ..graph import can_reach
from ..lang.expressions import Binary, Expression, Unary
from ..lang.properties import Comparison, Probability, Reward
from ..lang.resolution import is_state_formula
from ..model.sparse import Mask
from ..solve.settings import Settings
from .lumping import lumped
from .parametric_ctmc import ParametricModel
from .placement import Place
from .polynomials import Floats
from .question import Asked, Operator
from .transient import Enclosure, PhaseRows, transient
from .transitions import Int32s, Multiples
from .truncation import likely_states, probability_to_leave, truncated

CLOSE_BOUNDS = 8  # times what was left out: closer bounds around a threshold are found without leaving out anything
WORTH_TRUNCATING = 0.05  # seconds that a bundle takes on the CPU, with all states
MOST_KEPT = 64  # sets of states whose rows are kept for later boxes

__all__ = ["BackwardEvaluator", "Bundle", "Evaluator"]


class Evaluator(Protocol):
    """Bounds on the number that is asked for.

    Attributes
    ----------
    place
        Where boxes are looked at.
    watch
        Called now and then; may raise to stop.
    boxes, steps
        What was done so far: boxes looked at, and steps of uniformisation, or solves in discrete time.
    """

    place: Place
    watch: Callable[[], None] | None
    boxes: int
    steps: int

    @property
    def model(self) -> object:
        """What is looked at, after all that made it smaller; its text says how large it is."""

    @property
    def space(self) -> tuple[Floats, Floats]:
        """The corners of the ranges of the parameters."""

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """``(boxes,)`` bounds that hold at all points of each box, whose corners are ``(boxes, parameters)``."""


@dataclass(frozen=True, eq=False)
class Bundle:
    """Boxes that are looked at together: the ranges of the terms, ``(terms, boxes)``."""

    lower: Floats
    upper: Floats
    threads: int

    @property
    def size(self) -> int:
        return len(self.lower[0])

    def some(self, which: Int32s) -> Bundle:
        return Bundle(self.lower[:, which], self.upper[:, which], self.threads)


@dataclass(eq=False)
class BackwardEvaluator:
    """Bounds for a CTMC, backward from the goal; see :class:`Evaluator`.

    States that the question cannot tell apart are one in ``model``, and unlikely ones are left out of it where that is
    worth it. ``format`` is that of the matrix on a device, and ``together`` the number of boxes in a bundle; both are
    chosen where they are None.
    """

    model: ParametricModel
    asked: Asked
    place: Place
    threads: int = 1
    format: str | None = None
    together: int | None = None
    watch: Callable[[], None] | None = None
    boxes: int = 0
    steps: int = 0
    _rows: dict[bytes, PhaseRows] = field(default_factory=dict)
    _masks: dict[Expression, Mask] = field(default_factory=dict)
    _stop: bool = False
    _whole: ParametricModel | None = None  # where the model lacks unlikely states
    _unlikely: float = 0.0  # what they may be worth, at most
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.model = lumped(self.model, list(self._marks()))
        self._masks.clear()
        if self.asked.slack and self.asked.is_flat:
            self._truncate()

    @property
    def space(self) -> tuple[Floats, Floats]:
        """The corners of the ranges of the parameters."""
        return self.model.space

    # Boxes.

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """``(boxes,)`` bounds that hold at all points of each box, whose corners are ``(boxes, parameters)``."""
        work = self._work(high) if self.place.undecided else 0.0
        if self.place.decide(work):
            self._rows.clear()
        if self.place.placement.backend != "cpu":
            try:
                with device_errors("there is not enough memory on the device"):
                    return self._bounds(low, high)
            except DeviceError as error:
                self.place.failed(error)
                self._rows.clear()
        start = perf_counter()
        found = self._bounds(low, high)
        self.place.worked(work, perf_counter() - start)
        return found

    def _work(self, high: Floats) -> float:
        """Entries of the matrix that boxes go over, if none of them ends early."""
        _, upper = self.model.terms.bounds(high, high)
        steps = self._everything.rates(np.maximum(upper, 0.0)) * self.asked.horizon
        return float(steps.sum()) * len(self.model.columns)

    def _bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        regions = self.place.backend.regions
        lower, upper = self.model.terms.bounds(low, high)
        lower, upper = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
        # Those with about as many steps to make go together.
        order = np.argsort(-self._everything.rates(upper), kind="stable").astype(np.int32)
        size = regions.together(self.model.n_states, len(self.model.terms), self.together)
        bundles = [order[first : first + size] for first in range(0, len(order), size)]
        at_once = min(regions.bundles_at_once(self.model.n_states, self.threads), len(bundles))
        found = np.empty((2, len(low)))

        def solve(which: Int32s) -> None:
            bundle = Bundle(lower[:, which], upper[:, which], self.threads if at_once <= 1 else 1)
            answer = self._operator(self.asked.operator, bundle, self.model.initial)
            found[0, which], found[1, which] = answer.lower[0], answer.upper[0]

        self._solve_all(solve, bundles, at_once)
        threshold = self.asked.threshold
        around = (found[0] <= threshold) & (threshold <= found[1])
        if self._whole is not None and (around & (found[1] - found[0] <= CLOSE_BOUNDS * self._unlikely)).any():
            self._look_at(self._whole, 0.0)  # what was left out begins to matter
            self._whole = None
            return self._bounds(low, high)
        self.boxes += len(low)
        return found[0], found[1]

    def _solve_all(self, solve: Callable[[Int32s], None], bundles: list[Int32s], at_once: int) -> None:
        """All bundles, some at the same time; this thread goes on watching."""
        self._stop = False
        if at_once <= 1:
            for bundle in bundles:
                solve(bundle)
            return
        with ThreadPoolExecutor(at_once) as pool:
            try:
                for future in [pool.submit(solve, bundle) for bundle in bundles]:
                    while not _finished(future):
                        self._look()
            except BaseException:
                self._stop = True
                raise

    @cached_property
    def _everything(self) -> PhaseRows:
        return PhaseRows(self.model, self._all)

    def _look(self) -> None:
        if self.watch is not None:
            self.watch()

    def _tell(self, _: int) -> None:
        if self._stop:
            raise InterruptedError
        if threading.current_thread() is threading.main_thread():
            self._look()

    # Operators.

    def _operator(self, formula: Operator, bundle: Bundle, watched: Int32s | None) -> Enclosure:
        found = (
            self._probability(formula, bundle, watched)
            if isinstance(formula, Probability)
            else self._reward(formula, bundle, watched)
        )
        with self._lock:
            self.steps += found.steps
        return found

    def _probability(self, formula: Probability, bundle: Bundle, watched: Int32s | None) -> Enclosure:
        path = self.asked.path(formula)
        through, goal = self._truth(path.through, bundle), self._truth(path.goal, bundle)
        found = self._wider(self._until(through, goal, path.low, path.high, bundle, watched))
        xp = namespace(found.lower)
        if path.negated:  # what is exactly 0 is exactly 1 then
            lower = xp.where(found.upper > 0, 1 - found.upper - 2.0**-53, 1.0)
            found = Enclosure(lower, xp.where(found.lower > 0, 1 - found.lower + 2.0**-53, 1.0), found.steps)
        return Enclosure(xp.clip(found.lower, 0.0, 1.0), xp.clip(found.upper, 0.0, 1.0), found.steps)

    def _reward(self, formula: Reward, bundle: Bundle, watched: Int32s | None) -> Enclosure:
        values, earning = self._rewards(formula, bundle)
        asked = self.asked.earning(formula)
        return self._wider(self._run(earning, bundle, values, asked.time, watched, over=asked.over))

    def _wider(self, found: Enclosure) -> Enclosure:
        """Bounds with what happens outside of the states that are looked at."""
        return Enclosure(found.lower, found.upper + self._unlikely, found.steps)

    def _rewards(self, formula: Reward, bundle: Bundle) -> tuple[tuple[Floats, Floats], Mask]:
        """Bounds on what states earn, and the states from which something can be earned."""
        structure = self._earned(formula)
        lower, upper = structure.bounds(bundle.lower, bundle.upper)
        earning = can_reach(self.model.graph, self._all, structure.coefficients > 0)
        return (lower * (1 - 2.0**-51), upper * (1 + 2.0**-51)), earning

    def _until(
        self, through: Truth, goal: Truth, low: float, high: float, bundle: Bundle, watched: Int32s | None
    ) -> Enclosure:
        """P [ through U[low,high] goal ], box by box where the operands are not the same for all."""
        masks = [np.atleast_2d(mask.T) for mask in (through.must, goal.must, through.may, goal.may)]
        if all(len(mask) == 1 for mask in masks):
            sure, possible = (masks[0][0], masks[1][0]), (masks[2][0], masks[3][0])
            return self._between(sure, possible, low, high, bundle, watched)
        masks = [np.broadcast_to(mask, (bundle.size, self.model.n_states)) for mask in masks]
        alike: dict[bytes, list[int]] = {}
        for box in range(bundle.size):
            alike.setdefault(b"".join(mask[box].tobytes() for mask in masks), []).append(box)
        count = self.model.n_states if watched is None else len(watched)
        found, steps = np.empty((2, count, bundle.size)), 0
        for boxes in alike.values():
            which = np.array(boxes, dtype=np.int32)
            own = [mask[boxes[0]] for mask in masks]
            part = self._between((own[0], own[1]), (own[2], own[3]), low, high, bundle.some(which), watched)
            found[0][:, which], found[1][:, which] = on_host(part.lower), on_host(part.upper)
            steps += part.steps
        return Enclosure(found[0], found[1], steps)

    def _between(
        self,
        sure: tuple[Mask, Mask],
        possible: tuple[Mask, Mask],
        low: float,
        high: float,
        bundle: Bundle,
        watched: Int32s | None,
    ) -> Enclosure:
        """The lower bound of what is sure, and the upper bound of what is possible."""
        least = self._exactly(*sure, low, high, bundle, watched)
        if all((a == b).all() for a, b in zip(sure, possible, strict=True)):
            return least
        most = self._exactly(*possible, low, high, bundle, watched)
        return Enclosure(least.lower, most.upper, least.steps + most.steps)

    def _exactly(
        self, through: Mask, goal: Mask, low: float, high: float, bundle: Bundle, watched: Int32s | None
    ) -> Enclosure:
        """P [ through U[low,high] goal ] for known sets: first what happens from ``low`` on, then the time before."""
        start = goal.astype(np.float64)[:, None]
        matter = can_reach(self.model.graph, through, goal) & ~goal
        later = self._run(matter, bundle, (start, start), high - low, watched if low == 0 else None)
        if low == 0:
            return later
        xp = namespace(later.lower)
        begin = tuple(xp.where(xp.asarray(through)[:, None], values, 0.0) for values in (later.lower, later.upper))
        matter = can_reach(self.model.graph, through, on_host(begin[1].max(axis=1) > 0)) & through
        found = self._run(matter, bundle, (begin[0], begin[1]), low, watched)
        return Enclosure(found.lower, found.upper, found.steps + later.steps)

    def _earned(self, formula: Reward) -> Multiples:
        """What states earn, of the structure that is meant."""
        asked = self.asked.earning(formula)
        return (self.model.total_rewards if asked.over else self.model.state_rewards)[asked.structure]

    # A smaller model.

    def _marks(self) -> Iterator[npt.NDArray[Any]]:
        """What the question sees of the states: formulas about them, and what they earn."""
        for part in self.asked.state_formulas():
            if isinstance(part, Reward):
                earned = self._earned(part)
                yield np.where(earned.coefficients > 0, earned.terms, -1)
                yield earned.coefficients
            else:
                yield self._mask(part)

    def _truncate(self) -> None:
        """Leave out the states that are unlikely to be visited, where that is worth it and can be proved."""
        time, lanes = self.asked.horizon, CPU.regions.together(self.model.n_states, len(self.model.terms))
        if self.place.seconds(lanes * self._work(self.model.space[1][None])) < WORTH_TRUNCATING:
            return
        likely = likely_states(self.model, time)
        if likely is None:
            return
        unlikely = probability_to_leave(self.model, likely, time, self.threads) * self._worth()
        if unlikely <= self.asked.slack:
            self._whole = self.model
            self._look_at(truncated(self.model, likely), unlikely)

    def _look_at(self, model: ParametricModel, unlikely: float) -> None:
        """Go on with another model, whose answer is less than that of the whole one by at most ``unlikely``."""
        self.model, self._unlikely = model, unlikely
        self._rows.clear()
        self._masks.clear()
        for made in ("_everything", "_all"):
            vars(self).pop(made, None)

    def _worth(self) -> float:
        """The most that a path can be worth."""
        operator = self.asked.operator
        if isinstance(operator, Probability):
            return 1.0
        asked = self.asked.earning(operator)
        low, high = self.model.space
        _, most = self._earned(operator).bounds(*self.model.terms.bounds(low[None], high[None]))
        return float(most.max()) * (asked.time if asked.over else 1.0) * (1 + 2.0**-50)

    def _run(
        self,
        active: Mask,
        bundle: Bundle,
        start: tuple[Floats, Floats],
        time: float,
        watched: Int32s | None,
        *,
        over: bool = False,
    ) -> Enclosure:
        rows = self._phase(active)
        terms = bundle.lower, bundle.upper
        return transient(rows, terms, start, time, over=over, watched=watched, threads=bundle.threads, tell=self._tell)

    def _phase(self, active: Mask) -> PhaseRows:
        key = np.packbits(active).tobytes()
        with self._lock:
            if key not in self._rows:
                if len(self._rows) >= MOST_KEPT:
                    self._rows.clear()
                self._rows[key] = self._rows_of(active)
            return self._rows[key]

    def _rows_of(self, active: Mask) -> PhaseRows:
        return PhaseRows(self.model, active, self.place.backend.regions, self.format)

    # Formulas about states.

    @cached_property
    def _all(self) -> Mask:
        return np.ones(self.model.n_states, dtype=bool)

    def _truth(self, expression: Expression, bundle: Bundle) -> Truth:
        """Where a formula is sure, and where it is possible, ``(states,)`` or ``(states, boxes)``."""
        if is_state_formula(expression):
            return Truth.exactly(self._mask(expression))
        match expression:
            case Unary("!", operand):
                return ~self._truth(operand, bundle)
            case Binary("&" | "|" | "=>" | "<=>" as operator, left, right):
                first, second = (_columns(self._truth(part, bundle)) for part in (left, right))
                if operator == "<=>":
                    return first.iff(second)
                return first & second if operator == "&" else (~first if operator == "=>" else first) | second
            case Probability() | Reward() if expression.comparison is not None:
                bound = self.asked.bound(expression)
                return _compared(expression.comparison, self._operator(expression, bundle, None), bound)
        raise self.asked.unsupported(expression)

    def _mask(self, expression: Expression) -> Mask:
        with self._lock:
            if expression not in self._masks:
                evaluation = Evaluation(self.model.model, self.asked.program, self.asked.source, Settings(threads=1))
                mask, chosen = evaluation.mask(expression), self.model.representatives
                own = mask if chosen is None else mask[chosen] & (chosen >= 0)
                self._masks[expression] = np.ascontiguousarray(own)
            return self._masks[expression]


def _finished(future: Future[None]) -> bool:
    """Whether a job is done, waiting a moment; what went wrong in it is raised here."""
    try:
        future.result(timeout=0.1)
    except NotYetError:
        return False
    return True


def _columns(truth: Truth) -> Truth:
    """A truth with boxes as its last axis, one for all boxes where they do not differ."""
    return truth if np.ndim(truth.must) == 2 else Truth(truth.must[:, None], truth.may[:, None])


def _compared(comparison: Comparison, found: Enclosure, bound: float) -> Truth:
    lower, upper = on_host(found.lower), on_host(found.upper)
    match comparison.operator:
        case ">=":
            return Truth(lower >= bound, upper >= bound)
        case ">":
            return Truth(lower > bound, upper > bound)
        case "<=":
            return Truth(upper <= bound, lower <= bound)
    return Truth(upper < bound, lower < bound)
