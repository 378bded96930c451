"""The equations x = opt(Ax + b) of a question, ready to be solved.

What a model and a question leave to compute: unknowns numbered component by component, successors first; known values
folded into b; self-loops divided out; end components, where asked, made one unknown each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..backend.formats import LONG
from ..backend.protocol import System
from ..device.arrays import how_many, is_on_host
from ..model.rounding import FAINT, SPACING
from ..model.sparse import Model
from ..model.values import Floats, Values

if TYPE_CHECKING:
    from ..backend.cuda.layout import Layout
    from ..backend.cuda.partition import PartitionedSystem

Int32s = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Optimum = Literal["min", "max"]

__all__ = ["OPTIMA", "Equations", "Int32s", "Mask", "Optimum", "Origin", "Segment"]

OPTIMA = {"min": -1, None: 0, "max": 1}


@dataclass(frozen=True, slots=True)
class Segment:
    """Unknowns ``first`` up to ``last`` that depend on nothing later; ``acyclic`` when not on each other either way."""

    first: int
    last: int
    acyclic: bool


@dataclass(frozen=True, eq=False)
class Origin:
    """The model that equations came from, and what was given; ``number`` is the unknown of each state, or -1."""

    model: Model
    number: Int32s
    known: Floats
    reward: Floats | None


@dataclass(frozen=True, eq=False)
class Equations:
    """``x[s] = opt over rows r of s: scale[r] · Σ values·x[columns] + constant[r]``.

    Attributes
    ----------
    optimum
        ``"min"``, ``"max"``, or None for a chain, which has one row per unknown and no ``groups``.
    rows
        The row of the model that each row came from.
    progress
        A row of each unknown; together a strategy that leaves the unknowns with probability 1.
    slack
        A bound on the relative rounding error of ``scale`` and ``constant``.
    segments
        The unknowns in an order in which they can be solved.
    format
        The one asked for on a device; see :mod:`galton.backend.formats`.
    """

    groups: Int32s | None
    starts: npt.NDArray[np.int32] | npt.NDArray[np.int64]
    columns: Int32s
    values: Values
    scale: Floats | None
    constant: Floats
    rows: Int32s
    progress: Int32s
    optimum: Optimum | None
    slack: float
    segments: tuple[Segment, ...]
    origin: Origin
    format: str | None = None

    @cached_property
    def faint(self) -> bool:
        """Whether constants or scales may be so small, or large, that doubles have lost digits of them.

        ``slack`` is relative, and knows nothing of that: then only elimination, which starts from the rows of the model
        and has a range of its own, can be believed.
        """
        from ..backend.steps import least_positive

        origin = self.origin
        entries = origin.model.values.distinct
        if not len(entries):
            return False
        largest = math.log2(float(entries.max())) + math.log2(self.slack / SPACING)  # of the sum of a row
        least = math.log2(float(entries.min()))
        known, earned = origin.known, least
        if float(known.max()) > 1 or float(known.sum()) != how_many(known != 0):  # others than 0 and 1
            earned += math.log2(min(least_positive(known), 1.0))
        if origin.reward is not None:
            earned = min(earned, math.log2(least_positive(origin.reward)))
        return min(least, earned - max(largest, 0.0)) < math.log2(FAINT) or largest > -math.log2(FAINT)

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.starts if self.groups is None else self.groups) - 1

    @cached_property
    def system(self) -> System:
        """The equations as the kernels take them."""
        return self._system_with(self.constant, self.optimum, compact=True)

    @cached_property
    def prover(self) -> System:
        """The equations for proofs: on a device in CSR, as they were made, whatever sweeps are faster in.

        What is claimed then rests on the plainest kernels, and not on how a matrix was laid out anew or split.
        """
        if is_on_host(self.columns):
            return self.system
        from ..backend.cuda.layout import lay_out
        from ..backend.cuda.system import System

        rows = self._rows_on_device
        if len(self.columns) > LONG * rows.rows:  # a thread alone would take as long as the longest row
            rows = lay_out(rows, "csr-vector")
        return System(rows, self.scale, self.constant, OPTIMA[self.optimum], compact=True)

    def system_with(self, constant: Floats, optimum: Optimum | None) -> System:
        """The same matrix with other constants, which may change."""
        return self._system_with(constant, optimum, compact=False)

    def _system_with(self, constant: Floats, optimum: Optimum | None, *, compact: bool) -> System:
        entries = self.values.plain if self.values.dictionary is None else self.values.index
        if not is_on_host(self.columns):
            from ..backend.cuda.system import System

            devices = self.origin.model.info.get("devices", ())
            if len(devices) > 1:
                return self._on_several(devices, constant, optimum, compact)
            return System(self.layout, self.scale, constant, OPTIMA[optimum], compact=compact)
        matrix = _core.Matrix(self.groups, self.starts, self.columns, entries, self.values.dictionary)
        return _core.System(matrix, self.scale, constant, OPTIMA[optimum])

    def _on_several(
        self, devices: Sequence[int], constant: Floats, optimum: Optimum | None, compact: bool
    ) -> PartitionedSystem:
        """A part of the rows on each device."""
        from ..backend.cuda.partition import PartitionedSystem

        given = (self.scale, constant, OPTIMA[optimum], devices)
        return PartitionedSystem(self._rows_on_device, *given, compact=compact, format=self.format)

    @cached_property
    def layout(self) -> Layout:
        """The matrix on a device, in the format that was asked for or that suits it."""
        from ..backend.cuda.formats import in_format

        return in_format(self._rows_on_device, self.format, scale=self.scale, constant=self.constant)

    @property
    def _rows_on_device(self) -> Layout:
        from ..backend.cuda.layout import csr

        entries = self.values.plain if self.values.dictionary is None else self.values.index
        return csr(self.groups, self.starts, self.columns, entries, self.values.dictionary)

    @cached_property
    def exits(self) -> Floats:
        """``(rows,)`` the probability that a row leads to a state of known value."""
        from ..backend.steps import row_products

        origin = self.origin
        known = (origin.number < 0).astype(np.float64)
        exits = row_products(origin.model, known, threads=1)[self.rows]
        return exits if self.scale is None else exits * self.scale

    def rows_of(self, segment: Segment) -> slice:
        """The rows of a segment."""
        if self.groups is None:
            return slice(segment.first, segment.last)
        return slice(int(self.groups[segment.first]), int(self.groups[segment.last]))

    def entries(self, segment: Segment) -> int:
        """Matrix entries of a segment."""
        rows = self.rows_of(segment)
        return int(self.starts[rows.stop] - self.starts[rows.start])
