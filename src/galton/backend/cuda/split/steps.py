"""Steps of chains and MDPs in parts on several devices.

After each step the parts exchange their halos. Whole vectors go out to the devices when a call begins and come back
when it ends, so that calls are long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import cupy as cp
import numpy as np

from ....device.arrays import is_on_host, members, offsets, on_host
from ....model.rounding import DOUBLE, SINGLE, Precision
from ....model.sparse import Model
from ...cpu.steps import rows_of
from ...formats import FORMATS, STEPPING
from .. import steps as alone
from ..layout import MOST_STATES, Layout, csr
from .parts import Parts, on

__all__ = [
    "StepMatrix",
    "batch",
    "exit_rates",
    "matrix_of",
    "part_of",
    "row_products",
    "threads",
]

LEAST_STEPS = 64  # of a call: whole vectors cross the bus to the host in the time of some sixteen steps
EXTREMES = (min, max, min, max, min, max, min)  # of the numbers that a call tells of its last step


@dataclass(frozen=True, eq=False)
class StepMatrix:
    """The rows of a model or of a part of it, wherever they were made, to be split over devices."""

    rows: Layout
    devices: tuple[int, ...]
    format: str | None = None
    single: bool = False

    @property
    def groups(self) -> Any | None:
        """Where the rows of each state begin; None for a chain."""
        return self.rows.groups

    @property
    def starts(self) -> Any:
        """Where the entries of each row begin."""
        return self.rows.starts

    @property
    def columns(self) -> Any:
        """The states that entries lead to."""
        return self.rows.columns

    @property
    def precision(self) -> Precision:
        """What vectors are kept in."""
        return SINGLE if self.single else DOUBLE

    @property
    def rounds_values(self) -> bool:
        """Whether values are floats in some part: each looks at its own."""
        return any(matrix.rounds_values for matrix in self.matrices)

    @cached_property
    def parts(self) -> Parts:
        """The rows as the devices have them."""
        return Parts(self.rows, self.devices)

    @cached_property
    def matrices(self) -> list[alone.StepMatrix]:
        """Those of the parts, each on its device."""
        found = []
        for part in self.parts:
            matrix = part.matrix
            arrays = (matrix.groups, matrix.starts, matrix.columns, matrix.codes, matrix.dictionary)
            plain = alone.StepMatrix(*arrays)
            sliced = self.format in STEPPING and part.size + part.halo <= MOST_STATES
            with on(part.device):
                found.append(plain.in_format(self.format if sliced else plain.csr.name, single=self.single))
        return found

    def in_format(self, name: str | None, *, single: bool = False) -> StepMatrix:
        """The matrix in a format of :mod:`galton.backend.formats`, None for CSR, and in single precision or not."""
        return self if (name, single) == (self.format, self.single) else replace(self, format=name, single=single)

    def renumbered(self, states: Any, position: Any) -> StepMatrix:
        """The matrix with its states in another order; ``position`` has the new number of each."""
        rows, (places, sizes) = self.rows, (states, None)
        if rows.groups is not None:
            places, sizes = members(rows.groups, states)
        entries, lengths = members(rows.starts, places)
        groups = None if sizes is None else offsets(sizes, np.int32)
        arrays = (offsets(lengths, rows.starts.dtype), position[rows.columns[entries]], rows.codes[entries])
        return replace(self, rows=csr(groups, *arrays, rows.dictionary))

    def describe(self) -> str:
        """How the rows were split, and the formats."""
        formats = dict.fromkeys(FORMATS[matrix.layout.name] for matrix in self.matrices)
        vectors = ", vectors in single precision" if self.single else ""
        return f"in {self.parts} after each step; {' and '.join(formats)}{vectors}"

    def chain(self, scale: float, stay: Any | None) -> Chain:
        """A chain to make steps of."""
        return Chain(self, scale, stay)

    def bellman(self, constant: Any | None, maximise: bool) -> Bellman:
        """An MDP to make steps of."""
        return Bellman(self, constant, maximise)


class _Steps:
    """Steps of all parts, one after the other, each of them one launch for each part."""

    def __init__(self, parts: Parts, kernels: list[Any]) -> None:
        self.parts, self.kernels = parts, kernels

    def _run(
        self,
        kernel: str,
        steps: int,
        x: Any,
        other: Any,
        given: list[tuple[Any, ...]],
        watched: Any | None,
        record: Any | None,
    ) -> list[float]:
        """So many steps, with further arguments for each part; the extremes of the last over all parts."""
        if not len(x) == len(other) == self.parts.size:
            raise ValueError("a vector has the wrong length")
        vectors = self.parts.scatter(x)
        others = self.parts.copies(vectors)
        pairs = list(zip(self.parts, self.kernels, vectors, others, strict=True))
        places = np.zeros(0, dtype=np.int32) if watched is None else on_host(watched)
        for part, mine, *_ in pairs:
            own = places[(part.first <= places) & (places < part.last)] - np.int32(part.first)
            with on(part.device):
                mine.begin(steps, cp.asarray(own) if len(own) else None)
        for step in range(steps):
            for (part, mine, *pieces), more in zip(pairs, given, strict=True):
                with on(part.device):
                    mine.one_step(kernel, step, steps, *pieces, *mine.step, *more)
            self.parts.exchange(vectors if step % 2 else others)
        self.parts.gather(*((others, other) if steps % 2 else (vectors, x)))
        seen = []
        for part, mine, *pieces in pairs:
            with on(part.device):
                seen.append(mine.seen(steps, *pieces))
        if record is not None:
            recorded = [on_host(mine.recorded).reshape(steps, -1) for _, mine, *_ in pairs if mine.recorded is not None]
            record.reshape(steps, -1)[:] = np.concatenate(recorded, axis=1)  # as watched states, parts ascend
        return [extreme(numbers) for extreme, numbers in zip(EXTREMES, zip(*seen, strict=True), strict=True)]


class Chain(_Steps):
    """Steps of one chain, ``x <- factor * (A x) + stay * x``, or ``x <- A x`` without ``stay``."""

    def __init__(self, matrix: StepMatrix, factor: float, stay: Any | None) -> None:
        kernels = []
        for part, mine in zip(matrix.parts, matrix.matrices, strict=True):
            with on(part.device):
                kernels.append(mine.chain(factor, None if stay is None else part.own(stay)))
        super().__init__(matrix.parts, kernels)
        self._stays = stay is not None

    def run(
        self,
        steps: int,
        weights: Any | None,
        x: Any,
        other: Any,
        total: Any | None,
        threads: int,
        watched: Any | None = None,
        record: Any | None = None,
    ) -> tuple[bool, *tuple[float, ...]]:
        """``steps`` times: ``total += weight * x``, then a step; what is watched is brought home.

        Returns whether x ended in ``other``, and the numbers of :class:`galton.backend.steps.Seen`.
        """
        sums = [None] * len(self.parts) if total is None else self.parts.pieces(total)
        given = []
        for part, own in zip(self.parts, sums, strict=True):
            with on(part.device):
                given.append((None if weights is None else cp.asarray(weights), own))
        extremes = self._run("chain_steps", steps, x, other, given, watched, record)
        if total is not None:
            self.parts.gather(sums, total)
        if self._stays:
            extremes[-1] = 0.0
        return (steps % 2 == 1, *extremes)


class Bellman(_Steps):
    """Steps of one MDP, ``x <- opt (A x + constant)``."""

    def __init__(self, matrix: StepMatrix, constant: Any | None, maximise: bool) -> None:
        kernels = []
        for part, mine in zip(matrix.parts, matrix.matrices, strict=True):
            with on(part.device):
                kernels.append(mine.bellman(None if constant is None else part.of_rows(constant), maximise))
        super().__init__(matrix.parts, kernels)

    def run(
        self,
        steps: int,
        x: Any,
        other: Any,
        choices: Any | None,
        threads: int,
        watched: Any | None = None,
        record: Any | None = None,
    ) -> tuple[bool, *tuple[float, ...]]:
        """``steps`` steps; choices, if any, and what is watched are brought home.

        Returns whether x ended in ``other``, and the numbers of :class:`galton.backend.steps.Seen`.
        """
        if choices is None:
            extremes = self._run("bellman_steps", steps, x, other, [()] * len(self.parts), watched, record)
            return (steps % 2 == 1, *extremes)
        chosen = self.parts.each(lambda part: cp.empty(steps * part.size, dtype=np.int32))
        extremes = self._run("bellman_choices", steps, x, other, [(own,) for own in chosen], watched, record)
        taken = choices.reshape(steps, self.parts.size)
        for part, own in zip(self.parts, chosen, strict=True):
            rows = on_host(own).reshape(steps, part.size)
            taken[:, part.first : part.last] = rows + np.int32(part.rows.start)
        return (steps % 2 == 1, *extremes)


def _split(model: Model, groups: Any | None, starts: Any, columns: Any, codes: Any) -> StepMatrix:
    return StepMatrix(csr(groups, starts, columns, codes, model.values.dictionary), model.placement.devices)


def matrix_of(model: Model) -> StepMatrix:
    """The matrix of a model."""
    values = model.values
    codes = values.plain if values.dictionary is None else values.index
    return _split(model, model.choice_starts, model.row_starts, model.columns, codes)


def part_of(model: Model, keep: Any, loops: bool, threads: int) -> tuple[Any, Any, StepMatrix, Any, int]:
    """The states kept, for each state its number among them or -1, their matrix, its offsets and its entries."""
    if is_on_host(model.columns):
        states, position, rows = rows_of(model, keep, loops, threads)
        return states, position, _split(model, *rows), rows[1], len(rows[2])
    states, position, found, starts, entries = alone.part_of(model, keep, loops, threads)
    return states, position, _split(model, found.groups, found.starts, found.columns, found.codes), starts, entries


def batch(entries: int, rows: int) -> int:
    """How many steps over so many entries and rows to ask for at a time."""
    return max(LEAST_STEPS, alone.batch(entries, rows))


def threads(wanted: int) -> int:
    """One: the devices have their own."""
    return 1


def _where(model: Model) -> Any:
    from ... import of

    return of(model.columns).steps


def row_products(model: Model, vector: Any, threads: int) -> Any:
    """``(choices,)`` the matrix of a model times a vector, where the model lies."""
    return _where(model).row_products(model, vector, threads)


def exit_rates(model: Model, loops: bool, threads: int) -> tuple[Any, Any]:
    """``(states,)`` the sum of the rates out of each state, as a double and what it lacks, where the model lies."""
    found: tuple[Any, Any] = _where(model).exit_rates(model, loops, threads)
    return found
