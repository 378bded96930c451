"""Random paths through a model that is built: which way they go is a matter of its matrix alone.

In a state with several choices each of them is as likely as the others; a strategy makes a chain of an MDP first. The
core (``src/core/simulate``) walks; what path number i of a seed does depends on nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _core
from ..lang.source import GaltonError
from .states import ListedStates, PackedStates
from .traces import Traces

if TYPE_CHECKING:
    from .sparse import Mask, Model

__all__ = [
    "FOLLOW",
    "KINDS",
    "Batch",
    "Follow",
    "Inducing",
    "ModelPaths",
    "PathQuestion",
    "Sample",
    "SimulationError",
    "follow_limits",
]

KINDS = {"until": 0, "reached": 1, "cumulative": 2, "instant": 3, "follow": 4}
FOLLOW = "follow"
MOST_ROWS = 50_000_000  # of traces
DEFAULT_STEPS = 100
MOST_STEPS = 2**48 - 2  # the counter of random numbers has no more

Watch = Callable[[int], None]
Follow = Callable[["PathQuestion", int, int], dict[str, Any]]  # the seed, and how many paths


class Inducing(Protocol):
    """What leaves a chain of an MDP: a strategy."""

    def induced(self) -> Model:
        """The chain."""


class SimulationError(GaltonError):
    """Something that random paths cannot tell, or too many of them."""


@dataclass(frozen=True)
class PathQuestion:
    """What paths are followed for; see ``src/core/simulate/question.hpp``.

    ``low`` and ``high`` are numbers of steps or, where ``timed``, times. After ``most_steps`` a path is cut.
    """

    kind: str
    timed: bool = False
    low: float = 0.0
    high: float = math.inf
    most_steps: int = MOST_STEPS

    @property
    def for_core(self) -> tuple[int, bool, float, float, int]:
        """What the core takes."""
        return KINDS[self.kind], self.timed, float(self.low), float(self.high), self.most_steps


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Paths to follow: ``count`` of those of a seed, from number ``first`` on, on so many threads of the CPU.

    ``watch`` is told now and then how many are done.
    """

    seed: int
    first: int = 0
    count: int
    threads: int = 1
    watch: Watch | None = None


@dataclass(frozen=True, eq=False)
class Sample:
    """What came of paths, each at the place of its number.

    Attributes
    ----------
    verdicts
        1 where what is asked holds, 0 where not, 2 where the path was cut before that was known.
    values
        What was earned.
    steps
        How many steps the path took.
    """

    verdicts: npt.NDArray[np.uint8]
    values: npt.NDArray[np.float64]
    steps: npt.NDArray[np.uint64]


def follow_limits(
    paths: int, steps: float | None, time: float | None, continuous: bool
) -> tuple[PathQuestion, float | None]:
    """The question of paths that are only to be looked at, and a limit on steps beside one on time."""
    if steps is not None and time is not None:
        raise SimulationError("a path ends after a number of steps or at a time: give one of them")
    if time is not None and not continuous:
        raise SimulationError("this model has no time, only steps: give their number instead")
    if (
        paths < 1
        or (steps is not None and not 0 <= steps <= MOST_STEPS)
        or (time is not None and not 0 <= time < math.inf)
    ):
        raise SimulationError("numbers of paths, steps and times are not negative, and there is at least one path")
    if time is not None:
        return PathQuestion(FOLLOW, timed=True, high=time, most_steps=MOST_ROWS), time
    high = float(DEFAULT_STEPS if steps is None else math.floor(steps))
    if paths * (high + 1) > MOST_ROWS:
        raise SimulationError(
            f"{paths:,} paths of {high:,.0f} steps would be a table of more than {MOST_ROWS:,} rows; ask for fewer"
        )
    return PathQuestion(FOLLOW, high=high), None


