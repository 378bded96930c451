"""Long-run averages of chains: ``S=? [ φ ]`` and ``R=? [ S ]``.

A run ends in a bottom component (BSCC) and earns that component's average there, its *gain*. So the value of a state is
the mean of the gains over where runs from it end. Where all gains are the same nothing else has to be solved.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
import numpy.typing as npt

from ..backend.cpu import matrix_of
from ..graph import Components, bottom_components, can_reach
from ..lang.source import GaltonError
from ..model.arrays import is_on_host, namespace
from ..model.sparse import Model, Rewards
from ..model.values import Values
from ..solve import solve
from ..solve.elimination import averages
from ..solve.long_run import Chain, gain
from ..solve.settings import Settings
from .quantity import Quantity, Work
from .unknowns import open_equations

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]

__all__ = ["long_run"]

SMALL = 100  # states of a component up to which elimination costs less than thinking about it


def long_run(model: Model, reward: Rewards, settings: Settings) -> Quantity:
    """Bounds on the long-run average, per step or per unit of time, of a reward in a chain."""
    if model.type == "mdp":
        raise GaltonError("long-run averages are those of chains; an MDP has no single one")
    if not is_on_host(model.columns):
        return _on_device(model, reward, settings)
    start = perf_counter()
    components = bottom_components(model)
    sizes = components.sizes
    detail = f"{len(sizes):,} bottom components, the largest with {sizes.max():,} of {model.n_states:,} states"
    work = [Work("bottom components", detail, 0, perf_counter() - start)]
    transient = len(components.order) < model.n_states
    lower, upper, done = _gains(model, reward, components, settings.tighter(2) if transient else settings)
    work += done
    if (lower == lower[0]).all() and (upper == upper[0]).all():
        low, high = np.full(model.n_states, lower[0]), np.full(model.n_states, upper[0])
    else:
        low, high = np.full(model.n_states, np.nan), np.full(model.n_states, np.nan)
        low[components.order] = np.repeat(lower, sizes)
        high[components.order] = np.repeat(upper, sizes)
        if transient:
            worth = can_reach(model, np.ones(model.n_states, dtype=np.bool_), (low != 0) & ~np.isnan(low))
            low[~worth] = high[~worth] = 0.0
        if np.isnan(low).any():
            work += _absorbed(model, low, high, settings.tighter(2))
    return Quantity(low, high, _method(work), tuple(work))


def _on_device(model: Model, reward: Rewards, settings: Settings) -> Quantity:
    """The same for a chain that is one component, all of it."""
    from ..explore.cuda_device import DeviceError

    start = perf_counter()
    components = bottom_components(model)
    if components.count > 1 or len(components.order) < model.n_states:
        raise DeviceError("long-run averages of a chain that is not one component are not computed on a device")
    work = Work("bottom components", f"1, with {model.n_states:,} states", 0, perf_counter() - start)
    start = perf_counter()
    found = gain(Chain(model.row_starts, model.columns, model.values, reward.state, reward.choice), settings)
    done = Work(found.method, f"{model.n_states:,} states", found.sweeps, perf_counter() - start)
    low, high = (namespace(model.columns).full(model.n_states, bound) for bound in (found.lower, found.upper))
    return Quantity(low, high, found.method, (work, done))


def _absorbed(model: Model, low: Floats, high: Floats, settings: Settings) -> list[Work]:
    """Fill in the bounds where they are NaN, the transient states: the means of the bounds where runs end."""
    open_states = np.isnan(low)
    unknowns = open_equations(model, open_states, np.where(open_states, 0.0, low), settings)
    solution = solve(unknowns.equations, settings)
    work = [*unknowns.work, *solution.work]
    above = solution.upper
    if not np.array_equal(low, high, equal_nan=True):
        other = open_equations(model, open_states, np.where(open_states, 0.0, high), settings)
        solved = solve(other.equations, settings)
        above, work = solved.upper, work + list(solved.work)
    low[unknowns.members], high[unknowns.members] = solution.lower, above
    return work


def _gains(
    model: Model, reward: Rewards, components: Components, settings: Settings
) -> tuple[Floats, Floats, list[Work]]:
    """Bounds on the gain of each component, and what was done."""
    members, starts = components.order, components.starts
    total, below, above = _reward_bounds(model.n_states, reward)
    # Elsewhere than here rewards may differ: a component that earns the same everywhere has no equation to solve.
    lower = np.minimum.reduceat(below[members], starts[:-1])
    upper = np.maximum.reduceat(above[members], starts[:-1])
    sizes = np.diff(starts)
    work = []
    small = np.flatnonzero((lower < upper) & (sizes <= SMALL))
    if small.size:
        start = perf_counter()
        chosen = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in small])
        firsts = np.append(0, np.cumsum(sizes[small])).astype(np.int64)
        low, high = averages(matrix_of(model), total, members[chosen], firsts)
        lower[small], upper[small] = np.maximum(lower[small], low), np.minimum(upper[small], high)
        detail = f"{small.size:,} components, {chosen.size:,} states"
        work.append(Work("elimination", detail, 0, perf_counter() - start))
    for k in np.flatnonzero((lower < upper) & (sizes > SMALL)):
        start = perf_counter()
        found = gain(_part(model, reward, members[starts[k] : starts[k + 1]]), settings)
        lower[k], upper[k] = found.lower, found.upper
        work.append(Work(found.method, f"{sizes[k]:,} states", found.sweeps, perf_counter() - start))
    return lower, upper, work


def _reward_bounds(n: int, reward: Rewards) -> tuple[Floats, Floats, Floats]:
    """The reward of each state, rounded to the nearest, down and up."""
    if reward.state is None or reward.choice is None:
        part = reward.state if reward.choice is None else reward.choice
        total = np.zeros(n) if part is None else np.asarray(part, dtype=np.float64)
        return total, total, total
    total = reward.state + reward.choice
    added = total - reward.state
    rounded = (reward.state - (total - added)) + (reward.choice - added)  # what the sum has lost, exactly
    below = np.where(rounded < 0, np.nextafter(total, -np.inf), total)
    above = np.where(rounded > 0, np.nextafter(total, np.inf), total)
    return total, below, above


def _part(model: Model, reward: Rewards, members: Int32s) -> Chain:
    """A component as a chain of its own."""
    if len(members) == model.n_states:
        return Chain(model.row_starts, model.columns, model.values, reward.state, reward.choice)
    lengths = np.diff(model.row_starts)[members]
    starts = np.append(0, np.cumsum(lengths, dtype=np.int64))
    entries = np.arange(starts[-1]) + np.repeat(model.row_starts[members] - starts[:-1], lengths)
    position = np.empty(model.n_states, dtype=np.int32)
    position[members] = np.arange(len(members), dtype=np.int32)
    values = model.values
    if values.dictionary is None:
        values = Values(plain=values.array()[entries])
    else:
        assert values.index is not None
        values = Values(dictionary=values.dictionary, index=values.index[entries])
    parts = [None if part is None else np.ascontiguousarray(part[members]) for part in (reward.state, reward.choice)]
    return Chain(starts, position[model.columns[entries]], values, *parts)


def _method(work: list[Work]) -> str:
    """The step that took longest names the method."""
    steps = work[1:]
    return max(steps, key=lambda step: step.seconds).step if steps else "rewards"
