"""Searches in the graph of a model that ranks share.

Each rank searches its part as far as it gets (``src/core/graph/rank_search.hpp``) and tells others what became of
states that are their ghosts; :mod:`.traffic` says when nothing is on its way any more. Bottom components are found by
colours: each state gets the greatest number that it can reach (Orzan 2004). End components are bottom components of
what is left of the choices, taken away one layer after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ... import _core
from ...model.sparse import Mask
from ..cpu.matrix import matrix_of
from .halo import Halo
from .model import RankModel
from .traffic import Traffic

__all__ = ["Parts", "RankGraph", "strategy_towards", "tell_watchers"]

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
NOTHING = np.empty(0, dtype=np.int32)
FACTOR = 0x9E3779B97F4A7C15  # scrambles numbers, so that colours settle after few changes


@dataclass(frozen=True, eq=False)
class Parts:
    """Components that ranks share: of each own state and ghost the number of its component's root, or -1.

    ``staying`` are the rows that lead nowhere else.
    """

    root: Int64s
    staying: Mask


def tell_watchers(
    halo: Halo,
    fresh: Int32s,
    spread: Callable[[Int32s], Int32s],
    learn: Callable[[Int64s, Int64s], Int32s],
    value: Callable[[Int32s], Int64s] | None = None,
) -> None:
    """Spread what is new until no rank has anything new; owners tell those that have a state as a ghost.

    ``spread`` goes on from states, or ghosts, that are new, and says which own states changed; ``learn`` is told what
    became of ghosts, given their places in vectors and a number for each, and says which of this is new.
    """
    traffic = Traffic(halo.world, 2)
    while True:
        if len(fresh):
            changed = spread(fresh)
            ranks, places, which = halo.watchers(changed)
            values = np.zeros(len(changed), dtype=np.int64) if value is None else value(changed)
            for rank in np.unique(ranks):
                mine = ranks == rank
                traffic.send(int(rank), np.column_stack([places[mine], values[which[mine]]]))
        arrived = traffic.receive()
        parts = [learn(halo.place_of(source, told[:, 0]), told[:, 1]) for source, told in arrived]
        fresh = np.concatenate([NOTHING, *parts])
        if traffic.tally(idle=not len(fresh)).over:
            traffic.close()
            return


def strategy_towards(halo: Halo, matrix: _core.Matrix, exits: Mask, groups: Int32s) -> Int32s:
    """A row of each state, or unknown, such that all rows together lead to one of the ``exits`` with probability 1.

    Every row has to lead somewhere from where there is such a way; then it is enough that each comes closer.
    """
    rows = np.flatnonzero(exits)
    owners = np.searchsorted(groups, rows, side="right") - 1
    by = np.ascontiguousarray(groups[:-1]).copy()
    by[owners[::-1]] = rows[::-1]
    own = np.zeros(halo.n, dtype=bool)
    own[owners] = True
    found = halo.extended(own)
    everywhere = np.ones(halo.n, dtype=bool)
    search = _core.RankSearch(matrix, halo.size)

    def spread(fresh: Int32s) -> Int32s:
        return search.backward(found, everywhere, None, None, None, by, fresh)

    def learn(places: Int64s, _: Int64s) -> Int32s:
        new: Int32s = places[~found[places]].astype(np.int32)
        found[new] = True
        return new

    tell_watchers(halo, np.flatnonzero(found).astype(np.int32), spread, learn)
    return by


class RankGraph:
    """The graph of a rank's part; all ranks have to ask for the same."""

    def __init__(self, model: RankModel) -> None:
        self.model, self.halo, self.world = model, model.halo, model.world

    @cached_property
    def search(self) -> _core.RankSearch:
        """The part with its edges turned round."""
        return _core.RankSearch(matrix_of(self.model), self.halo.size)

    # Reachability.

    def reach_some(self, through: Mask, goal: Mask, allowed: Mask | None = None) -> Mask:
        """States with a path to the goal through those states, by some of the choices that are allowed."""
        return self._backward(through, goal, allowed, every=False)

    def reach_every(self, through: Mask, goal: Mask, allowed: Mask | None = None) -> Mask:
        """States with a path to the goal whatever is chosen, of what is allowed; there has to be something."""
        return self._backward(through, goal, allowed, every=True)

    def _backward(self, through: Mask, goal: Mask, allowed: Mask | None, *, every: bool) -> Mask:
        model, halo = self.model, self.halo
        found = halo.extended(np.array(goal, dtype=bool))
        left = hit = None
        if every and model.choice_starts is not None:
            left = self._count(allowed)
            hit = np.zeros(model.n_choices, dtype=bool)

        def spread(fresh: Int32s) -> Int32s:
            return self.search.backward(found, through, allowed, left, hit, None, fresh)

        def learn(places: Int64s, _: Int64s) -> Int32s:
            new: Int32s = places[~found[places]].astype(np.int32)
            found[new] = True
            return new

        tell_watchers(halo, np.flatnonzero(found).astype(np.int32), spread, learn)
        return found[: halo.n].copy()

    def _count(self, allowed: Mask | None) -> Int32s:
        """Of each state the choices that are allowed."""
        starts = self.model.choice_starts
        assert starts is not None
        if allowed is None:
            return np.diff(starts).astype(np.int32)
        sums = np.concatenate([[0], np.cumsum(allowed)])
        return np.asarray(sums[starts[1:]] - sums[starts[:-1]], dtype=np.int32)

    def reach_forward(self, start: Mask, within: Mask | None = None, allowed: Mask | None = None) -> Mask:
        """The states on paths from the start that never leave ``within``."""
        halo, traffic = self.halo, Traffic(self.world, 1)
        inside = np.ones(halo.size, dtype=bool) if within is None else halo.extended(within)
        found = np.zeros(halo.size, dtype=bool)
        found[: halo.n] = start
        fresh = np.flatnonzero(start).astype(np.int32)
        while True:
            if len(fresh):
                added = self.search.forward(found, inside, allowed, fresh)
                ranks, numbers = halo.owner_of(added[added >= halo.n])
                for rank in np.unique(ranks):
                    traffic.send(int(rank), numbers[ranks == rank][:, None])
            fresh = NOTHING
            for _, told in traffic.receive():
                new = np.unique(told[:, 0])
                new = new[~found[new]]
                found[new] = True
                fresh = np.concatenate([fresh, new.astype(np.int32)])
            if traffic.tally(idle=not len(fresh)).over:
                traffic.close()
                return found[: halo.n].copy()

    # What follows from it.

    def staying(self, states: Mask) -> Mask:
        """``(choices,)`` those all of whose successors are among the states."""
        found = np.zeros(self.model.n_choices, dtype=bool)
        _core.stay_among(matrix_of(self.model), self.halo.extended(states), found)
        return found

    def some_choice(self, choices: Mask) -> Mask:
        """``(states,)`` those that have one of these choices."""
        starts = self.model.choice_starts
        return choices if starts is None else self._count(choices) > 0

    def surely(self, through: Mask, goal: Mask, candidates: Mask) -> Mask:
        """Candidates with a strategy that reaches the goal with probability 1 (prob1E)."""
        inside = candidates | goal
        while True:
            found = self.reach_some(through & inside, goal, self.staying(inside))
            if not self.world.any((found != inside).any()):
                return found
            inside = found

    def zero_and_one(self, through: Mask, goal: Mask, optimum: str | None) -> tuple[Mask, Mask]:
        """The states where the probability of an until is 0, and 1."""
        open_states = through & ~goal
        if optimum is None or optimum == "max":
            zero = ~self.reach_some(open_states, goal)
            if optimum is None:
                return zero, ~self.reach_some(open_states, zero)
            return zero, self.surely(open_states, goal, ~zero)
        zero = ~self.reach_every(open_states, goal)
        return zero, ~self.reach_some(open_states, zero)

    # Components.

    @cached_property
    def _scrambled(self) -> Int64s:
        """``(own states and ghosts,)`` different numbers that are not in order."""
        mixed = (self.halo.numbers.astype(np.uint64) + 1) * np.uint64(FACTOR)
        return (mixed >> np.uint64(1)).astype(
            np.int64
        )  # the factor is odd: what differs by less than 2^63 stays different

    def bottom(self, within: Mask | None = None, allowed: Mask | None = None) -> Int64s:
        """Of each own state and ghost its bottom component's root, by its number among all states; -1 elsewhere.

        Of the subgraph of the states in ``within``, which no allowed choice may leave.
        """
        halo, n = self.halo, self.halo.n
        inside = np.ones(n, dtype=bool) if within is None else within
        everywhere = halo.extended(inside)
        name = self._scrambled
        colour = np.where(everywhere, name, -1)

        def spread(fresh: Int32s) -> Int32s:
            return self.search.greatest(colour, inside, allowed, fresh)

        def learn(places: Int64s, told: Int64s) -> Int32s:
            new = told > colour[places]
            colour[places[new]] = told[new]
            return places[new].astype(np.int32)

        first = np.flatnonzero(everywhere).astype(np.int32)
        tell_watchers(halo, first, spread, learn, lambda states: colour[states])
        # Who can reach a state of another colour is in no bottom component; what the others reach is.
        together = np.zeros(self.model.n_choices, dtype=bool)
        self.search.stay_together(colour, together)
        parting = ~together if allowed is None else ~together & allowed
        leaving = self.reach_some(inside, inside & self.some_choice(parting), allowed)
        own = colour[:n]
        roots = inside & ~leaving & (own == name[:n])
        bottom = self.reach_forward(roots, inside, allowed)
        # A colour is the name of the root; the rank that has the root knows its number.
        return self._named(np.where(bottom, own, -1), roots)

    def _named(self, colour: Int64s, roots: Mask) -> Int64s:
        """Colours as the numbers of roots, with the ghosts' behind: asked of the ranks that colours are spread over."""
        world, halo = self.world, self.halo
        known = np.flatnonzero(roots)
        names, numbers = self._scrambled[: halo.n][known], known.astype(np.int64) + halo.first
        home = names % world.size
        told = world.swap([np.column_stack([names, numbers])[home == rank] for rank in range(world.size)])
        table = np.concatenate(told)
        table = table[np.argsort(table[:, 0])]
        wanted = np.unique(colour[colour >= 0])
        home = wanted % world.size
        asked = world.swap([wanted[home == rank] for rank in range(world.size)])
        answers = world.swap([table[np.searchsorted(table[:, 0], names), 1] for names in asked])
        number = np.empty(len(wanted), dtype=np.int64)
        for rank, answer in enumerate(answers):
            number[home == rank] = answer
        own = np.full(halo.n, -1, dtype=np.int64)
        there = colour >= 0
        own[there] = number[np.searchsorted(wanted, colour[there])]
        return halo.extended(own)

    def end_components(self, within: Mask, choices: Mask | None = None) -> Parts:
        """Maximal end components of some states, by some of the choices."""
        model, halo = self.model, self.halo
        root = np.full(halo.size, -1, dtype=np.int64)
        if model.choice_starts is None:
            raise TypeError("end components are those of models with choices")
        left = within.copy()
        while True:
            left, allowed = self._closed(left, choices)
            if not self.world.any(left.any()):
                break
            found = self.bottom(left, allowed)
            root = np.where(found >= 0, found, root)
            left &= found[: halo.n] < 0
        together = np.zeros(model.n_choices, dtype=bool)
        self.search.stay_together(root, together)
        return Parts(root, together if choices is None else together & choices)

    def _closed(self, states: Mask, choices: Mask | None) -> tuple[Mask, Mask]:
        """The states in which one can stay for ever, and the choices that do."""
        while True:
            allowed = self.staying(states)
            if choices is not None:
                allowed &= choices
            fewer = states & self.some_choice(allowed)
            # All that has to leave, at once: whoever has no choice left, and whoever has to go there.
            gone = self.reach_every(states, ~fewer, allowed)
            fewer &= ~gone
            if not self.world.any((fewer != states).any()):
                return states, allowed
            states = fewer
