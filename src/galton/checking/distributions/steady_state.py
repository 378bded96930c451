"""Where a chain is in the long run: its stationary distribution, with a bound on how far off it is.

Anybody may propose the distribution v of a bottom component; it is proved like this. Let π be the true one, A a set of
states, z one state of the component, and m(s) the time that is expected until z is met from s. Poisson's equation
h - P h = f - π(f), for f the indicator of A, has a solution h with h(z) = 0 that is the expected sum of f - π(f) until
z is met, so that |h(s)| <= m(s). Hence v(A) - π(A) = v (I - P) h, which is at most Σ |r(s)| m(s) with r = v (I - P):
what the balance equations leave over. In continuous time the same holds of the rates (Meyn and Tweedie 1993, chapter
17).

m comes with an upper bound that is proved; so the bound on v holds for all sets of states at once.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...device.arrays import offsets
from ...graph import bottom_components
from ...model.errors import NumericError
from ...model.rounding import UNIT
from ...model.sparse import Model, Rewards
from ...reduce.submodels import entries_of, picked
from ...solve.settings import Settings
from ..stationary import stationary_distribution
from ..unbounded.rewards import reachability_reward
from ..unbounded.until import until
from .distribution import StateDistribution
from .transient import refuse_choices, start_of

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]

__all__ = ["steady_state_distribution"]

SMALL = 20_000  # states whose balance equations are eliminated; more are swept over
PRECISELY, MOST_SWEEPS = 1e-12, 100_000


def steady_state_distribution(model: Model, settings: Settings) -> StateDistribution:
    """Find the share of time, or of steps, that a chain spends in each state in the long run.

    Where there are several initial states, each is as likely as the others.
    """
    refuse_choices(model.type)
    components = bottom_components(model)
    start = start_of(model)
    probabilities, elsewhere, rounding = np.zeros(model.n_states), 0.0, 0.0
    everywhere = np.ones(model.n_states, dtype=np.bool_)
    for k in range(components.count):
        members = np.sort(components.order[components.starts[k] : components.starts[k + 1]])
        low = high = 1.0
        if components.count > 1:
            inside = np.zeros(model.n_states, dtype=np.bool_)
            inside[members] = True
            reached = until(model, everywhere, inside, None, replace(settings.tighter(4), method=None, relative=False))
            slack = (len(start.mass) + 8) * UNIT
            low = float(start.mass @ reached.lower[start.states]) * (1 - slack)
            high = min(float(start.mass @ reached.upper[start.states]) * (1 + slack), 1.0)
        if high == 0:
            continue
        found, distance = _stationary(_component(model, members), settings)
        share = (low + high) / 2
        probabilities[members] = share * found
        elsewhere += (high - low) / 2 * (1 + 4 * UNIT) + high * distance
        rounding = 2 * UNIT if share < 1 else rounding
    if not elsewhere < 1:
        raise NumericError(
            "no distribution could be proved: the chain takes too long to come back to any state; ask for single "
            "shares with S=? [ … ]"
        )
    return StateDistribution(model, probabilities, None, rounding, 0.0, elsewhere * (1 + 1e-12))


def _component(model: Model, members: Int32s) -> Model:
    """A bottom component as a model of its own."""
    entries, lengths = entries_of(model, members)
    position = np.full(model.n_states, -1, dtype=np.int32)
    position[members] = np.arange(len(members), dtype=np.int32)
    return Model(
        type=model.type,
        choice_starts=None,
        row_starts=offsets(lengths),
        columns=position[model.columns[entries]],
        values=picked(model.values, entries),
        initial=np.zeros(1, dtype=np.int32),
        labels={},
        rewards={},
    )


def _stationary(chain: Model, settings: Settings) -> tuple[Floats, float]:
    """The stationary distribution of an irreducible chain, and how far the probability of any set may be off."""
    if chain.n_states == 1:
        return np.ones(1), 0.0
    v = np.maximum(_proposal(chain, settings), 0.0)
    v = v / v.sum()
    goal = np.zeros(chain.n_states, dtype=np.bool_)
    goal[int(np.argmax(v))] = True  # a likely state is soon met
    roughly = replace(settings, method=None, eps=1e-3, relative=True)
    met = reachability_reward(chain, Rewards(state=np.ones(chain.n_states)), goal, None, roughly).upper
    return v, _distance(chain, v, met)


def _proposal(chain: Model, settings: Settings) -> Floats:
    """A distribution up to a factor; it is swept where elimination does not trust itself: slow chains need digits."""
    chosen = replace(settings, eps=PRECISELY, relative=True, max_iterations=MOST_SWEEPS, order=None)
    components = bottom_components(chain)
    if chain.n_states <= SMALL:
        with suppress(NumericError):
            return stationary_distribution(chain, components, replace(chosen, method="direct"))
    return stationary_distribution(chain, components, replace(chosen, method="gauss-seidel"))


def _distance(chain: Model, v: Floats, met: Floats) -> float:
    """A bound on Σ |r| m, with what rounding may have done to r, and to the sum of v, which should be 1.

    What leaves a state is the sum of what leads elsewhere, each number rounded once: a loop changes nothing.
    """
    n, transitions = chain.n_states, chain.to_scipy().tocoo()
    between = transitions.row != transitions.col
    source, target, values = transitions.row[between], transitions.col[between], transitions.data[between]
    exits = np.bincount(source, weights=values, minlength=n)
    flow, out = np.bincount(target, weights=values * v[source], minlength=n), exits * v
    widest = int(np.bincount(source, minlength=n).max()) + int(np.bincount(target, minlength=n).max())
    r = np.abs(flow - out) + (widest + 6) * UNIT * (flow + out)
    total = float(np.sum(r * met)) * (1 + (n + 8) * UNIT)
    return total + 2 * (n + 4) * UNIT
