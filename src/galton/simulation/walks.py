"""Where the paths of a question walk: through the program itself, or through a model of it.

A question with a bound needs no state space. Without one, paths that can never settle it would go on for ever: so the
model is built where it is small, and its graph says from where the question is settled. Where it is not small, paths
are cut after a number of steps, and those that are count for both ends of the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..checking.automaton_reading import Reading, reading_of
from ..checking.evaluation import Evaluation
from ..checking.exploration import is_plain
from ..explore import LimitError, build
from ..graph import zero_and_one
from ..lang.program import Program, RewardStructure
from ..lang.resolution import Question
from ..model.random_paths import MOST_STEPS, Batch, ModelPaths, PathQuestion, Sample, SimulationError
from ..model.sparse import Model
from ..solve.settings import Settings
from .asked import Asked
from .chains import uniform_chain
from .program_paths import LOOPS, ProgramPaths, time_structure
from .rare import Earnings

__all__ = ["SMALL", "Walk", "of_model", "of_program"]

LONG = 80  # characters of a state that is named in passing
SMALL = 200_000  # states of a model whose graph is looked at before paths are followed


class Paths(Protocol):
    """Who follows paths; ``device`` is where, and ``trouble`` what went wrong there."""

    device: str
    trouble: str

    def earnings(self) -> tuple[float, float, float, float]:
        """The least and the most that a state earns, and that a step does."""

    def sample(self, question: PathQuestion, batch: Batch) -> Sample:
        """Follow these paths until the question is settled for each."""


@dataclass(frozen=True, eq=False)
class Walk:
    """Paths, and what is asked of each.

    Attributes
    ----------
    question
        In terms of the core.
    about
        The initial state, in words.
    where
        What the paths walk through, in words.
    infinite
        Whether the graph shows that a reward is infinite.
    """

    paths: Paths
    question: PathQuestion
    about: str
    where: str
    infinite: bool = False

    def earnings(self, asked: Asked) -> tuple[float, float]:
        """The least and the most that a path can earn."""
        earned = Earnings(*self.paths.earnings())
        if asked.kind == "instant":
            return earned.within(1, steps=0)
        return earned.within(asked.high, steps=math.inf if asked.timed else asked.high)


def of_program(
    asked: Asked, context: Program, question: Question, *, longest: int, small: int = SMALL, device: bool = False
) -> Walk:
    """Where the paths of a program walk; on a ``device`` through the program wherever that can be."""
    plain = all(is_plain(part, context) for part in asked.states)
    reading = None
    if asked.linear is not None:
        reading = reading_of(question, context)
    readable = asked.linear is None or reading is not None
    settles = reading is None or reading.verdicts.cosafe or reading.verdicts.safe or reading.rewarded
    followed = plain and readable and settles and not asked.total
    if (asked.is_open and not (device and followed)) or not plain or not readable:
        linear_reward = asked.linear is not None and asked.kind == "reached"
        if not linear_reward:
            try:
                model = build(_asked_alone(context, asked), max_states=small)
                return of_model(asked, model, context, question)
            except LimitError as error:
                if not followed:
                    raise SimulationError(_too_large(asked, plain, settles)) from error
    if not readable:
        raise SimulationError(
            "rewards until a formula of linear time holds are only followed where it is about variables"
        )
    return _through(context, asked, reading, longest, device)


def _too_large(asked: Asked, plain: bool, settles: bool) -> str:
    if asked.total:
        why = "when no more reward can come is a matter of its graph"
    elif not plain:
        why = 'where "init" and "deadlock" hold is a matter of its graph'
    elif not settles:
        why = "no finite path settles this formula, only the components of its graph do"
    else:
        why = "what the automaton would read cannot be read along a path"
    return f"the model has more than {SMALL:,} states, and {why}: this cannot be estimated"


def _asked_alone(context: Program, asked: Asked) -> Program:
    """The program without the rewards that nobody asks for."""
    if asked.kind == "until" or asked.structure is None:
        return replace(context, rewards=())
    return context


def _through(context: Program, asked: Asked, reading: Reading | None, longest: int, device: bool) -> Walk:
    rewards: tuple[RewardStructure, ...] = ()
    if asked.kind != "until":
        structure = time_structure()
        if asked.structure is not None:
            structure = context.rewards[context.reward_names.index(asked.structure)]
        rewards = (structure,)
    paths = ProgramPaths(
        context,
        goal=asked.goal,
        through=asked.through,
        rewards=rewards,
        reading=reading,
        find_loops=LOOPS if asked.is_open else 0,
    )
    if len(paths.initial) > 1:
        raise SimulationError(_several(len(paths.initial)))
    about = _about(str(paths.state(paths.initial[0])))
    question = _question(asked, longest if asked.is_open else MOST_STEPS)
    where = "the program, without its state space"
    if not device:
        return Walk(paths, question, about, where)
    from .on_device import DeviceFirst

    return Walk(DeviceFirst(paths, question), question, about, where)


def _about(state: str) -> str:
    return f"the initial state {state}" if len(state) <= LONG else "the initial state"


def _several(count: int) -> str:
    return f"the model has {count:,} initial states, and an estimate is about one: give init … endinit one state"


def _question(asked: Asked, longest: int) -> PathQuestion:
    return PathQuestion(asked.kind, asked.timed, asked.low, asked.high, longest)


def of_model(asked: Asked, model: Model, context: Program, question: Question) -> Walk:
    """Where the paths of a chain that is built walk; an MDP is one whose choices are all equally likely."""
    model = model.to_host()
    if len(model.initial) > 1:
        raise SimulationError(_several(len(model.initial)))
    state = int(model.initial[0])
    about = _about(str(state if model.states is None else model.states[state]))
    where = f"a model of {model.n_states:,} states"
    if model.has_choices:
        model = uniform_chain(model)
    evaluation = Evaluation(model, context, question.source, Settings())
    if asked.linear is not None:
        from ..checking.ltl import settled_product

        if asked.kind == "reached":
            raise SimulationError("rewards until a formula of linear time holds are only followed through programs")
        product, zero, one = settled_product(evaluation, asked.linear)
        return Walk(ModelPaths(product, goal=one, through=~zero), PathQuestion("until"), about, where)
    everywhere = np.ones(model.n_states, dtype=np.bool_)
    goal = np.zeros_like(everywhere) if asked.goal is None else evaluation.mask(asked.goal)
    through = everywhere if asked.through is None else evaluation.mask(asked.through)
    if asked.kind == "until":
        if asked.is_open:
            # Who can never come to the goal cannot do so later either; who surely will does so after a bound, too.
            zero, goal = zero_and_one(model, through, goal, None)
            through = through & ~zero
        return Walk(ModelPaths(model, goal=goal, through=through), _question(asked, MOST_STEPS), about, where)
    reward = _reward(model, asked)
    infinite = False
    if asked.total:
        from ..graph import can_reach

        goal = ~can_reach(model, everywhere, reward != 0)
    if asked.kind == "reached":
        _, one = zero_and_one(model, everywhere, goal, None)
        infinite = not bool(one[state])
    return Walk(ModelPaths(model, goal=goal, reward=reward), _question(asked, MOST_STEPS), about, where, infinite)


def _reward(model: Model, asked: Asked) -> npt.NDArray[np.float64]:
    """What each state earns in a step or a unit of time, with the mean of what its transitions earn."""
    if asked.structure is None:
        return np.ones(model.n_states)
    rewards = model.rewards[asked.structure]
    found = np.zeros(model.n_states)
    if rewards.state is not None and rewards.state.size:
        found += rewards.state
    if rewards.choice is not None and rewards.choice.size and asked.kind != "instant":
        found += rewards.choice
    return found
