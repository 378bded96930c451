"""Long-run averages of chains across ranks: ``S=? [ φ ]`` and ``R=? [ S ]``.

All bottom components are solved together. In each, the bias h of one state is 0; with the reward a and the time b
expected until that state is reached, the gain is g = (r + Pa) / (1 + Pb) there, and h = a - g·b. Whatever comes
out, the gain lies between the least and the greatest r + Ph - h of the component, which one sweep with directed
rounding bounds (``src/core/long_run/drift.cpp``). What is left of it is solved for once more where it is too much.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from ... import _core
from ...backend.cpu.matrix import matrix_of
from ...backend.petsc.graph import RankGraph
from ...backend.petsc.halo import Halo
from ...backend.petsc.krylov import Krylov, available
from ...backend.petsc.world import World
from ...backend.steps import exit_rates
from ...model.errors import NumericError
from ...model.sparse import Rewards
from ...model.values import Floats
from ...solve.ranks.equations import RankEquations, rank_equations
from ...solve.ranks.sound import propose
from ...solve.settings import Settings
from ..long_run import _reward_bounds
from ..quantity import Quantity, Work
from .unbounded import solved

__all__ = ["long_run"]

Int64s = npt.NDArray[np.int64]
AIM = 1e-12
CORRECTIONS = 6
FEW = 8  # components in which a random walk looks for a busy state
WALK = 20_000  # steps of it


class _Roots:
    """Components by their roots: numbers of members come together at the rank of the root, and go back."""

    def __init__(self, world: World, halo: Halo, root: Int64s) -> None:
        self.world, self.halo, self.n = world, halo, halo.n
        self.members = np.flatnonzero(root >= 0)
        self.names = root[self.members]
        self.distinct, self.which = np.unique(self.names, return_inverse=True)
        self.owner = np.searchsorted(halo.bounds, self.distinct, side="right") - 1
        self.pins = np.zeros(self.n, dtype=bool)  # one of each component

    def best(self, numbers: Floats, take: np.ufunc, start: float) -> Floats:
        """``(members,)`` the least or greatest number in each member's component, given ``(states,)`` numbers."""
        mine = np.full(len(self.distinct), start)
        take.at(mine, self.which, numbers[self.members])
        world = self.world
        parts = [self.owner == rank for rank in range(world.size)]
        asked = world.swap([self.distinct[part] for part in parts])
        given = world.swap([mine[part] for part in parts])
        names = np.concatenate(asked)
        known, place = np.unique(names, return_inverse=True)
        joint = np.full(len(known), start)
        take.at(joint, place, np.concatenate(given))
        back = world.swap([joint[np.searchsorted(known, part)] for part in asked])
        found = np.empty(len(self.distinct))
        for part, values in zip(parts, back, strict=True):
            found[part] = values
        return found[self.which]

    def from_root(self, numbers: Floats) -> Floats:
        """``(states,)`` the number of each member's root, 0 elsewhere."""
        found = np.zeros(self.n)
        number = np.full(self.n, -np.inf)
        number[self.pins] = numbers[self.pins]
        found[self.members] = self.best(number, np.maximum, -np.inf)
        return found

    def pin(self, weight: Floats) -> None:
        """Choose a member of each component whose bias is 0: one of the greatest weight, the last of these.

        A state where the chain spends much of its time is good: numbers until it is reached are small then.
        """
        heaviest = np.zeros(self.n, dtype=bool)
        heaviest[self.members] = weight[self.members] == self.best(weight, np.maximum, -np.inf)
        number = np.where(heaviest, np.arange(self.halo.first, self.halo.first + self.n), -1.0)  # exact below 2^53
        self.pins[self.members] = number[self.members] == self.best(number, np.maximum, -np.inf)


def _visited(graph: RankGraph, starts: Int64s) -> Floats:
    """``(states,)`` where random walks from some states, given by their numbers among all, spend their time.

    A rank follows a walk for as long as it stays within its states, then tells all others where it went.
    """
    model, halo, world = graph.model, graph.model.halo, graph.world
    weight = np.zeros(model.n_states)
    draw = np.random.default_rng(1)
    row_starts, columns, numbers = model.row_starts, model.columns, halo.numbers
    length = min(WALK, 50 * halo.total)
    for start in starts:
        place, left = int(start), length
        while left > 0:
            owner = int(np.searchsorted(halo.bounds, place, side="right")) - 1
            if owner == world.rank:
                state = place - halo.first
                while left > 0 and state < halo.n:
                    entries = slice(int(row_starts[state]), int(row_starts[state + 1]))
                    sums = np.cumsum(model.values[entries])
                    if left < length // 2:
                        weight[state] += 1 / sums[-1]
                    state = int(columns[entries][np.searchsorted(sums, draw.random() * sums[-1], side="right")])
                    left -= 1
                place = int(numbers[state])
            place, left = world.comm.bcast((place, left), root=owner)
    return weight