class ModelPaths:
    """Random paths of one model.

    Examples
    --------
    >>> import galton
    >>> chain = galton.Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]])
    >>> sample = ModelPaths(chain, goal=chain.labels["init"]).sample(PathQuestion("until"), Batch(seed=1, count=3))
    >>> sample.verdicts.tolist()
    [1, 1, 1]
    """

    device = "cpu"
    trouble = ""

    def __init__(
        self,
        model: Model,
        *,
        goal: Mask | None = None,
        through: Mask | None = None,
        reward: npt.NDArray[np.float64] | None = None,
    ):
        """``reward`` is what each state earns, for a step or a unit of time; without it, traces have all structures."""
        self._made_of = goal, through, reward
        self.model = model = model.to_host()
        self._goal, self._through = _bytes(goal), _bytes(through)
        names = list(model.rewards) if reward is None else [""]
        of_states = [_numbers(model.rewards[name].state) for name in names] if reward is None else [reward]
        of_choices = [_numbers(model.rewards[name].choice) for name in names] if reward is None else []
        self._names = names
        self._reward = reward
        self._core = _core.walkable(
            rates=model.has_rates,
            choice_starts=np.empty(0, np.int32) if model.choice_starts is None else model.choice_starts,
            row_starts=np.ascontiguousarray(model.row_starts, dtype=np.int64),
            columns=model.columns,
            values=np.ascontiguousarray(model.values.array(), dtype=np.float64),
            initial=model.initial,
            state_rewards=of_states,
            choice_rewards=of_choices,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _paths_of, (self.model, *self._made_of)  # the core's part does not travel

    def earnings(self) -> tuple[float, float, float, float]:
        """The least and the most that a state earns, and that a step does."""
        if self._reward is None or not len(self._reward):
            return -math.inf, math.inf, -math.inf, math.inf
        return float(self._reward.min()), float(self._reward.max()), 0.0, 0.0

    def sample(self, question: PathQuestion, batch: Batch) -> Sample:
        """Follow these paths until the question is settled for each."""
        found = self._run(question, batch.seed, batch.first, batch.count, batch.threads, False, batch.watch)
        return Sample(found["verdicts"], found["values"], found["steps"])

    def traces(
        self,
        *,
        paths: int = 1,
        steps: float | None = None,
        time: float | None = None,
        seed: int = 0,
        follow: Follow | None = None,
    ) -> Traces:
        """Follow paths, or have them followed, and keep all that they meet."""
        model = self.model
        question, _ = follow_limits(paths, steps, time, model.is_continuous)
        found = (follow or self.follow)(question, seed, paths)
        order = np.lexsort((found["step"], found["path"]))
        numbers = found["states"][order]
        choices = found["actions"][order].tolist()
        rewards = [[values[order] for values in found[kind]] for kind in ("state_rewards", "step_rewards")]
        return Traces(
            path=found["path"][order],
            step=found["step"][order],
            time=found["time"][order],
            states=_named(model, numbers),
            actions=tuple("" if choice < 0 else model.action(choice) for choice in choices),
            state_rewards=dict(zip(self._names, rewards[0], strict=True)),
            step_rewards=dict(zip(self._names, rewards[1], strict=True)),
            seed=seed,
            continuous=model.is_continuous,
        )

    def follow(self, question: PathQuestion, seed: int, paths: int, first: int = 0) -> dict[str, Any]:
        """All that some paths meet, as the core tells it."""
        return self._run(question, seed, first, paths, 1, True, None)

    def _run(
        self, question: PathQuestion, seed: int, first: int, count: int, threads: int, traced: bool, watch: Watch | None
    ) -> dict[str, Any]:
        return _core.simulate_model(
            self._core,
            goal=self._goal,
            through=self._through,
            question=question.for_core,
            seed=seed,
            first=first,
            count=count,
            threads=threads,
            traced=traced,
            watch=watch,
        )


def _paths_of(
    model: Model, goal: Mask | None, through: Mask | None, reward: npt.NDArray[np.float64] | None
) -> ModelPaths:
    return ModelPaths(model, goal=goal, through=through, reward=reward)


def _bytes(mask: Mask | None) -> npt.NDArray[np.uint8]:
    return np.empty(0, np.uint8) if mask is None else mask.astype(np.uint8)


def _numbers(values: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64]:
    return np.empty(0) if values is None else np.ascontiguousarray(values, dtype=np.float64)


def _named(model: Model, numbers: npt.NDArray[np.uint64]) -> PackedStates | ListedStates | npt.NDArray[np.uint64]:
    states = model.states
    if isinstance(states, PackedStates):
        return PackedStates(states.fields, np.ascontiguousarray(states.words[numbers]))
    if isinstance(states, ListedStates):
        return ListedStates(states.variables, [states[int(number)] for number in numbers])
    return numbers
