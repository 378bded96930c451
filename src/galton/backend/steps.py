"""Vectors under repeated steps of chains and MDPs, wherever their arrays are.

``reference/steps.py`` says in a few lines of NumPy what the kernels do.

Rounding. All numbers are non-negative, so that errors are relative and compose (Higham 2002, chapter 3). Let d be the
length of the longest row. A step in doubles gives what it should up to a factor 1 ± r, r = (d + 5) 2^-53: a product and
a sum for each entry, the product with the scale, that with the stay, their sum, and one for how the entries themselves
were rounded.

In single precision, on a device, vectors are floats, and so are stays and the values of the matrix, unless these are
numbers of a dictionary. Let u = 2^-24. Sums are of doubles, so that r stays what it is; but each term v·x has a v, and
the term stay·x a stay, that is off by a factor 1 ± u (no u where neither is rounded), and the sum is rounded when it is
stored, by another 1 ± u. As all terms are non-negative, the factor of the sum is no further from 1 than that of its
worst term. So a step gives what it should up to 1 ± (r + 2u), but for terms of second order, which the 1.01 below has
room for. The vector to begin with is rounded once, by 1 ± u. After k steps the computed vector c and the true one t
have (1 - u)(1 - r - 2u)^k t <= c <= (1 + u)(1 + r + 2u)^k t. With e = 1.01 (u + k (r + 2u)) that is c >= exp(-e) t, so
t <= c + c (exp(e) - 1), and t >= exp(-e) c >= c - c (exp(e) - 1): :meth:`Chain.error` is exp(e) - 1. The same holds of
sums of such vectors, which are of doubles, and of the best of several rows.

Storing loses a number below 2^-126 altogether, or some of its digits: 2^-126 at the most, in each entry of each step,
and the steps after it, whose rows sum to 1 at the most, do not make that larger but by exp(e). Where no number was as
faint as that, nothing is lost (:meth:`Chain.lost`). Vectors are raised to 2^100, so that this is 2^-226 of the largest.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..device.arrays import greatest, namespace, on_host
from ..model.rounding import DOUBLE, SINGLE, UNIT
from ..model.sparse import Int32s, Mask, Model
from . import Backend, of
from .protocol import StepMatrix

Floats = npt.NDArray[np.float64]

__all__ = ["Bellman", "Chain", "Part", "Seen", "exit_rates", "least_positive", "part_of", "row_products"]

Steps = tuple[bool, float, float, float, float, float, float, float]  # what the kernels return

FEW_VALUES = 1024
HOPELESS = 700.0  # exponents whose exponential is no double


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
    order: str | None = None  # of the states, by its name, where it was asked for

    def is_exact(self, steps: int, *vectors: Floats | None) -> bool:
        """Whether so many steps from these vectors round nothing, as long as what they are added up to is at most 1.

        Each step adds so many binary places, and numbers of up to 1 have room for 52 of them, or for 23.
        """
        if self.bits is None or self.bits * (steps + 1) > self.matrix.precision.places:
            return False
        given = [vector for vector in vectors if vector is not None]
        units = (vector * 2.0**self.bits for vector in given)
        return all(greatest(v) <= 1 for v in given) and all(map(_are_whole, units))

    @property
    def batch(self) -> int:
        """How many steps to ask for at a time."""
        return self.backend.steps.batch(self.n_entries, self.n_rows)

    def in_format(self, name: str | None, *, single: bool = False) -> Part:
        """This part with its matrix in a format of :mod:`galton.backend.formats`, None for any, and in that precision.

        Single precision is for devices; the CPU stays with doubles.
        """
        return replace(self, matrix=self.matrix.in_format(name, single=single))

    def vectors(self, x: Floats, other: Floats | None) -> tuple[Floats, Floats]:
        """A vector as steps take it, in their precision, and room for the next, which may be there already."""
        x = x.astype(self.matrix.precision.real, copy=False)
        return x, np.empty_like(x) if other is None else other

    def error(self, steps: int, rounding: float, *, stays: bool = False) -> float:
        """A bound on the relative error after so many steps, each of which has such a one in doubles; see above."""
        storing = self.matrix.precision.storing
        each = storing * (2 if stays or self.matrix.rounds_values else 1)
        exponent = 1.01 * ((steps + 8) * rounding + steps * each + storing)
        return math.expm1(exponent) if exponent < HOPELESS else math.inf

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
    return most if most <= DOUBLE.places else None


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
        self._other: Floats | None = None
        self.sum = np.zeros_like(self.x)

    def lost(self, faintest: float) -> float:
        """A bound on what a step loses by flushing to zero, when no number is fainter than that."""
        return _lost(self.part, faintest)  # nothing is too faint where there is a stay

    @property
    def drift(self) -> float:
        """How far the sum of a row may be from 1."""
        return (self.part.longest_row + 5) * UNIT

    @property
    def rounding(self) -> float:
        """A bound on the relative error of one step: products and sums of a row, scale, stay, one for the entries."""
        return self.drift + 2 * self.part.matrix.precision.storing

    def error(self, steps: int) -> float:
        """A bound on the relative error of the vector and of the sum after so many steps."""
        return self.part.error(steps, self.drift, stays=self.stay is not None)

    @property
    def batch(self) -> int:
        """How many steps to ask for at a time."""
        return self.part.batch

    def advance(
        self, steps: int, weights: Floats | None, watched: Int32s | None = None, record: Floats | None = None
    ) -> Seen:
        """Make so many steps, at least one, and add each vector to the sum before its step with its weight.

        ``record``, ``(steps * watched,)`` and on the host, gets the numbers of the watched states, in ascending order,
        before each step.
        """
        total = None if weights is None else self.sum
        x, other = self.part.vectors(self.x, self._other)
        swapped, *seen = self._pace.time(
            steps, lambda threads: self._kernel.run(steps, weights, x, other, total, threads, watched, record)
        )
        self.x, self._other = (other, x) if swapped else (x, other)
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
        self._other: Floats | None = None

    def lost(self, faintest: float) -> float:
        """A bound on what a step loses by flushing to zero, when no number is fainter than that."""
        return _lost(self.part, faintest)

    @property
    def drift(self) -> float:
        """How far the sum of a row may be from 1."""
        return (self.part.longest_row + 4) * UNIT

    @property
    def rounding(self) -> float:
        """A bound on the relative error of one step."""
        return self.drift + 2 * self.part.matrix.precision.storing

    def error(self, steps: int) -> float:
        """A bound on the relative error of the vector after so many steps."""
        return self.part.error(steps, self.drift)

    @property
    def batch(self) -> int:
        """How many steps to ask for at a time."""
        return self.part.batch

    def advance(
        self,
        steps: int,
        choices: Int32s | None = None,
        watched: Int32s | None = None,
        record: Floats | None = None,
    ) -> Seen:
        """Make so many steps, at least one; ``(steps * states,)`` choices get the rows taken.

        ``record``, ``(steps * watched,)`` and on the host, gets the numbers of the watched states, in ascending order,
        before each step.
        """
        x, other = self.part.vectors(self.x, self._other)
        swapped, *seen = self._pace.time(
            steps, lambda threads: self._kernel.run(steps, x, other, choices, threads, watched, record)
        )
        self.x, self._other = (other, x) if swapped else (x, other)
        return Seen(*seen)


def least_positive(vector: Floats) -> float:
    """The least number above zero; infinite where there is none."""
    positive = vector[vector > 0]
    return float(positive.min()) if len(positive) else np.inf


def _lost(part: Part, faintest: float) -> float:
    precision = part.matrix.precision
    if part.least_entry * faintest > 2.0**-1000 and (precision is not SINGLE or faintest >= precision.least):
        return 0.0
    return (part.longest_row + 4) * precision.least


def row_products(model: Model, vector: Floats, threads: int) -> Floats:
    """``(choices,)`` the matrix of a model times a vector."""
    return of(model.columns).steps.row_products(model, vector, threads)


def exit_rates(model: Model, threads: int, *, loops: bool) -> tuple[Floats, Floats]:
    """``(states,)`` the sum of the rates out of each state, with loops or without, as a double and what it lacks."""
    return of(model.columns).steps.exit_rates(model, loops, threads)
