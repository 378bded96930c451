"""Enough random paths for an answer: an interval for a number, a sequential test for a threshold."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..model.random_paths import Batch, ModelPaths, Sample, SimulationError
from .asked import Asked
from .intervals import Sprt, clopper_pearson, half_width, paths_for, student
from .program_paths import ProgramPaths
from .rare import FEW, Common, mean_of_rare
from .result import Estimate
from .sharing import SharedPaths
from .walks import Walk

__all__ = ["Plan", "estimated"]

PILOT = 10_000  # paths that tell how far rewards are apart
BATCH = 1 << 20  # paths at a time
FIRST_TESTED, MOST_TESTED = 1 << 10, 1 << 17  # paths that a sequential test is given at a time
MOST_PATHS = 10**9
DEFAULT_WIDTH = 0.01  # of probabilities; of means, as a part of them
CUT = 2  # a verdict
RESERVE = 0.2  # of the error that a confidence allows

EXACT = "Clopper–Pearson"
MEAN = "Student's t"
RARE = "Clopper–Pearson, for how often rewards differ"
TEST = "Wald's sequential test"


@dataclass(frozen=True)
class Plan:
    """How sure and how close an estimate has to be, and by how many paths.

    Attributes
    ----------
    confidence
        How likely the answer has to be right.
    width
        Of the whole interval; of a threshold, of the values around it for which either answer will do. None for 0.01
        or, of rewards, a hundredth of the mean.
    paths
        How many to follow, where that is not to be found out.
    threads
        Of this machine or, with an executor, of each worker.
    watch
        Told now and then how many paths have been followed.
    executor
        Who follows them, if others do.
    """

    confidence: float = 0.95
    width: float | None = None
    paths: int | None = None
    seed: int = 0
    threads: int = 1
    watch: Callable[[int], None] | None = None
    executor: Executor | None = None

    @property
    def level(self) -> float:
        """The confidence of intervals: a fifth of the error allowed is kept in reserve.

        Means are not quite normal, and random numbers are multiples of 2^-53.
        """
        return 1 - (1 - self.confidence) * (1 - RESERVE)

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise SimulationError(f"a confidence lies between 0 and 1, and this is {self.confidence:g}")
        if self.width is not None and not 0 < self.width < math.inf:
            raise SimulationError(f"the width of an interval is more than 0, and this is {self.width:g}")
        if self.paths is not None and not 2 <= self.paths <= MOST_PATHS:
            raise SimulationError(f"the number of paths is between 2 and {MOST_PATHS:,}, and this is {self.paths:,}")
        if self.paths is not None and self.width is not None:
            raise SimulationError("a width says how many paths are needed: give it or the number of paths, not both")
        if not 0 <= self.seed < 2**64:
            raise SimulationError("a seed is a whole number from 0 to 2^64 - 1")


@dataclass
class _Count:
    """Paths so far, and the steps they took."""

    paths: int = 0
    steps: int = 0
    cut: int = 0


def estimated(asked: Asked, walk: Walk, plan: Plan, formula: str) -> Estimate:
    """Follow paths until the answer is close enough."""
    if asked.is_probability and plan.width is not None and plan.width >= 1:
        raise SimulationError(f"the width of an interval for a probability is below 1, and this is {plan.width:g}")
    begun = time.perf_counter()
    count = _Count()
    if plan.executor is not None and isinstance(walk.paths, (ProgramPaths, ModelPaths)):
        walk = replace(walk, paths=SharedPaths(walk.paths, plan.executor))
    lower: float | None
    upper: float | None
    if walk.infinite:
        value, lower, upper = math.inf, math.inf, math.inf
        method, assumption = "graph", "the goal is not reached with probability 1, so the mean has no bound"
    elif asked.is_probability and asked.threshold is not None and plan.paths is None:
        return _tested(asked, walk, plan, formula, count, begun)
    elif asked.is_probability:
        paths = plan.paths or paths_for(plan.width or DEFAULT_WIDTH, plan.level)
        hits = sum(int(_hits(asked, sample).sum()) for sample in _samples(walk, plan, paths, count))
        lower, upper = clopper_pearson(hits, paths, plan.level, unknown=count.cut)
        value = (hits + count.cut / 2) / paths
        method, assumption = EXACT, "paths are independent"
    else:
        value, lower, upper, others = _mean(asked, walk, plan, count)
        method, assumption = MEAN, f"the mean of {count.paths:,} paths is nearly normal"
        if others is not None and others < FEW:
            method, assumption = (
                RARE,
                f"nothing but independent paths, of which {others:,} earned anything out of the common",
            )
    found: bool | float | None = value
    if asked.comparison is not None:
        assert asked.threshold is not None
        found = _decided(asked.comparison.operator, asked.threshold, lower, upper)
    return Estimate(
        formula=formula,
        value=found,
        lower=lower,
        upper=upper,
        confidence=plan.confidence,
        paths=count.paths,
        steps=count.steps,
        cut=count.cut,
        method=method,
        assumption=assumption,
        about=walk.about,
        seed=plan.seed,
        seconds=time.perf_counter() - begun,
        device=walk.paths.device,
        warnings=_warnings(count, walk),
    )


def _samples(walk: Walk, plan: Plan, paths: int, count: _Count, first: int = 0) -> Iterator[Sample]:
    """So many paths, a batch at a time."""
    done = 0
    while done < paths:
        size = min(BATCH, paths - done)
        batch = Batch(
            seed=plan.seed, first=first + done, count=size, threads=plan.threads, watch=_watched(plan, count.paths)
        )
        sample = walk.paths.sample(walk.question, batch)
        done += size
        count.paths += size
        count.steps += int(sample.steps.sum())
        count.cut += int((sample.verdicts == CUT).sum())
        yield sample


def _watched(plan: Plan, before: int) -> Callable[[int], None] | None:
    """Whom to tell of the paths of a batch, after so many before it."""
    watch = plan.watch
    return None if watch is None else lambda done: watch(before + done)


def _hits(asked: Asked, sample: Sample) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = sample.verdicts == (0 if asked.negated else 1)
    return found


def _decided(operator: str, threshold: float, lower: float, upper: float) -> bool | None:
    """Whether all of an interval is on one side of a threshold."""
    if lower > threshold or (lower == threshold and operator in (">=", "<")):
        return operator in (">", ">=")
    if upper < threshold or (upper == threshold and operator in ("<=", ">")):
        return operator in ("<", "<=")
    return None


def _warnings(count: _Count, walk: Walk) -> tuple[str, ...]:
    """What a person should know about the answer."""
    trouble = (walk.paths.trouble,) if walk.paths.trouble else ()
    if not count.cut:
        return trouble
    told = (
        f"{count.cut:,} of {count.paths:,} paths were cut after {walk.question.most_steps:,} steps without an answer, "
        "and count for both ends of the interval; --path-length allows longer ones"
    )
    return *trouble, told


def _tested(asked: Asked, walk: Walk, plan: Plan, formula: str, count: _Count, begun: float) -> Estimate:
    """A sequential test; of paths that were cut, two: in one they are hits, in the other not."""
    assert asked.threshold is not None
    assert asked.comparison is not None
    half = (plan.width or DEFAULT_WIDTH) / 2
    as_hits, as_misses = (Sprt(asked.threshold, half, plan.confidence) for _ in range(2))
    size = FIRST_TESTED
    while as_hits.answer is None or as_misses.answer is None:
        if count.paths >= MOST_PATHS:
            raise SimulationError(f"{MOST_PATHS:,} paths do not decide this; raise --width, or lower --confidence")
        for sample in _samples(walk, plan, size, count, count.paths):
            hits = _hits(asked, sample)
            as_hits.feed(hits | (sample.verdicts == CUT))
            as_misses.feed(hits)
        size = min(2 * size, MOST_TESTED)
        if count.cut and as_hits.answer and as_misses.answer is False:
            break
    above = as_hits.answer if as_hits.answer == as_misses.answer else None
    value = None if above is None else above == (asked.comparison.operator in (">", ">="))
    low, high = as_hits.low, as_hits.high
    return Estimate(
        formula=formula,
        value=value,
        lower=None,
        upper=None,
        confidence=plan.confidence,
        paths=count.paths,
        steps=count.steps,
        cut=count.cut,
        method=TEST,
        assumption=f"the probability is not between {low:g} and {high:g}; if it is, either answer may come",
        about=walk.about,
        seed=plan.seed,
        seconds=time.perf_counter() - begun,
        device=walk.paths.device,
        warnings=_warnings(count, walk),
    )


@dataclass
class _Moments:
    """The mean of numbers, and how far they are apart, by Welford's way (1962), a batch at a time."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, values: npt.NDArray[np.float64]) -> None:
        if not len(values):
            return
        mean = float(values.mean())
        squares = float(((values - mean) ** 2).sum())
        total = self.count + len(values)
        apart = mean - self.mean
        self.squares += squares + apart * apart * self.count * len(values) / total
        self.mean += apart * len(values) / total
        self.count = total

    @property
    def deviation(self) -> float:
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0


