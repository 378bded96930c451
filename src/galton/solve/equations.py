"""The equations x = opt(Ax + b) of a question, ready to be solved.

What a model and a question leave to compute: unknowns numbered component by component, successors first; known values
folded into b; self-loops divided out; end components, where asked, made one unknown each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .. import backend
from ..backend.protocol import Matrix, Optimum, Span, System
from ..device.arrays import how_many
from ..model.rounding import FAINT, SPACING
from ..model.sparse import Model
from ..model.values import Floats, Values

Int32s = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

__all__ = ["Equations", "Int32s", "Mask", "Optimum", "Origin", "Segment"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Unknowns ``first`` up to ``last`` that depend on nothing later; ``acyclic`` when not on each other either way."""

    first: int
    last: int
    acyclic: bool

    def span(self, threads: int) -> Span:
        """Its unknowns as primitives take them."""
        return Span(self.first, self.last, threads)


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
    def on_device(self) -> bool:
        """Whether devices sweep over them: over all unknowns together."""
        return self.origin.model.on_device

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.starts if self.groups is None else self.groups) - 1

    @cached_property
    def matrix(self) -> Matrix:
        """The rows as their backend takes them."""
        devices = self.origin.model.placement.devices
        return backend.of(self.columns, devices).equations.matrix(
            self.groups,
            self.starts,
            self.columns,
            self.values,
            self.scale,
            self.constant,
            format=self.format,
            devices=devices,
        )

    @cached_property
    def system(self) -> System:
        """The equations as sweeps take them."""
        return self.matrix.system(self.constant, self.optimum, compact=True)

    @cached_property
    def prover(self) -> System:
        """The equations as proofs take them."""
        return self.matrix.prover(self.constant, self.optimum)

    def system_with(self, constant: Floats, optimum: Optimum | None) -> System:
        """Equations with this matrix and other constants, which may change."""
        return self.matrix.system(constant, optimum, compact=False)

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
