"""Steps of chains and MDPs, by the C++ core (``src/core/steps/steps.cpp``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import _core
from ...model.rounding import DOUBLE
from ...model.sparse import Int32s, Mask, Model, Offsets
from ...model.values import Floats
from .matrix import matrix_of as core_matrix

__all__ = [
    "StepMatrix",
    "batch",
    "exit_rates",
    "matrix_of",
    "part_of",
    "row_products",
    "threads",
]

BATCH = 1e8  # entries and rows that one call goes over: about a tenth of a second


@dataclass(frozen=True, eq=False)
class StepMatrix:
    """A matrix of the core, to make steps with; see :class:`galton.backend.protocol.StepMatrix`."""

    matrix: _core.Matrix
    precision = DOUBLE
    rounds_values = False

    def in_format(self, name: str | None, *, single: bool = False) -> StepMatrix:
        """The matrix as it is: the core has one format, and doubles."""
        return self

    def describe(self) -> str:
        """Nothing: there is one format."""
        return ""

    def chain(self, scale: float, stay: Floats | None) -> _core.Chain:
        """A chain to make steps of."""
        return _core.Chain(self.matrix, scale, stay)

    def bellman(self, constant: Floats | None, maximise: bool) -> _core.Bellman:
        """An MDP to make steps of."""
        return _core.Bellman(self.matrix, constant, maximise)


def matrix_of(model: Model) -> StepMatrix:
    """The matrix of a model; the arrays are shared."""
    return StepMatrix(core_matrix(model))


def part_of(model: Model, keep: Mask, loops: bool, threads: int) -> tuple[Int32s, Int32s, StepMatrix, Offsets, int]:
    """The states kept, for each state its number among them or -1, their matrix, its offsets and its entries."""
    states = np.flatnonzero(keep).astype(np.int32)
    position = np.full(model.n_states, -1, dtype=np.int32)
    position[states] = np.arange(len(states), dtype=np.int32)
    groups, starts, columns, entries = _core.part_of(core_matrix(model), states, position, loops, threads)
    matrix = _core.Matrix(groups, starts, columns, entries, model.values.dictionary)
    return states, position, StepMatrix(matrix), starts, len(columns)


def batch(entries: int, rows: int) -> int:
    """How many steps over so many entries and rows to ask for at a time."""
    return max(1, int(BATCH / (entries + 3 * rows + 1)))


def threads(wanted: int) -> int:
    """As many as are wanted."""
    return wanted


def row_products(model: Model, vector: Floats, threads: int) -> Floats:
    """``(choices,)`` the matrix of a model times a vector."""
    products = np.empty(model.n_choices)
    _core.row_products(core_matrix(model), np.ascontiguousarray(vector, dtype=np.float64), products, threads)
    return products


def exit_rates(model: Model, loops: bool, threads: int) -> tuple[Floats, Floats]:
    """``(states,)`` the sum of the rates out of each state, as a double and what it lacks."""
    high, low = np.empty(model.n_states), np.empty(model.n_states)
    _core.exit_rates(core_matrix(model), loops, high, low, threads)
    return high, low
