"""Searches in the graph of a model, by the C++ core, with one thread."""

from __future__ import annotations

from ... import _core
from ...model.sparse import Int32s, Mask, Model
from ..components import Components, EndComponents
from .matrix import matrix_of

__all__ = [
    "end_components",
    "reach_by",
    "reach_every",
    "reach_forward",
    "reach_some",
    "reach_surely",
    "strong_components",
]


def reach_some(model: Model, through: Mask, goal: Mask) -> Mask:
    """States with a path to the goal."""
    return _core.reach_some(matrix_of(model), through, goal)


def reach_every(model: Model, through: Mask, goal: Mask) -> Mask:
    """States with a path to the goal whatever is chosen."""
    return _core.reach_every(matrix_of(model), through, goal)


def reach_surely(model: Model, through: Mask, goal: Mask, candidates: Mask) -> Mask:
    """Candidates with a strategy that reaches the goal with probability 1."""
    return _core.reach_surely(matrix_of(model), through, goal, candidates)


def reach_by(model: Model, through: Mask, goal: Mask, staying: Mask | None, strategy: Int32s) -> None:
    """Write choices that get closer to the goal."""
    _core.reach_by(matrix_of(model), through, goal, staying, strategy)


def reach_forward(model: Model, start: Mask, within: Mask | None) -> Mask:
    """The states on paths from the start."""
    return _core.reach_forward(matrix_of(model), start, within)


def strong_components(model: Model, within: Mask | None, choices: Mask | None) -> Components:
    """Strongly connected components, successors first."""
    return Components(*_core.strong_components(matrix_of(model), within, choices))


def end_components(model: Model, within: Mask | None, choices: Mask | None) -> EndComponents:
    """Maximal end components."""
    return EndComponents(*_core.end_components(matrix_of(model), within, choices))
