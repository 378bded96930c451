"""Where a chain is after some time, or after a number of steps: its distribution, moved forward.

A CTMC moves by adaptive uniformisation over the states that hold mass (:mod:`galton.solve.adaptive_uniformisation`);
what is lost on the way is counted. A DTMC makes one product after the other; nothing is lost, and rounding is relative
to each number, because nothing is subtracted (Higham 2002, chapter 3): a step has a product and a sum for each
transition into a state, and its probabilities are rounded once. Where a step changes c in all states together, no later
one changes more; so the rest is not made where it comes to little.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...backend.steps import exit_rates, part_of
from ...lang.model_types import ModelType, nature_of
from ...lang.source import GaltonError
from ...model.rounding import LEAST, UNIT
from ...model.sparse import Model
from ...solve.adaptive_uniformisation import Distribution, Effort, MovingChain
from ...solve.settings import Settings
from ...solve.step_limits import be_patient
from ..bounded.question import BoundError
from .distribution import StateDistribution

Floats = npt.NDArray[np.float64]

__all__ = ["refuse_choices", "start_of", "transient_distributions"]

LOOK = 64  # steps after which to see whether anything still moves


def refuse_choices(type: ModelType) -> None:
    """Raise an error for models that are in no single place."""
    if nature_of(type).has_choices:
        raise GaltonError(
            "an MDP has no distribution over its states before choices are made: let galton check find Pmin and Pmax, "
            "or in Python ask about the chain that a strategy leaves, galton.transient(strategy.induced(), …)"
        )


def start_of(model: Model) -> Distribution:
    """The initial state or, where there are several, each of them with the same probability."""
    initial = np.sort(model.initial)
    return Distribution(initial, np.full(len(initial), 1 / len(initial)), error=0.0 if len(initial) == 1 else UNIT)


def transient_distributions(model: Model, times: Sequence[float], settings: Settings) -> Iterator[StateDistribution]:
    """Find the distributions at times, or after numbers of steps, that ascend; one after the other.

    No probability is off by more than about ``settings.eps``.
    """
    refuse_choices(model.type)
    if not times or times[0] < 0 or not all(map(math.isfinite, times)):
        raise BoundError("times are finite, and not negative")
    return (_in_time if model.is_continuous else _in_steps)(model, times, settings)


def _in_time(model: Model, times: Sequence[float], settings: Settings) -> Iterator[StateDistribution]:
    rates = exit_rates(model, settings.n_threads, loops=False)
    chain = MovingChain(model, np.ones(model.n_states, dtype=np.bool_), rates, settings)
    now, before, effort = start_of(model), 0.0, Effort()
    for time in times:
        if time > before:
            gone = time - before
            now = chain.after(gone, now, 0.3 * settings.eps / len(times), effort)
            # The difference of two times is rounded, and in so much time no more than that moves.
            now = replace(now, unsettled=now.unsettled + chain.fastest() * math.ulp(gone))
            before = time
        probabilities = np.zeros(model.n_states)
        probabilities[now.states] = now.mass
        yield StateDistribution(model, probabilities, time, now.error * 1.01, now.lost * 1.01, now.unsettled * 1.01)


def _in_steps(model: Model, times: Sequence[float], settings: Settings) -> Iterator[StateDistribution]:
    if any(time != int(time) for time in times):
        raise BoundError("a DTMC moves in steps, which are counted in whole numbers")
    forward = model.to_scipy().T.tocsr()
    widest = int(np.diff(forward.indptr).max(initial=0))
    start = start_of(model)
    begun = np.zeros(model.n_states)
    begun[start.states] = start.mass
    part = part_of(model, None, 1)
    x: Floats = begun
    done, elsewhere = 0, 0.0
    for steps in map(int, times):
        while done < steps and not elsewhere:
            before, x = x, np.asarray(forward @ x)
            done += 1
            if done % LOOK == 0:
                # What differs is itself rounded, by a little for all states together.
                change = float(np.abs(x - before).sum()) + 2 * (widest + 4) * UNIT
                left = (int(times[-1]) - done) * change
                elsewhere = left * 1.01 if left <= 0.3 * settings.eps else 0.0
                settings.tell(iterations=done, horizon=int(times[-1]))
                be_patient(done, int(times[-1]), model.n_transitions, model.n_states)
        error = math.expm1(1.01 * (done + 1) * (widest + 3) * UNIT) if done else start.error
        if not elsewhere and part.is_exact(done, begun):
            yield StateDistribution(model, x.copy(), float(steps), start.error)
            continue
        yield StateDistribution(model, x.copy(), float(steps), error, done * model.n_transitions * LEAST, elsewhere)