def long_run(graph: RankGraph, reward: Rewards, settings: Settings) -> Quantity:
    """Bound the long-run average of a reward in every state: per step, or per unit of time in a CTMC."""
    model, world, n = graph.model, graph.world, graph.model.n_states
    start = time.perf_counter()
    root = graph.bottom()[:n]
    parts = _Roots(world, model.halo, root)
    everywhere = np.zeros(n)
    everywhere[model.initial] = 1.0
    parts.pin(everywhere)
    pinned = world.joined(np.flatnonzero(parts.pins).astype(np.int64) + model.halo.first)
    if len(pinned) <= FEW:
        parts.pin(_visited(graph, pinned))
    count = world.total(int(parts.pins.sum()))
    work = [Work("bottom components", f"{count:,} bottom components", 0, time.perf_counter() - start)]
    total, below, above = _reward_bounds(model, reward)
    inside = root >= 0
    low, high = np.zeros(n), np.zeros(n)
    low[inside], high[inside] = parts.best(below, np.minimum, np.inf), parts.best(above, np.maximum, -np.inf)
    if world.any((low < high).any()):
        start = time.perf_counter()
        lower, upper, sweeps = _gains(graph, parts, reward, total, inside, settings.tighter(2))
        low[inside], high[inside] = np.maximum(low, lower)[inside] + 0.0, np.minimum(high, upper)[inside] + 0.0
        work.append(Work("bias", f"{count:,} components on {world.size} ranks", sweeps, time.perf_counter() - start))
    least = world.least(low[inside].min(initial=np.inf)), world.least(high[inside].min(initial=np.inf))
    most = world.greatest(low[inside].max(initial=-np.inf)), world.greatest(high[inside].max(initial=-np.inf))
    if least == most:
        return Quantity(np.full(n, least[0]), np.full(n, least[1]), "bias", tuple(work))
    transient = ~inside
    if world.any(transient.any()):
        worth = graph.reach_some(transient, inside & (high != 0))
        maybe = transient & worth
        if world.any((low < 0).any()):
            raise NumericError("averages below zero are not answered across ranks; ask on one machine")
        wanted = settings.tighter(2)
        for bound, side in ((low, "lower"), (high, "upper")):
            found = solved(
                model, maybe, np.where(inside, bound, 0.0), wanted, most=world.greatest(bound.max(initial=0.0))
            )
            bound[maybe] = getattr(found, side)[maybe]
            work += found.work
    return Quantity(low, high, "bias", tuple(work))


def _drift(
    matrix: _core.Matrix, reward: Rewards, h: Floats, low: Floats, n: int, threads: int
) -> tuple[Floats, Floats]:
    """Bounds on r + Ph - h, rounding included; h is the sum of two vectors, with the ghosts' numbers."""
    below, above = np.empty(n), np.empty(n)
    _core.drift_bounds(
        matrix,
        state=reward.state,
        choice=reward.choice,
        high=h,
        low=low,
        lower=below,
        upper=above,
        threads=threads,
    )
    return below, above


def _gains(
    graph: RankGraph, parts: _Roots, reward: Rewards, total: Floats, inside: npt.NDArray[np.bool_], settings: Settings
) -> tuple[Floats, Floats, int]:
    """``(states,)`` bounds on the gain of each member's component, and how many sweeps and steps they took."""
    model, world, halo, n = graph.model, graph.world, graph.model.halo, graph.model.n_states
    inner = inside & ~parts.pins
    rates = np.ones(n)
    if model.has_rates:
        rates = exit_rates(model, settings.n_threads, loops=True)[0]
    zeros = np.zeros(n)
    timed = np.ascontiguousarray(np.ones(n))

    def until_root(earned: Floats) -> tuple[RankEquations, Floats, int]:
        equations = rank_equations(model, inner, zeros, reward=np.ascontiguousarray(earned), threads=settings.n_threads)
        x, steps = propose(equations, settings, AIM)
        return equations, equations.lift(x), steps

    equations, b, sweeps = until_root(timed)
    _, a, more = until_root(total)
    sweeps += more
    matrix = matrix_of(model)
    products = np.empty(n)
    system = _core.System(matrix, None, zeros, 0)
    span = equations.span(settings.n_threads)._replace(last=n)

    def at_root(rewarded: Floats, x: Floats) -> Floats:
        """The reward of a round trip from each root."""
        system.row_values(halo.extended(x), products, span)
        return (rewarded + products) / rates

    round_trip = at_root(timed, b)
    gain = parts.from_root(at_root(total, a) / round_trip)
    h = a - gain * b
    h_low = zeros.copy()
    solver: Krylov | None = None
    best: tuple[Floats, Floats] | None = None
    for _ in range(CORRECTIONS):
        lower, upper = _drift(matrix, reward, halo.extended(h), halo.extended(h_low), n, settings.n_threads)
        low, high = np.zeros(n), np.zeros(n)
        low[inside], high[inside] = parts.best(lower, np.minimum, np.inf), parts.best(upper, np.maximum, -np.inf)
        if best is not None:
            low, high = np.maximum(low, best[0]), np.minimum(high, best[1])
        best = low, high
        apart = (high - low)[inside] > settings.tolerance.width(np.abs(low[inside]))
        if not world.any(apart.any()) or not available():
            break
        # What is left of the equation, solved for: the same matrix, another right side.
        left = (lower + upper) / 2
        if solver is None:
            solver = Krylov(equations.halo, *equations.entries(None))
        more_gain = parts.from_root(left)
        right = np.zeros(equations.halo.n)
        own = inner & (equations.number >= 0)
        scale = equations.scale
        right[equations.number[own]] = (left - more_gain)[own]
        if scale is not None:
            right *= scale
        found = solver.solve(right, 1e-10)
        if found is None:
            break
        sweeps += solver.steps
        da = np.zeros(n)
        da[own] = found[equations.number[own]]
        # The root's own equation decides how much of the round trip's time goes with it.
        share = parts.from_root(at_root(left - more_gain, da) / round_trip)
        change = da - share * b
        new = h + change
        h_low += (h - new) + change
        h = new
    if solver is not None:
        solver.destroy()
    assert best is not None
    return *best, sweeps
