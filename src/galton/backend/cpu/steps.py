"""Steps of chains and MDPs, by the C++ core (``src/core/steps/steps.cpp``)."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...model.sparse import Int32s, Mask, Model, Offsets
from ...model.values import Floats
from .matrix import matrix_of

__all__ = [
    "batch",
    "bellman",
    "chain",
    "describe",
    "exit_rates",
    "in_format",
    "matrix_of",
    "part_of",
    "row_products",
    "threads",
]

BATCH = 1e8  # entries and rows that one call goes over: about a tenth of a second


def part_of(model: Model, keep: Mask, loops: bool, threads: int) -> tuple[Int32s, Int32s, _core.Matrix, Offsets, int]:
    """The states kept, for each state its number among them or -1, their matrix, its offsets and its entries."""
    states = np.flatnonzero(keep).astype(np.int32)
    position = np.full(model.n_states, -1, dtype=np.int32)
    position[states] = np.arange(len(states), dtype=np.int32)
    groups, starts, columns, entries = _core.part_of(matrix_of(model), states, position, loops, threads)
    matrix = _core.Matrix(groups, starts, columns, entries, model.values.dictionary)
    return states, position, matrix, starts, len(columns)


def in_format(matrix: _core.Matrix, name: str | None) -> _core.Matrix:
    """The matrix as it is: the core has one format."""
    return matrix


def describe(matrix: _core.Matrix) -> str:
    """Nothing: there is one format."""
    return ""


def batch(entries: int, rows: int) -> int:
    """How many steps over so many entries and rows to ask for at a time."""
    return max(1, int(BATCH / (entries + 3 * rows + 1)))


def threads(wanted: int) -> int:
    """As many as are wanted."""
    return wanted


def chain(matrix: _core.Matrix, scale: float, stay: Floats | None) -> _core.Chain:
    """A chain to make steps of."""
    return _core.Chain(matrix, scale, stay)


def bellman(matrix: _core.Matrix, constant: Floats | None, maximise: bool) -> _core.Bellman:
    """An MDP to make steps of."""
    return _core.Bellman(matrix, constant, maximise)


def row_products(model: Model, vector: Floats, threads: int) -> Floats:
    """``(choices,)`` the matrix of a model times a vector."""
    products = np.empty(model.n_choices)
    _core.row_products(matrix_of(model), np.ascontiguousarray(vector, dtype=np.float64), products, threads)
    return products


def exit_rates(model: Model, loops: bool, threads: int) -> tuple[Floats, Floats]:
    """``(states,)`` the sum of the rates out of each state, as a double and what it lacks."""
    high, low = np.empty(model.n_states), np.empty(model.n_states)
    _core.exit_rates(matrix_of(model), loops, high, low, threads)
    return high, low
