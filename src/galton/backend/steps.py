"""Vectors under repeated steps of chains and MDPs, wherever their arrays are.

``reference/steps.py`` says in a few lines of NumPy what the kernels do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..device.arrays import greatest, namespace, on_host
from ..model.rounding import UNIT
from ..model.sparse import Int32s, Mask, Model
from . import Backend, of
from .protocol import StepMatrix

Floats = npt.NDArray[np.float64]

__all__ = ["Bellman", "Chain", "Part", "Seen", "exit_rates", "least_positive", "part_of", "row_products"]

Steps = tuple[bool, float, float, float, float, float, float, float]  # what the kernels return

PLACES = 52  # after the point, that all doubles up to 1 have room for
FEW_VALUES = 1024


class Seen(NamedTuple):
    """The last step of a call: the range of the new vector, of its quotients by the old and of its differences to it.

    ``faintest`` is the least number above zero that any step of the call gave.
    """

    least: float
    most: float
    least_ratio: float
    most_ratio: float
    least_change: float
    most_change: float
    faintest: float


def _are_whole(numbers: Floats) -> bool:
    return bool((namespace(numbers).floor(numbers) == numbers).all())


@dataclass(frozen=True, eq=False)
class Part:
    """Some states of a model with their rows, as a matrix of their own."""

    states: Int32s | None  # their numbers in the model; None for all
    position: Int32s | None  # for each state of the model, its number here or -1; None for all
    backend: Backend
    matrix: StepMatrix
    n_states: int
    n_rows: int
    n_entries: int
    longest_row: int
    least_entry: float
    bits: int | None = None  # such that all entries are multiples of 2^-bits, where there are so few

    def is_exact(self, steps: int, *vectors: Floats | None) -> bool:
        """Whether so many steps from these vectors round nothing, as long as what they are added up to is at most 1.

        Each step adds so many binary places, and numbers of up to 1 have room for 52 of them.
        """
        if self.bits is None or self.bits * (steps + 1) > PLACES:
            return False
        given = [vector for vector in vectors if vector is not None]
        units = (vector * 2.0**self.bits for vector in given)
        return all(greatest(v) <= 1 for v in given) and all(map(_are_whole, units))

    @property
    def batch(self) -> int:
        """How many steps to ask for at a time."""
        return self.backend.steps.batch(self.n_entries, self.n_rows)

    def in_format(self, name: str | None) -> Part:
        """This part with its matrix in a format of :mod:`galton.backend.formats`; None for any."""
        return replace(self, matrix=self.matrix.in_format(name))

    def of(self, vector: Floats) -> Floats:
        """The numbers of these states."""
        return vector if self.states is None else vector[self.states]

    def positions(self, states: Int32s) -> Int32s:
        """Where those of the given states that are in this part have their place."""
        if self.position is None:
            return states
        found = self.position[states]
        return found[found >= 0]


def part_of(model: Model, keep: Mask | None, threads: int, *, loops: bool = True) -> Part:
    """The matrix of the states to keep, None for all; transitions to others are left out, and loops where so asked.

    Nothing is copied where nothing is left out.
    """
    values, where = on_host(model.values.distinct), of(model.columns, model.placement.devices)
    least, bits = float(values.min(initial=np.inf)), _places(values)
    if loops and (keep is None or keep.all()):
        longest = int(greatest(np.diff(model.row_starts)))
        sizes = (model.n_states, model.n_choices, model.n_transitions)
        return Part(None, None, where, where.steps.matrix_of(model), *sizes, longest, least, bits)
    keep = namespace(model.columns).ones(model.n_states, dtype=np.bool_) if keep is None else keep
    states, position, matrix, starts, entries = where.steps.part_of(model, keep, loops, threads)
    longest = int(greatest(np.diff(starts)))
    return Part(states, position, where, matrix, len(states), len(starts) - 1, entries, longest, least, bits)


def _places(values: Floats) -> int | None:
    """The binary places after the point that these numbers have; None where they are many."""
    if not 0 < len(values) <= FEW_VALUES:
        return None
    most = max(value.as_integer_ratio()[1].bit_length() - 1 for value in values.tolist())
    return most if most <= PLACES else None


class _Pace:
    """How many threads to use: where the machine is busy, threads that wait for each other at every step are slower
    than one. It is tried now and then.
    """

    RETRY = 32

    def __init__(self, threads: int) -> None:
        self._seconds: dict[int, float] = {threads: 0.0, 1: 0.0}  # per step, when last tried; all first, then one
        self._calls = 0

    def time(
        self, steps: int, call: Callable[[int], tuple[bool, *tuple[float, ...]]]
    ) -> tuple[bool, *tuple[float, ...]]:
        """Make a call of so many steps with the number of threads that seems best."""
        self._calls += 1
        best, *others = sorted(self._seconds, key=self._seconds.__getitem__)
        threads = others[0] if others and self._calls % self.RETRY == 0 else best
        start = time.perf_counter()
        found = call(threads)
        self._seconds[threads] = (time.perf_counter() - start) / steps
        return found


@dataclass(eq=False)
class Chain:
    """A vector under repeated steps of a chain, and a weighted sum of what it was.

    A step is ``x <- A x`` or, for a uniformised CTMC, ``x <- scale * (A x) + stay * x``.
    """

    part: Part
    x: Floats
    scale: float = 1.0
    stay: Floats | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        self._kernel = self.part.matrix.chain(self.scale, self.stay)
        self._pace = _Pace(self.part.backend.steps.threads(self.threads))
        self._other = np.empty_like(self.x)
        self.sum = np.zeros_like(self.x)

    def lost(self, faintest: float) -> float:
        """A bound on what a step loses by flushing to zero, when no number is fainter than that."""
        return _lost(self.part, self.part.least_entry * faintest)  # nothing is too faint where there is a stay

    @property
    def rounding(self) -> float:
        """A bound on the relative error of one step: products and sums of a row, scale, stay, one for the entries."""
        return (self.part.longest_row + 5) * UNIT

    @property
    def batch(self) -> int:
        """How many steps to ask for at a time."""
        return self.part.batch

    def advance(self, steps: int, weights: Floats | None) -> Seen:
        """Make so many steps, at least one, and add each vector to the sum before its step with its weight."""
        total = None if weights is None else self.sum
        swapped, *seen = self._pace.time(
            steps, lambda threads: self._kernel.run(steps, weights, self.x, self._other, total, threads)
        )
        if swapped:
            self.x, self._other = self._other, self.x
        return Seen(*seen)


@dataclass(eq=False)
class Bellman:
    """A vector under repeated steps ``x <- opt (A x + constant)``, the optimum over the choices of each state."""

    part: Part
    x: Floats
    constant: Floats | None
    maximise: bool
    threads: int = 1

    def __post_init__(self) -> None:
        self._kernel = self.part.matrix.bellman(self.constant, self.maximise)
        self._pace = _Pace(self.part.backend.steps.threads(self.threads))
        self._other = np.empty_like(self.x)

    def lost(self, faintest: float) -> float:
        """A bound on what a step loses by flushing to zero, when no number is fainter than that."""
        return _lost(self.part, self.part.least_entry * faintest)

    @property
    def rounding(self) -> float:
        """A bound on the relative error of one step."""
        return (self.part.longest_row + 4) * UNIT

    @property
    def batch(self) -> int:
        """How many steps to ask for at a time."""
        return self.part.batch

    def advance(self, steps: int, choices: Int32s | None = None) -> Seen:
        """Make so many steps, at least one; ``(steps * states,)`` choices get the rows taken."""
        swapped, *seen = self._pace.time(
            steps, lambda threads: self._kernel.run(steps, self.x, self._other, choices, threads)
        )
        if swapped:
            self.x, self._other = self._other, self.x
        return Seen(*seen)


def least_positive(vector: Floats) -> float:
    """The least number above zero; infinite where there is none."""
    positive = vector[vector > 0]
    return float(positive.min()) if len(positive) else np.inf


def _lost(part: Part, least_product: float) -> float:
    return 0.0 if least_product > 2.0**-1000 else (part.longest_row + 4) * 2.0**-1022


def row_products(model: Model, vector: Floats, threads: int) -> Floats:
    """``(choices,)`` the matrix of a model times a vector."""
    return of(model.columns).steps.row_products(model, vector, threads)


def exit_rates(model: Model, threads: int, *, loops: bool) -> tuple[Floats, Floats]:
    """``(states,)`` the sum of the rates out of each state, with loops or without, as a double and what it lacks."""
    return of(model.columns).steps.exit_rates(model, loops, threads)
