"""A property over boxes of parameters: time-bounded CSL and rewards, one operator inside the other.

Every formula gives each state bounds, or a truth that is sure, possible or excluded, for all points of a box at once.
An inner threshold that a box leaves undecided in some state is taken as false for the lower bound of the operator
around it and as true for the upper one, which is right because untils grow with their operands.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..checking import paths
from ..checking.evaluation import Evaluation
from ..checking.intervals import Truth
from ..device.arrays import namespace, on_host
from ..graph import can_reach
from ..lang.expressions import Binary, Expression, Name, Unary
from ..lang.program import Program
from ..lang.properties import Comparison, Cumulative, Instantaneous, Probability, Reward, children
from ..lang.resolution import Question, is_state_formula, parts
from ..lang.source import LanguageError, Source, UnsupportedError
from ..lang.stream import nearest
from ..model.sparse import Mask
from ..solve.settings import Settings
from .lumping import lumped
from .parametric_ctmc import ParametricModel
from .polynomials import Decomposition, Floats
from .transient import LANES, Enclosure, PhaseRows, RowsOnCpu, transient
from .transitions import Int32s, Multiples
from .truncation import leaving, likely_states, within

Operator = Probability | Reward
LARGE = 1 << 15  # states: the vectors of a bundle then take 8 MB
BYTES, SHARE = 64, 0.7  # for a state in a box: two vectors of bounds, sums, and room; of the memory that is free
PATIENCE = 1.5  # seconds on the CPU: about what setting up a device takes
CLOSE_BOUNDS = 8  # times what was left out: closer bounds around a threshold are found without leaving out anything
WORTH_A_WINDOW = 0.05  # seconds that a bundle takes without
SPEED = 1.5e9  # entries of the matrix times boxes that a thread goes over in a second
MOST_KEPT = 64  # sets of states whose rows are kept for later boxes

__all__ = ["Asked", "Bundle", "Operator", "operator_of", "refuse_parameters"]


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
class Asked:
    """One operator of a property, about the initial state of a parametric model.

    ``boxes`` and ``steps`` count what was done so far; ``watch`` is told now and then, and may raise to stop. Where a
    device gives up, the CPU goes on and ``instead`` says why. If it ``moves``, boxes are looked at on the CPU as long
    as that promises to take no longer than setting up a device, and there from then on. ``format`` is that of the
    matrix on a device. Bounds may be wider by ``leaves``, if that makes the model much smaller, as long as they are not
    close around a ``threshold``.
    """

    model: ParametricModel
    program: Program
    source: Source
    operator: Operator
    threads: int = 1
    device: Literal["cpu", "cuda"] = "cpu"
    moves: bool = False
    format: str | None = None
    leaves: float = 0.0
    threshold: float = math.nan
    instead: str | None = None
    watch: Callable[[], None] | None = None
    boxes: int = 0
    steps: int = 0
    _rows: dict[bytes, PhaseRows] = field(default_factory=dict)
    _masks: dict[Expression, Mask] = field(default_factory=dict)
    _stop: bool = False
    _whole: ParametricModel | None = None  # where the model is a window of it
    _unlikely: float = 0.0  # what leaving it may be worth, at most
    _spent: float = 0.0
    _worked: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._prepare(self.operator)
        self.model = lumped(self.model, list(self._marks(self.operator)))
        self._masks.clear()
        if self.leaves and self._is_flat():
            self._look_through_a_window()

    # Boxes.

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """``(boxes,)`` bounds that hold at all points of each box, whose corners are ``(boxes, parameters)``."""
        work = self._work(high) if self.moves else 0.0
        if self.moves and self._spent + self._seconds(work) > PATIENCE:
            self._move()
        if self.device == "cuda":
            from ..device.errors import DeviceError, device_errors

            try:
                with device_errors("there is not enough memory on the device"):
                    return self._bounds(low, high)
            except DeviceError as error:
                self.instead = f"{error}; the CPU went on"
                self.device = "cpu"
                self._rows.clear()
        start = perf_counter()
        found = self._bounds(low, high)
        self._spent, self._worked = self._spent + perf_counter() - start, self._worked + work
        return found

    def _work(self, high: Floats) -> float:
        """Entries of the matrix that boxes go over, if none of them ends early."""
        _, upper = self.model.terms.bounds(high, high)
        steps = self._everything.rates(np.maximum(upper, 0.0)) * self._horizon(self.operator)
        return float(steps.sum()) * len(self.model.columns)

    def _seconds(self, work: float) -> float:
        """What that will take on the CPU, as long as it took so far."""
        return work * self._spent / self._worked if self._worked else work / (SPEED * self.threads)

    def _move(self) -> None:
        """To a device, if there is one."""
        from ..device.cuda.runtime import import_cupy
        from ..device.errors import DeviceError

        self.moves = False
        try:
            import_cupy()
        except DeviceError:
            return
        self.device = "cuda"
        self._rows.clear()

    def _bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        lower, upper = self.model.terms.bounds(low, high)
        lower, upper = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
        # Those with about as many steps to make go together.
        order = np.argsort(-self._everything.rates(upper), kind="stable").astype(np.int32)
        bundles = [order[first : first + self._together] for first in range(0, len(order), self._together)]
        # Threads have a bundle each, or share one where two would be too much for the cache.
        side_by_side = self.device == "cpu" and len(bundles) > 1 and self.model.n_states <= LARGE
        share = 1 if side_by_side else self.threads
        found = np.empty((2, len(low)))
        self._stop = False

        def solve(which: Int32s) -> None:
            answer = self._operator(self.operator, Bundle(lower[:, which], upper[:, which], share), self.model.initial)
            found[0, which], found[1, which] = answer.lower[0], answer.upper[0]

        if not side_by_side or self.threads == 1:
            for bundle in bundles:
                solve(bundle)
        else:
            with ThreadPoolExecutor(min(self.threads, len(bundles))) as pool:
                try:
                    for future in [pool.submit(solve, bundle) for bundle in bundles]:
                        while not _finished(future):
                            self._look()
                except BaseException:
                    self._stop = True
                    raise
        around = (found[0] <= self.threshold) & (self.threshold <= found[1])
        if self._whole is not None and (around & (found[1] - found[0] <= CLOSE_BOUNDS * self._unlikely)).any():
            self._look_at(self._whole, 0.0)  # what was left out begins to matter
            self._whole = None
            return self._bounds(low, high)
        self.boxes += len(low)
        return found[0], found[1]

    @property
    def _together(self) -> int:
        """The boxes of a bundle: on a device no more than fit, with what has to be known of each state."""
        if self.device == "cpu":
            return LANES
        from ..backend.cuda.regions import RegionRows
        from ..device.cuda.runtime import free_memory, import_cupy

        room = int(SHARE * free_memory(import_cupy()) / (BYTES * self.model.n_states))
        return max(1, min(RegionRows.together(self.model.n_states, len(self.model.terms)), room))

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
        path, low, high = self._path(formula)
        through, goal = self._truth(path.through, bundle), self._truth(path.goal, bundle)
        found = self._wider(self._until(through, goal, low, high, bundle, watched))
        xp = namespace(found.lower)
        if path.negated:  # what is exactly 0 is exactly 1 then
            lower = xp.where(found.upper > 0, 1 - found.upper - 2.0**-53, 1.0)
            found = Enclosure(lower, xp.where(found.lower > 0, 1 - found.lower + 2.0**-53, 1.0), found.steps)
        return Enclosure(xp.clip(found.lower, 0.0, 1.0), xp.clip(found.upper, 0.0, 1.0), found.steps)

    def _reward(self, formula: Reward, bundle: Bundle, watched: Int32s | None) -> Enclosure:
        values, earning, time = self._rewards(formula, bundle)
        over = isinstance(formula.objective, Cumulative)
        return self._wider(self._run(earning, bundle, values, time, watched, over=over))

    def _wider(self, found: Enclosure) -> Enclosure:
        """Bounds with what happens outside of the states that are looked at."""
        return Enclosure(found.lower, found.upper + self._unlikely, found.steps)

    def _rewards(self, formula: Reward, bundle: Bundle) -> tuple[tuple[Floats, Floats], Mask, float]:
        """Bounds on what states earn, the states from which something can be earned, and until when."""
        structure, time = self._earned(formula)
        lower, upper = structure.bounds(bundle.lower, bundle.upper)
        earning = can_reach(self.model.graph, self._all, structure.coefficients > 0)
        return (lower * (1 - 2.0**-51), upper * (1 + 2.0**-51)), earning, time

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

    def _is_flat(self) -> bool:
        """Whether no operator is inside another: then nothing is asked but of the initial state."""
        return sum(isinstance(part, (Probability, Reward)) for part in parts(self.operator)) == 1

    def _look_through_a_window(self) -> None:
        """Leave out the states that are unlikely to be visited, where that is worth it and can be proved."""
        time = self._horizon(self.operator)
        if self._seconds(LANES * self._work(self.model.space[1][None])) < WORTH_A_WINDOW:
            return
        window = likely_states(self.model, time)
        if window is None:
            return
        unlikely = leaving(self.model, window, time, self.threads) * self._worth()
        if unlikely <= self.leaves:
            self._whole = self.model
            self._look_at(within(self.model, window), unlikely)

    def _look_at(self, model: ParametricModel, unlikely: float) -> None:
        """Another model of the same, which differs with a probability that is bounded."""
        self.model, self._unlikely = model, unlikely
        self._rows.clear()
        self._masks.clear()
        for made in ("_everything", "_all"):
            vars(self).pop(made, None)

    def _worth(self) -> float:
        """The most that a path can be worth."""
        if isinstance(self.operator, Probability):
            return 1.0
        structure, time = self._earned(self.operator)
        low, high = self.model.space
        _, most = structure.bounds(*self.model.terms.bounds(low[None], high[None]))
        over = isinstance(self.operator.objective, Cumulative)
        return float(most.max()) * (time if over else 1.0) * (1 + 2.0**-50)

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
        return PhaseRows(self.model, active, self._kernel)

    @property
    def _kernel(self) -> Any:
        if self.device == "cpu":
            return RowsOnCpu
        from ..backend.cuda.regions import RegionRows

        return partial(RegionRows, format=self.format)

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
                bound = paths.threshold(expression, self.program.constants, self.source)
                assert bound is not None
                return _compared(expression.comparison, self._operator(expression, bundle, None), bound)
        raise self._unsupported(expression)

    def _unsupported(self, expression: Expression) -> UnsupportedError:
        return UnsupportedError("this cannot stand inside an operator in a synthesis", self.source, expression.span)

    def _mask(self, expression: Expression) -> Mask:
        with self._lock:
            if expression not in self._masks:
                evaluation = Evaluation(self.model.model, self.program, self.source, Settings(threads=1))
                mask, chosen = evaluation.mask(expression), self.model.representatives
                own = mask if chosen is None else mask[chosen] & (chosen >= 0)
                self._masks[expression] = np.ascontiguousarray(own)
            return self._masks[expression]

    # What is asked, checked before anything is solved.

    def _prepare(self, expression: Expression) -> None:
        """Find what is wrong with a property now, and not after minutes."""
        match expression:
            case Probability():
                path, _, _ = self._path(expression)
                self._prepare(path.through)
                self._prepare(path.goal)
            case Reward():
                self._earned(expression)
            case _ if not is_state_formula(expression):
                for part in children(expression):
                    self._prepare(part)

    def _marks(self, expression: Expression) -> Iterator[npt.NDArray[Any]]:
        """What a formula sees of the states: formulas about them, and what they earn."""
        match expression:
            case Reward():
                earned, _ = self._earned(expression)
                yield np.where(earned.coefficients > 0, earned.terms, -1)
                yield earned.coefficients
            case Probability():
                path, _, _ = self._path(expression)
                yield from self._marks(path.through)
                yield from self._marks(path.goal)
            case _ if is_state_formula(expression):
                yield self._mask(expression)
            case Unary("!") | Binary("&" | "|" | "=>" | "<=>"):
                for part in children(expression):
                    yield from self._marks(part)
            case _:
                raise self._unsupported(expression)

    def _path(self, formula: Probability) -> tuple[paths.Until, float, float]:
        path = paths.normalise(formula.path, self.source)
        if not isinstance(path, paths.Until):
            message = "only untils with a time bound, F, G and U, are supported in a synthesis"
            raise UnsupportedError(message, self.source, formula.span)
        if path.bound is not None and path.bound.reward is not None:
            raise UnsupportedError("paths bounded by a reward are not supported", self.source, formula.span)
        low, high = paths.times(path.bound, self.program.constants, self.source)
        if math.isinf(high):
            raise LanguageError(
                "the synthesis of a CTMC needs a time bound",
                self.source,
                formula.span,
                "as in F<=100 … or a U[10,20] b",
            )
        return path, low, high

    def _horizon(self, formula: Operator) -> float:
        """The time that an operator looks ahead."""
        return self._path(formula)[2] if isinstance(formula, Probability) else self._earned(formula)[1]

    def _earned(self, formula: Reward) -> tuple[Multiples, float]:
        """The rewards that are meant, and until when."""
        match formula.objective:
            case Cumulative(bound) if bound is not None:
                structures, time = self.model.total_rewards, bound
            case Instantaneous(moment):
                structures, time = self.model.state_rewards, moment
            case _:
                raise LanguageError(
                    "the synthesis of a CTMC needs a time bound",
                    self.source,
                    formula.span,
                    "as in R=? [ C<=100 ] or R=? [ I=100 ]",
                )
        return structures[self._structure(formula)], paths.time(time, self.program.constants, self.source)

    def _structure(self, formula: Reward) -> str:
        names = list(self.model.state_rewards)
        if not names:
            raise LanguageError("the model has no rewards", self.source, formula.span)
        match formula.structure:
            case None:
                return names[0]
            case str() as name:
                if name not in names:
                    raise LanguageError(
                        f'unknown reward structure "{name}"', self.source, formula.span, nearest(name, names)
                    )
                return name
            case index:
                number = paths.constant(index, self.program.constants, self.source)
                if not 1 <= number <= len(names):
                    have = "1 reward structure" if len(names) == 1 else f"{len(names)} reward structures"
                    message = f"the model has {have}, and this is number {number}"
                    raise LanguageError(message, self.source, index.span)
                return names[int(number) - 1]


def _finished(future: object) -> bool:
    """Whether a job is done, waiting a moment; what went wrong in it is raised here."""
    from concurrent.futures import Future, TimeoutError

    assert isinstance(future, Future)
    try:
        future.result(timeout=0.1)
    except TimeoutError:
        return False
    return True


def _columns(truth: Truth) -> Truth:
    """A truth with boxes as its last axis, for those that are the same in all of them as well."""
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
