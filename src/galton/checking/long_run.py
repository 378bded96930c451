"""Long-run averages of chains: ``S=? [ φ ]`` and ``R=? [ S ]``.

A run ends in a bottom component (BSCC) and earns that component's average there, its *gain*. So the value of a state is
the mean of the gains over where runs from it end. Where all gains are the same nothing else has to be solved.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
import numpy.typing as npt

from ..backend.chain import Chain
from ..backend.cpu.matrix import matrix_of
from ..backend.formats import ORDERS
from ..device.arrays import extremes, is_on_host, namespace, nudged, offsets, on_host, repeated
from ..graph import Components, bottom_components, can_reach
from ..lang.source import GaltonError
from ..model.sparse import Model, Rewards
from ..reduce.balance import reordered
from ..reduce.submodels import entries_of, picked
from ..reduce.unknowns import open_equations
from ..solve import solve
from ..solve.direct.elimination import averages
from ..solve.long_run import gain
from ..solve.methods import balances
from ..solve.settings import Settings
from .quantity import Quantity, Work
from .stationary import average_gains

Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]

__all__ = ["long_run"]

FEW = 16  # components that a device looks at one by one
SMALL = 100  # states of a component up to which elimination costs less than thinking about it


def long_run(model: Model, reward: Rewards, settings: Settings) -> Quantity:
    """Bound the long-run average of a reward in every state of a chain: per step, or per unit of time in a CTMC."""
    if not model.nature.has_long_run:
        raise GaltonError("long-run averages are those of chains; an MDP has no single one")
    by_hand = settings.by_hand and balances(settings.method or "")
    if not by_hand:  # the method is for other questions of the property, and need not prove anything
        settings = replace(settings, method=None)
    start = perf_counter()
    components = bottom_components(model)
    sizes = components.sizes
    detail = f"{len(sizes):,} bottom components, the largest with {int(sizes.max()):,} of {model.n_states:,} states"
    work = [Work("bottom components", detail, 0, perf_counter() - start)]
    transient = len(components.order) < model.n_states
    if by_hand:
        gained, done = average_gains(model, _reward_bounds(model, reward)[0], components, settings)
        lower = upper = gained
    else:
        gains = _gains if is_on_host(model.columns) else _gains_on_device
        lower, upper, done = gains(model, reward, components, settings.tighter(2) if transient else settings)
    work += done
    xp, n = namespace(model.columns), model.n_states
    if (lower == lower[0]).all() and (upper == upper[0]).all():
        low, high = xp.full(n, float(lower[0])), xp.full(n, float(upper[0]))
    else:
        low, high = xp.full(n, np.nan), xp.full(n, np.nan)
        low[components.order] = repeated(lower, sizes)
        high[components.order] = repeated(upper, sizes)
        if transient:
            worth = can_reach(model, xp.ones(n, dtype=np.bool_), (low != 0) & ~xp.isnan(low))
            low[~worth] = high[~worth] = 0.0
        if xp.isnan(low).any():
            low, high, done = _absorbed(model, low, high, settings if by_hand else settings.tighter(2))
            work += done
    if by_hand:
        return Quantity(low, low, settings.method or "", tuple(work), proved=False)
    return Quantity(low, high, _method(work), tuple(work))


def _absorbed(model: Model, low: Floats, high: Floats, settings: Settings) -> tuple[Floats, Floats, list[Work]]:
    """Fill in the bounds of transient states, which are NaN: the means of the bounds where their runs end."""
    open_states = namespace(low).isnan(low)
    unknowns = open_equations(model, open_states, np.where(open_states, 0.0, low), settings)
    solution = solve(unknowns.equations, settings)
    work = [*unknowns.work, *solution.work]
    above = solution.upper
    if not np.array_equal(low, high, equal_nan=True):
        other = open_equations(model, open_states, np.where(open_states, 0.0, high), settings)
        solved = solve(other.equations, settings)
        above, work = solved.upper, work + list(solved.work)
    return unknowns.lift(solution.lower, low), unknowns.lift(above, high), work


def _gains_on_device(
    model: Model, reward: Rewards, components: Components, settings: Settings
) -> tuple[Floats, Floats, list[Work]]:
    """Bound the gain of each component on a device; return lower and upper bounds, and what was done.

    Each component is solved as a chain of its own, one after the other, so there may only be a few.
    """
    from ..device.errors import DeviceError

    members, starts = components.order, components.starts
    _, below, above = _reward_bounds(model, reward)
    component = components.component[members]
    lower, _ = extremes(below[members], component, components.count)
    _, upper = extremes(above[members], component, components.count)
    unequal = on_host(np.flatnonzero(lower < upper)).tolist()
    if len(unequal) > FEW:
        raise DeviceError(
            f"the long-run averages of {len(unequal):,} components are not computed on a device, one after the other"
        )
    work = []
    for k in unequal:
        start = perf_counter()
        first, last = int(starts[k]), int(starts[k + 1])
        inside, numbered = members[first:last], ""
        if settings.order is not None:
            inside = reordered(model, namespace(inside).sort(inside), settings.order)
            numbered = f", numbered {ORDERS[settings.order]}"
        found = gain(_part(model, reward, inside, renumbered=settings.order not in (None, "canonical")), settings)
        lower[k], upper[k] = found.lower, found.upper
        work.append(Work(found.method, f"{last - first:,} states{numbered}", found.sweeps, perf_counter() - start))
    return lower, upper, work


def _gains(
    model: Model, reward: Rewards, components: Components, settings: Settings
) -> tuple[Floats, Floats, list[Work]]:
    """Bound the gain of each component on the CPU; return lower and upper bounds, and what was done."""
    members, starts = components.order, components.starts
    total, below, above = _reward_bounds(model, reward)
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
    # Small ones whose numbers left the range of doubles are looked at again, like large ones.
    wide = upper - lower > settings.tolerance.width(np.abs(lower))
    for k in np.flatnonzero((lower < upper) & (wide | (sizes > SMALL))):
        start = perf_counter()
        found = gain(_part(model, reward, members[starts[k] : starts[k + 1]]), settings)
        lower[k], upper[k] = found.lower, found.upper
        work.append(Work(found.method, f"{sizes[k]:,} states", found.sweeps, perf_counter() - start))
    return lower, upper, work


def _reward_bounds(model: Model, reward: Rewards) -> tuple[Floats, Floats, Floats]:
    """The reward of each state, rounded to the nearest, down and up."""
    if reward.state is None or reward.choice is None:
        part = reward.state if reward.choice is None else reward.choice
        total = namespace(model.columns).zeros(model.n_states) if part is None else part
        return total, total, total
    total = reward.state + reward.choice
    added = total - reward.state
    rounded = (reward.state - (total - added)) + (reward.choice - added)  # what the sum has lost, exactly
    return total, nudged(total, -np.inf, rounded < 0), nudged(total, np.inf, rounded > 0)


def _part(model: Model, reward: Rewards, members: Int32s, *, renumbered: bool = False) -> Chain:
    """A component as a chain of its own; all states stay as they are numbered, unless they were renumbered."""
    if len(members) == model.n_states and not renumbered:
        return Chain(model.row_starts, model.columns, model.values, reward.state, reward.choice)
    xp = namespace(members)
    entries, lengths = entries_of(model, members)
    position = xp.empty(model.n_states, dtype=np.int32)
    position[members] = xp.arange(len(members), dtype=np.int32)
    parts = [None if part is None else part[members] for part in (reward.state, reward.choice)]
    return Chain(offsets(lengths), position[model.columns[entries]], picked(model.values, entries), *parts)


def _method(work: list[Work]) -> str:
    """The step that took longest names the method."""
    steps = work[1:]
    return max(steps, key=lambda step: step.seconds).step if steps else "rewards"
