"""Searches in the graph of a model: each set of states by repeating its definition until nothing changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...model.sparse import Int32s, Mask, Model
from ..components import Components, EndComponents
from .rows import best_choice, every_successor_in, owners, successors

__all__ = [
    "end_components",
    "reach_by",
    "reach_every",
    "reach_forward",
    "reach_some",
    "reach_surely",
    "strong_components",
]

Edges = npt.NDArray[np.bool_]  # (states, states)


def _repeated(states: Mask, step: Callable[[Mask], Mask]) -> Mask:
    """The fixed point of a step."""
    while not np.array_equal(more := step(states), states):
        states = more
    return states


def _some_successor_in(model: Model, states: Mask) -> Mask:
    return ~every_successor_in(model, ~states)


def _some_choice(model: Model, choices: Mask) -> Mask:
    """States with one of these choices."""
    return best_choice(model, choices, maximise=True).astype(np.bool_)


def _every_choice(model: Model, choices: Mask) -> Mask:
    """States all of whose choices are among these."""
    return best_choice(model, choices, maximise=False).astype(np.bool_)


def _everywhere(given: Mask | None, size: int) -> Mask:
    return np.ones(size, dtype=np.bool_) if given is None else given


def reach_some(model: Model, through: Mask, goal: Mask) -> Mask:
    """States with a path to the goal, through those states."""

    def step(found: Mask) -> Mask:
        return goal | through & _some_choice(model, _some_successor_in(model, found))

    return _repeated(goal, step)


def reach_every(model: Model, through: Mask, goal: Mask) -> Mask:
    """States with a path to the goal whatever is chosen."""

    def step(found: Mask) -> Mask:
        return goal | through & _every_choice(model, _some_successor_in(model, found))

    return _repeated(goal, step)


def reach_surely(model: Model, through: Mask, goal: Mask, candidates: Mask) -> Mask:
    """Candidates with a strategy that reaches the goal with probability 1.

    They can reach the goal by choices that never leave them. Candidates are the states that can reach it at all.
    """

    def step(kept: Mask) -> Mask:
        usable = every_successor_in(model, kept)

        def inner(found: Mask) -> Mask:
            return goal | through & _some_choice(model, usable & _some_successor_in(model, found))

        return _repeated(goal, inner)

    return _repeated(candidates, step)


def reach_by(model: Model, through: Mask, goal: Mask, staying: Mask | None, strategy: Int32s) -> None:
    """Write choices that get closer to the goal; with ``staying``, only those whose successors are all there."""
    usable = every_successor_in(model, _everywhere(staying, model.n_states))
    found = goal
    while True:
        closer = usable & _some_successor_in(model, found)
        new = through & ~found & _some_choice(model, closer)
        if not new.any():
            return
        for state in np.flatnonzero(new):
            strategy[state] = next(choice for choice in model.choices(int(state)) if closer[choice])
        found = found | new


def reach_forward(model: Model, start: Mask, within: Mask | None) -> Mask:
    """The states on paths from the start that never leave ``within``."""
    inside = _everywhere(within, model.n_states)
    edges = _edges(model, inside, _everywhere(None, model.n_choices))
    return _repeated(start & inside, lambda found: found | inside & edges[found].any(axis=0))


def strong_components(model: Model, within: Mask | None, choices: Mask | None) -> Components:
    """Strongly connected components, successors first; the states of each in the order of their numbers.

    Two states are in the same component if each reaches the other. What a component reaches reaches fewer states.
    """
    inside = _everywhere(within, model.n_states)
    edges = _edges(model, inside, _everywhere(choices, model.n_choices))
    among = edges & inside
    reach = _closure(among)
    together = reach & reach.T
    first = together.argmax(axis=1)  # the least state of the component
    order = np.array(sorted(np.flatnonzero(inside), key=lambda s: (reach[s].sum(), first[s], s)), dtype=np.int32)
    leaders = list(dict.fromkeys(first[order].tolist()))
    component = np.full(model.n_states, -1, dtype=np.int32)
    component[inside] = [leaders.index(leader) for leader in first[inside]]
    sizes = [int(together[leader].sum()) for leader in leaders]
    return Components(
        component,
        order,
        np.cumsum([0, *sizes], dtype=np.int32),
        np.array([size == 1 and not among[s, s] for s, size in zip(leaders, sizes, strict=True)], dtype=np.bool_),
        np.array([not (edges[together[s]] & ~together[s]).any() for s in leaders], dtype=np.bool_),
    )


def end_components(model: Model, within: Mask | None, choices: Mask | None) -> EndComponents:
    """Maximal end components.

    Take components; drop the choices that leave theirs, and the states that have none left; and again.
    """
    owner = owners(model)
    inside, usable = _everywhere(within, model.n_states), _everywhere(choices, model.n_choices)
    usable = usable & inside[owner]
    while True:
        component = strong_components(model, inside, usable).component
        staying = np.array([(component[successors(model, c)] == component[owner[c]]).all() for c in range(len(owner))])
        kept = usable & staying
        alive = inside & _some_choice(model, kept)
        if np.array_equal(kept, usable) and np.array_equal(alive, inside):
            break
        inside, usable = alive, kept & alive[owner]
    leaders = list(dict.fromkeys(component[inside].tolist()))  # by their first states
    numbers = np.full(model.n_states, -1, dtype=np.int32)
    numbers[inside] = [leaders.index(old) for old in component[inside]]
    return EndComponents(numbers, usable, len(leaders))


def _edges(model: Model, within: Mask, choices: Mask) -> Edges:
    """Which state leads to which by these choices, from the states within; to wherever they lead."""
    edges = np.zeros((model.n_states, model.n_states), dtype=np.bool_)
    for choice, state in enumerate(owners(model)):
        if within[state] and choices[choice]:
            edges[state, successors(model, choice)] = True
    return edges


def _closure(edges: Edges) -> Edges:
    """Which state reaches which, itself included (Warshall 1962)."""
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    for middle in range(len(edges)):
        reach |= reach[:, middle, None] & reach[middle]
    return reach
