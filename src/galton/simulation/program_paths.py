"""Random paths through a program, whose state space is never built: it may be far too large, or have no end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..backend.cpu import explorer
from ..backend.failures import explain
from ..backend.limits import Limits
from ..checking.automaton_reading import Reading
from ..checking.exploration import closed
from ..lang.depth import DeepRecursion
from ..lang.expressions import Expression, Literal
from ..lang.program import Program, RewardItem, RewardStructure
from ..lang.source import GaltonError, Span
from ..lower.lowering import Lowered, lower
from ..model.random_paths import Batch, Follow, PathQuestion, Sample, Watch, follow_limits
from ..model.states import PackedStates, State
from ..model.traces import Traces

LOOPS = 4  # steps in place after which it is worth a look whether a path is stuck

if TYPE_CHECKING:
    from ..backend.cuda.simulator import DevicePaths

__all__ = ["LOOPS", "ProgramPaths", "Successor", "initial_states", "time_structure"]

_NOWHERE = Span(0, 0)
_OPEN, _REJECTS, _ACCEPTS = 3, 0, 1  # verdicts of the core


@dataclass(frozen=True)
class Successor:
    """A way on from a state: its action, how likely or fast it is, and where it leads."""

    choice: int
    action: str
    probability: float
    state: State
    words: tuple[int, ...]


def time_structure() -> RewardStructure:
    """A reward of 1 for each step or unit of time."""
    return RewardStructure("", (RewardItem(False, None, Literal(True), Literal(1), _NOWHERE),), _NOWHERE)


def initial_states(lowered: Lowered, program: Program) -> list[list[int]]:
    """The words of the initial states."""
    if program.initial is not None:
        with DeepRecursion(program.source):
            reader = None if lowered.reader is None else lowered.reader.automaton
            only = lower(replace(program, rewards=()), Literal(True), reader)  # nobody asks what follows
        _, words = explorer.discover(only, threads=1, limits=Limits.choose(None, None))
        found: list[list[int]] = words.tolist()
        return found
    first = [0] * lowered.words
    for field, variable in zip(lowered.fields, lowered.program.variables, strict=True):
        first[field.word] |= (variable.initial - field.low) << field.shift
    return [first]


class ProgramPaths:
    """Random paths of one program, for one question."""

    device = "cpu"
    trouble = ""

    def __init__(
        self,
        program: Program,
        *,
        goal: Expression | None = None,
        through: Expression | None = None,
        rewards: Sequence[RewardStructure] = (),
        reading: Reading | None = None,
        find_loops: int = 0,
    ):
        """``find_loops`` says how often a path stays in place before a state is looked at that it may never leave."""
        if program.open_constants:
            names = ", ".join(program.open_constants)
            raise GaltonError(f"constants without a value: {names}; give them with --const")
        made_of = {"goal": goal, "through": through, "rewards": tuple(rewards), "reading": reading}
        self._made_of = {"program": program, **made_of, "find_loops": find_loops}
        conditions = {name: part for name, part in (("goal", goal), ("through", through)) if part is not None}
        reader = None if reading is None else replace(reading.reader, final=np.zeros_like(reading.reader.final))
        self.program = replace(program, rewards=tuple(rewards))
        with DeepRecursion(program.source):
            plain = {name: closed(part, program) for name, part in conditions.items()}
            lowered = lower(replace(self.program, labels=plain), None, reader)
        self.lowered = lowered
        self._labels = list(lowered.labels)
        self._verdicts = [] if reading is None else _verdicts(reading)
        self.initial = initial_states(lowered, self.program)
        self._find_loops = find_loops
        self._core = explorer.to_core(lowered)

    def __reduce__(self) -> tuple[object, ...]:
        return _paths_of, (self._made_of,)  # the core's part does not travel

    def earnings(self) -> tuple[float, float, float, float]:
        """The least and the most that a state earns, and that a step does: by the ranges of expressions."""
        found = [0.0, 0.0, 0.0, 0.0]
        for item in self.lowered.rewards:
            node, place = self.lowered.graph[item.value], 0 if item.action < 0 else 2
            if node.maybe_nan or item.structure:
                return -math.inf, math.inf, -math.inf, math.inf
            found[place] += min(node.low, 0.0)  # the guard may not hold
            found[place + 1] += max(node.high, 0.0)
        return found[0], found[1], found[2], found[3]

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
        nature = self.program.nature
        question, _ = follow_limits(paths, steps, time, nature.is_continuous)
        found = (follow or self.follow)(question, seed, paths)
        order = np.lexsort((found["step"], found["path"]))
        words = found["states"].reshape(-1, self.lowered.words)[order]
        actions = found["actions"][order].tolist()
        names = self.program.reward_names
        of_states, of_steps = (
            {name: values[order] for name, values in zip(names, found[kind], strict=True)}
            for kind in ("state_rewards", "step_rewards")
        )
        return Traces(
            path=found["path"][order],
            step=found["step"][order],
            time=found["time"][order],
            states=PackedStates(self.lowered.fields, np.ascontiguousarray(words)),
            actions=tuple("" if action < 0 else self.lowered.actions[action] for action in actions),
            state_rewards=of_states,
            step_rewards=of_steps,
            seed=seed,
            continuous=nature.is_continuous,
        )

    def follow(self, question: PathQuestion, seed: int, paths: int, first: int = 0) -> dict[str, Any]:
        """All that some paths meet, as the core tells it."""
        return self._run(question, seed, first, paths, 1, True, None)

    def on_device(self, question: PathQuestion) -> DevicePaths:
        """Paths on the current CUDA device, for one question."""
        from ..backend.cuda.simulator import DevicePaths

        verdicts, loops = self._verdicts, self._find_loops
        return DevicePaths(self.lowered, self.initial, question, verdicts=verdicts, find_loops=loops)

    def state(self, words: Sequence[int]) -> State:
        """What a state is, from its words."""
        return State({field.name: field.decode(words[field.word]) for field in self.lowered.fields})

    def successors(self, words: Sequence[int]) -> list[Successor]:
        """All ways on from a state, in the order of the program; none from one that cannot move."""
        found = _core.list_successors(self._core, list(words))
        self._raise(found)
        ways = []
        for number, (action, branches) in enumerate(found["choices"]):
            for probability, target in branches:
                name = self.lowered.actions[action]
                ways.append(Successor(number, name, probability, self.state(target), tuple(target)))
        return ways

    def _run(
        self, question: PathQuestion, seed: int, first: int, count: int, threads: int, traced: bool, watch: Watch | None
    ) -> dict[str, Any]:
        found = _core.simulate_program(
            self._core,
            initial=[word for state in self.initial for word in state],
            goal=self._labels.index("goal") if "goal" in self._labels else -1,
            through=self._labels.index("through") if "through" in self._labels else -1,
            verdicts=self._verdicts,
            find_loops=self._find_loops,
            question=question.for_core,
            seed=seed,
            first=first,
            count=count,
            threads=threads,
            traced=traced,
            watch=watch,
        )
        self._raise(found)
        return found

    def _raise(self, found: dict[str, Any]) -> None:
        if "fault" in found:
            raise explain(found, self.lowered, Limits())


def _paths_of(made_of: dict[str, Any]) -> ProgramPaths:
    return ProgramPaths(**made_of)


def _verdicts(reading: Reading) -> list[int]:
    """What each state of the automaton decides about a path that comes to it."""
    accepting, rejecting = reading.verdicts.accepting, reading.verdicts.rejecting
    if reading.rewarded:  # what is sure has to be read
        automaton = reading.automaton
        accepting = np.array([automaton.accepts_everything(q) for q in range(automaton.n_states)])
    found: list[int] = np.where(accepting, _ACCEPTS, np.where(rejecting, _REJECTS, _OPEN)).tolist()
    return found