def _mean(asked: Asked, walk: Walk, plan: Plan, count: _Count) -> tuple[float, float, float, int | None]:
    """The mean of what paths earn, its interval, and how many paths earned anything out of the common.

    A pilot tells how many paths it takes; all of them together give the interval.
    """
    moments, common = _Moments(), Common()

    def follow(paths: int) -> bool:
        for sample in _samples(walk, plan, paths, count, count.paths):
            if count.cut:
                raise SimulationError(
                    f"{count.cut:,} of {count.paths:,} paths did not end within {walk.question.most_steps:,} steps, so "
                    "that nothing can be said about their mean; --path-length allows longer ones"
                )
            endless = sample.verdicts == 0 if asked.kind == "reached" else ~np.isfinite(sample.values)
            if endless.any():
                return False
            moments.add(sample.values)
            common.add(sample.values)
        return True

    if not follow(plan.paths or PILOT):
        return math.inf, math.inf, math.inf, None  # a path that can never end has a positive probability
    if plan.paths is None:
        width = plan.width or DEFAULT_WIDTH * abs(moments.mean)
        more = _needed(width, moments, plan.level) - moments.count
        if more > 0 and not follow(more):
            return math.inf, math.inf, math.inf, None
    lower, upper = student(moments.mean, moments.deviation, moments.count, plan.level)
    if common.others < FEW:
        lower, upper = mean_of_rare(common, plan.level, walk.earnings(asked))
    return moments.mean, lower, upper, common.others


def _needed(width: float, moments: _Moments, confidence: float) -> int:
    """The number of paths after which the interval of a mean is about so wide."""
    needed = moments.count
    if width == 0 or moments.deviation == 0:
        return needed
    while (ratio := 2 * half_width(moments.deviation, needed, confidence) / width) > 1:
        needed = max(needed + 1, math.ceil(needed * ratio**2))
        if needed > MOST_PATHS:
            raise SimulationError(
                f"an interval of width {width:g} would take {needed:,} paths: what they earn is about "
                f"{moments.deviation:g} apart; ask for a larger --width"
            )
    return needed
