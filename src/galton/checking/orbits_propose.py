"""Symmetries propose, all states prove: numbers of orbits, lifted to a set of states that is explored in full.

A model that is too large for a matrix may have symmetries, and its orbits a matrix. The numbers found there are lifted
to all states, with weights besides, and one sweep over all states proves bounds around them
(:func:`galton.solve.matrix_free.prove_proposal`). So the answer rests on nothing that is said of symmetries, which
makes it a test of these, too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..backend import CPU
from ..backend.limits import Limits
from ..backend.protocol import Optimum
from ..lang.program import Program
from ..lang.resolution import Question
from ..lang.source import GaltonError
from ..model.sparse import Rewards
from ..solve.settings import Settings
from .looks import looks_of
from .quantity import Work
from .reducing import Reduced
from .symmetry import symmetry_left

if TYPE_CHECKING:
    from ..lower.lowering import Lowered
    from .matrix_free import Reachability

__all__ = ["Proposal", "proposal_for"]

EPS = 1e-11  # of the numbers that are proposed
WEIGHT_EPS = 1e-6
ROOM = 1.1  # weights are so much larger than the number of steps: w >= 1 + Aw, though they are not exact
MOST_STATES = 50_000_000  # orbits, which the CPU looks at


@dataclass(frozen=True, eq=False)
class Proposal:
    """The program whose states are orbits, and for each of them a number and a weight, ``(states, 2)``."""

    lowered: Lowered
    values: np.ndarray
    work: Work


def proposal_for(
    program: Program, question: Question, asked: Reachability, *, full: bool, threads: int
) -> Proposal | None:
    """What symmetries propose for all states; None where there are none, or where they have nothing to say."""
    from ..lower.symmetry import Symmetries
    from .matrix_free import lowered_for

    start = time.perf_counter()
    symmetry = symmetry_left(Symmetries(program), looks_of(program, question))
    if symmetry.orbits is None:
        return None
    lowered = lowered_for(program, asked, Reduced(symmetry=symmetry), full=full)
    if lowered.orbits is None:
        return None
    try:
        found = _values(lowered, asked, threads)
    except GaltonError:  # too large, or too hard: a proposal is only one way to an answer
        return None
    if found is None:
        return None
    detail = f"the numbers of {len(found):,} orbits, lifted to all states"
    return Proposal(lowered, found, Work("proposal", detail, seconds=time.perf_counter() - start))


def _values(lowered: Lowered, asked: Reachability, threads: int) -> np.ndarray | None:
    from .unbounded.rewards import reachability_reward
    from .unbounded.until import until

    model = CPU.explorer.explore(lowered, threads=threads, limits=Limits.choose(MOST_STATES))
    settings = Settings(eps=EPS, threads=threads)
    goal = model.labels["goal"]
    through = model.labels.get("through", np.ones_like(goal))
    settled = goal | ~through
    if asked.structure is None:
        found = until(model, through, goal, asked.optimum, settings)
        settled |= found.upper == 0
    else:
        structure = next(iter(model.rewards.values()))
        found = reachability_reward(model, structure, goal, asked.optimum, settings)
    each_step = Rewards(state=np.ones(model.n_states))
    longest: Optimum | None = "max" if model.has_choices else None
    weights = reachability_reward(model, each_step, settled, longest, Settings(eps=WEIGHT_EPS, threads=threads)).upper
    with np.errstate(invalid="ignore"):  # infinite rewards: no proposal
        values = np.stack([found.lower + (found.upper - found.lower) / 2, ROOM * weights], axis=1)
    values[settled, 1] = 0.0
    return values if np.isfinite(values).all() else None
