"""Fair strategies of an MDP: those that, with probability 1, take every choice of a state again and again, for as long
as they come back to it.

What a fair run meets infinitely often is closed under all choices, with probability 1, so it is a bottom component of
the graph of all choices together (Baier and Kwiatkowska, "Model checking for a probabilistic branching time logic with
fairness", 1998). In an end component that can be left, a fair strategy may stay as long as it likes, but not for ever.
What finitely many steps decide is the same for fair strategies and for all: any beginning can be gone on with fairly.

===================================  ==================================================================================
question                             with fair strategies
===================================  ==================================================================================
greatest ``P [ a U b ]``             the same
least ``P [ a U b ]``                misses ``b`` only where it cannot be reached any more (:func:`fair_until`)
LTL                                  what is met infinitely often has to be fair (:mod:`.fair_linear`)
least ``R [ F b ]``                  the same
greatest ``R [ F b ]``               infinite where such a run may miss ``b``, or earn for as long as it likes
greatest ``R [ C ]``                 the same
least ``R [ C ]``                    the least until a bottom component without rewards
``S``, ``R [ S ]``                   runs stay in bottom components; unwanted choices there are taken ever more seldom
``A``, ``E``                         about fair paths, which choose so; what chance does may be anything
bounds in steps, ``X``               the same
===================================  ==================================================================================
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..backend.rows import owners
from ..device.arrays import is_on_host, namespace
from ..device.errors import DeviceError
from ..graph import EndComponents, bottom_components, can_reach, maximal_end_components
from ..lang.expressions import Binary, Call, Conditional, Expression, Label, Literal, Name, Unary
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
)
from ..lang.resolution import Question, parts
from ..lang.source import UnsupportedError
from ..model.sparse import Mask, Model, Rewards
from . import paths
from .inspection import Terms, UsageError, optimum_of
from .qualitative.zero_one import zero_one_until
from .quantity import Quantity
from .unbounded.rewards import reachability_reward, reward_until, rewards_by_row
from .unbounded.until import until

if TYPE_CHECKING:
    from ..solve.settings import Settings

__all__ = [
    "bottom_ends",
    "check_fair",
    "choice_of",
    "fair_ends",
    "fair_reward",
    "fair_total_reward",
    "fair_until",
    "fair_zero_one",
    "some_fair_path_avoids",
]

Rows = npt.NDArray[np.int64]

# What a fair strategy means something for. Questions that are not listed are refused.
_KNOWN = (
    *(Literal, Name, Label, Unary, Binary, Conditional, Call),
    *(Probability, Reward, ExpectedTime, SteadyState, PathQuantifier, Filter),
    *(UnaryPath, BinaryPath, AutomatonPath, Cumulative, Instantaneous, LongRun),
)


# Questions.


def check_fair(question: Question, terms: Terms, beside: Sequence[str] = ()) -> None:
    """Refuse fair strategies where they mean nothing, or are not looked for; ``beside`` are other options."""
    if not terms.nature.has_choices:
        raise UsageError("--fair is about the choices of an MDP, and this model has none; leave it away")
    if beside:
        raise UsageError(
            f"--fair and {beside[0]} do not go together: the best fair strategy, if there is one, needs memory or "
            "chance; leave one of them away"
        )
    for part in parts(question.prop.expression):
        if complaint := _complaint(part, terms):
            raise UnsupportedError(f"{complaint} for fair strategies", terms.source, part.span)


def _complaint(part: Expression, terms: Terms) -> str:
    """What keeps one operator from being answered; empty where nothing does."""
    if not isinstance(part, _KNOWN):
        return "this is not answered"
    if isinstance(part, (UnaryPath, BinaryPath)) and not paths.is_plain(part.bound):
        return "paths bounded by a reward are not answered"
    formula = part.path if isinstance(part, ExpectedTime) else part.objective if isinstance(part, Reward) else None
    if isinstance(part, (ExpectedTime, Reward)) and isinstance(formula, (UnaryPath, BinaryPath, Unary, Binary)):
        linear = isinstance(paths.shape(formula), paths.Linear)
        if linear and optimum_of(part, terms) == "max":
            return "the greatest reward until a formula of LTL is not answered"
    return ""


# Probabilities.


def fair_until(model: Model, through: Mask, goal: Mask, settings: Settings, *, negated: bool = False) -> Quantity:
    """Bound the least ``P [ through U goal ]`` of fair strategies or, ``negated``, one minus it."""
    return until(model, *_missing(model, through, goal), "max", settings, negated=not negated)


def fair_zero_one(model: Model, through: Mask, goal: Mask) -> tuple[Mask, Mask]:
    """The states where the least ``P [ through U goal ]`` of fair strategies is exactly 0, and exactly 1."""
    zero, one = zero_one_until(model, *_missing(model, through, goal), "max")
    return one, zero


def _missing(model: Model, through: Mask, goal: Mask) -> tuple[Mask, Mask]:
    """The until that happens when a fair run misses the goal: from there on the goal cannot be reached."""
    return through & ~goal, ~can_reach(model, through, goal)


# Rewards.


def fair_reward(model: Model, reward: Rewards, goal: Mask, settings: Settings) -> Quantity:
    """Bound the greatest ``R [ F goal ]`` of fair strategies in every state."""
    start = time.perf_counter()
    rows, before = rewards_by_row(model, reward), ~goal
    ends = maximal_end_components(model, before)
    paying = _paying(model, ends.component, ends.staying & (rows > 0))
    misses = ~can_reach(model, namespace(model.columns).ones_like(goal), goal)
    finite = ~can_reach(model, before, paying | misses)
    return reward_until(model, rows, goal, finite, "max", settings, time.perf_counter() - start)


def fair_total_reward(model: Model, reward: Rewards, settings: Settings) -> Quantity:
    """Bound the least ``R [ C ]`` of fair strategies in every state."""
    ends = bottom_ends(model)
    paying = _paying(model, ends.component, ends.staying & (rewards_by_row(model, reward) > 0))
    return reachability_reward(model, reward, (ends.component >= 0) & ~paying, "min", settings)


def _paying(model: Model, component: npt.NDArray[np.int32], rows: Mask) -> Mask:
    """The states of components with one of these rows."""
    xp = namespace(model.columns)
    pays = xp.zeros(int(component.max()) + 2, dtype=np.bool_)  # the last one is for states of none
    pays[component[owners(model)[xp.flatnonzero(rows)]]] = True
    pays[-1] = False
    found: Mask = pays[component]
    return found


# Components.


def bottom_ends(model: Model) -> EndComponents:
    """The bottom components of an MDP as end components: where fair runs stay."""
    found = bottom_components(model)
    return EndComponents(found.component, found.component[owners(model)] >= 0, found.count)


def some_fair_path_avoids(model: Model, moves: Model, through: Mask, goal: Mask) -> Mask:
    """Where some fair path never has ``through U goal``; ``moves`` has each transition as a choice."""
    if not is_on_host(model.columns):
        raise DeviceError("fair paths are not looked for on a device")
    staying = through & ~goal
    ends = fair_ends(moves, model, staying, np.arange(model.n_states), choice_of(model))
    return can_reach(model, staying, (ends.component >= 0) | ~(through | goal))


def choice_of(model: Model) -> Rows:
    """The choice that each transition belongs to."""
    return np.repeat(np.arange(model.n_choices), np.diff(model.row_starts))


def fair_ends(moves: Model, model: Model, within: Mask, home: Rows, choice: Rows) -> EndComponents:
    """The maximal end components that have, for each state of the model in them, all of its choices.

    These are Streett conditions, "who is met infinitely often takes it infinitely often": an end component that lacks a
    choice has to do without its state (Baier and Katoen, "Principles of model checking", 2008, section 10.6).

    ``home`` is the state of the model that each state of ``moves`` is, ``choice`` the choice that each row is.
    """
    rows_of, state_of = owners(moves), owners(model).astype(np.int64)
    several = np.diff(model.row_groups)
    while True:
        ends = maximal_end_components(moves, within)
        inside = ends.component >= 0
        staying = np.flatnonzero(ends.staying)
        taken = np.unique(ends.component[rows_of[staying]] * np.int64(model.n_choices) + choice[staying])
        places, counts = np.unique(
            taken // model.n_choices * model.n_states + state_of[taken % model.n_choices], return_counts=True
        )
        met = np.flatnonzero(inside)
        # Each state of an end component has a choice in it, so that its place is found.
        found = np.searchsorted(places, ends.component[met] * np.int64(model.n_states) + home[met])
        lacking = counts[found] < several[home[met]]
        if not lacking.any():
            return ends
        within = inside
        within[met[lacking]] = False
