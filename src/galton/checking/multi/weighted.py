"""The equations of an arena for one direction after the other.

The graph of an arena does not change with the weights of its objectives: end components, the order of the unknowns and
the matrix are found once, and a direction only brings other constants. The numbers and the strategy of a direction
nearby are where the next one begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...backend.rows import every_successor_in
from ...device.arrays import offsets
from ...graph import can_reach, forward_reachable, maximal_end_components, surely_reaches
from ...model.sparse import Int32s, Mask, Model
from ...model.values import Floats
from ...reduce.submodels import Rows, entries_of, picked
from ...reduce.unknowns import Unknowns, open_equations
from ...solve.equations import Equations
from ...solve.settings import Settings
from ...solve.solution import Solution
from ...solve.sound import Start, solve
from .arena import Arena

__all__ = ["ChainValues", "Neighbours", "Optimum", "WeightedSums"]

Numbers = npt.NDArray[np.int64]
_MEMORY = 2**28  # bytes of directions that are kept to begin with


@dataclass(frozen=True, eq=False)
class Optimum:
    """Bounds on the best weighted sum from the initial state, and ``(states,)`` the choices that attain it."""

    lower: float
    upper: float
    choices: Int32s
    iterations: int


@dataclass(eq=False)
class Neighbours:
    """Directions that were solved, as far as there is room: where others begin."""

    known: list[tuple[Floats, Start]] = field(default_factory=list)

    def nearest(self, weights: Floats) -> Start | None:
        """What was found for the direction closest to the given one."""
        scaled = weights / np.linalg.norm(weights)
        return max(self.known, key=lambda pair: float(pair[0] @ scaled))[1] if self.known else None

    def add(self, weights: Floats, start: Start) -> None:
        """Keep what was found for a direction; the oldest gives way."""
        self.known.append((weights / np.linalg.norm(weights), start))
        size = sum(part.nbytes for part in (start.x, start.chosen, start.w) if part is not None)
        if len(self.known) * size > _MEMORY:
            del self.known[0]


class WeightedSums:
    """The best weighted sums of an arena, for weights that are positive in the same places.

    Without costs, the greatest sum is asked for: nothing is paid in end components, which are one unknown each. With
    costs, the least until a run stops: only choices matter after which it can still stop for certain, and what costs
    nothing is one unknown.
    """

    def __init__(self, arena: Arena, rows: Floats, settings: Settings) -> None:
        model, settings = arena.model, replace(settings, strategy=True)
        self.arena = arena
        everywhere = np.ones(model.n_states, dtype=np.bool_)
        keep: Mask | None = None
        if arena.has_costs:
            finite = surely_reaches(model, everywhere, arena.stopped, some_strategy=True)
            open_states, keep = finite & ~arena.stopped, every_successor_in(model, finite)
            merge = maximal_end_components(model, open_states, keep & (rows == 0))
        else:
            open_states = ~arena.stopped
            merge = maximal_end_components(model, open_states)
        self._unknowns: Unknowns = open_equations(
            model,
            open_states,
            np.zeros(model.n_states),
            settings,
            optimum="min" if arena.has_costs else "max",
            reward=rows,
            keep=keep,
            merge=merge,
        )
        self._neighbours = Neighbours()

    def best(self, weights: Floats, rows: Floats, settings: Settings) -> Optimum:
        """Solve for rewards ``(choices,)`` that are 0 in the same places as those of the beginning."""
        unknowns = self._unknowns
        equations = with_rewards(unknowns.equations, rows)
        start = self._neighbours.nearest(weights)
        solution = solve(equations, replace(settings, strategy=True), start)
        chosen = solution.chosen
        assert chosen is not None
        middle = solution.lower + (solution.upper - solution.lower) / 2
        self._neighbours.add(weights, Start(middle, chosen, solution.shift))
        initial = int(equations.origin.number[self.arena.initial])
        nothing = np.full(self.arena.model.n_states, -1, dtype=np.int32)
        choices = unknowns.lift_choices(chosen, nothing)
        return Optimum(float(solution.lower[initial]), float(solution.upper[initial]), choices, _sweeps(solution))


def with_rewards(equations: Equations, rows: Floats) -> Equations:
    """Equations with other rewards; all known values are 0, so that constants are rewards."""
    constant = rows[equations.rows]
    if equations.scale is not None:
        constant = constant * equations.scale
    constant = np.where(np.isinf(equations.constant), np.inf, constant)  # rows that lead nowhere
    return replace(equations, constant=constant, origin=replace(equations.origin, reward=rows))


class ChainValues:
    """What the strategies of an arena come to, objective by objective; the last one is where the next begins."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.sweeps = 0
        # Of each objective, numbers of all states: x and w.
        self._before: dict[int, tuple[Floats, Floats]] = {}

    def of(self, choices: Int32s, settings: Settings) -> list[tuple[float, float]] | None:
        """Bounds on the gains of each objective from the initial state when each state takes its row.

        None where runs may go on for ever.
        """
        arena = self.arena
        chain, states, rows = _reached(arena.model, choices)
        stopped = np.zeros(chain.n_states, dtype=np.bool_)
        stopped[-1] = rows[-1] == arena.model.n_choices - 1
        everywhere = np.ones(chain.n_states, dtype=np.bool_)
        if not can_reach(chain, everywhere, stopped).all():
            return None
        settings = replace(settings, strategy=False)
        unknowns: Unknowns | None = None
        found = []
        stops = arena.endings[rows] >= 0
        for i, (objective, gains) in enumerate(zip(arena.objectives, arena.gains, strict=True)):
            earned = gains[rows]
            if not earned.any() or (objective.is_probability and earned[stops].all()):
                sure = float(earned.any())  # whatever a run does: no rounding may take anything off
                found.append((sure, sure))
                continue
            if unknowns is None:
                unknowns = open_equations(chain, ~stopped, np.zeros(chain.n_states), settings, reward=earned)
            found.append(self._value(i, with_rewards(unknowns.equations, earned), states, settings))
        return found

    def _value(self, objective: int, equations: Equations, states: Numbers, settings: Settings) -> tuple[float, float]:
        number = equations.origin.number
        is_open = number >= 0
        members = np.empty(equations.size, dtype=np.int64)  # the state of the arena that each unknown is
        members[number[is_open]] = states[is_open]
        n = self.arena.model.n_states
        x, w = self._before.get(objective, (np.zeros(n), np.zeros(n)))
        start = Start(x[members], w=w[members]) if objective in self._before else None
        solution = solve(equations, settings, start)
        self.sweeps += _sweeps(solution)
        x[members] = solution.lower + (solution.upper - solution.lower) / 2
        if solution.shift is not None:
            w[members] = solution.shift
        self._before[objective] = x, w
        initial = int(number[equations.origin.model.initial[0]])
        return float(solution.lower[initial]), float(solution.upper[initial])


def _reached(model: Model, choices: Int32s) -> tuple[Model, Numbers, Int32s]:
    """The chain of what is reached when each state takes its row; and the states that are, and their rows."""
    all_entries, all_lengths = entries_of(model, choices)
    whole = _chain(model, all_entries, all_lengths, model.columns[all_entries], model.initial)
    first = np.zeros(model.n_states, dtype=np.bool_)
    first[model.initial] = True
    reached = forward_reachable(whole, first, np.ones(model.n_states, dtype=np.bool_))
    number = np.cumsum(reached, dtype=np.int32) - 1
    rows = choices[reached]
    entries, lengths = entries_of(model, rows)
    chain = _chain(model, entries, lengths, number[model.columns[entries]], number[model.initial])
    return chain, np.flatnonzero(reached), rows


def _chain(model: Model, entries: Rows, lengths: Rows, columns: Rows, initial: Rows) -> Model:
    return Model(
        type="dtmc",
        choice_starts=None,
        row_starts=offsets(lengths, model.row_starts.dtype),
        columns=columns.astype(np.int32),
        values=picked(model.values, entries),
        initial=initial.astype(np.int32),
        placement=model.placement,
    )


def _sweeps(solution: Solution) -> int:
    return sum(step.iterations for step in solution.work)
