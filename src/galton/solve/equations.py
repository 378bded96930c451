"""The equations x = opt(Ax + b) of a question, ready to be solved.

What a model and a question leave to compute: unknowns numbered component by component, successors first; known values
folded into b; self-loops divided out; end components, where asked, made one unknown each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .. import _core, backend
from ..backend.cpu.matrix import matrix_of
from ..backend.protocol import Matrix, Optimum, Span, System
from ..device.arrays import how_many, namespace, on_host
from ..model.sparse import Model
from ..model.values import Floats, Values

Int32s = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

__all__ = ["Equations", "Optimum", "Segment", "restrict"]

LARGE = 512  # unknowns from which on a component is solved alone, to be swept as often as it needs and no more
SEGMENT = 4096  # unknowns of small components that are solved together
FAINT = -960.0  # the power of 2 below which a double has too few digits left to lose some
ACYCLIC_RUN = 1024  # unknowns without a cycle from which on it pays to treat them apart


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
    """Where equations came from; see :func:`restrict`. ``number`` is the unknown of each state, or -1."""

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
        largest = math.log2(float(entries.max())) + math.log2(self.slack * 2.0**52)  # of the sum of a row
        least = math.log2(float(entries.min()))
        known, earned = origin.known, least
        if float(known.max()) > 1 or float(known.sum()) != how_many(known != 0):  # others than 0 and 1
            earned += math.log2(min(least_positive(known), 1.0))
        if origin.reward is not None:
            earned = min(earned, math.log2(least_positive(origin.reward)))
        return min(least, earned - max(largest, 0.0)) < FAINT or largest > -FAINT

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.starts if self.groups is None else self.groups) - 1

    @cached_property
    def matrix(self) -> Matrix:
        """The rows as their backend takes them."""
        return backend.of(self.columns).equations.matrix(
            self.groups,
            self.starts,
            self.columns,
            self.values,
            self.scale,
            self.constant,
            format=self.format,
            devices=self.origin.model.placement.devices,
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
        """The same matrix with other constants, which may change."""
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


def restrict(
    model: Model,
    members: Int32s,
    known: Floats,
    *,
    optimum: Optimum | None = None,
    reward: Floats | None = None,
    keep: Mask | None = None,
    groups: Int32s | None = None,
    segments: tuple[Segment, ...] | None = None,
    threads: int = 1,
) -> Equations:
    """The equations of some states of a model, given the values of the others.

    Parameters
    ----------
    members
        The states sought, in the order of their unknowns.
    known
        ``(states,)`` the values of all other states.
    reward
        ``(choices,)`` collected whenever a choice is taken; per unit of time for a CTMC.
    keep
        ``(choices,)`` the choices that may be taken; all if None.
    groups
        ``(unknowns + 1,)`` offsets into members where several states are one unknown.
    segments
        An order to solve in; everything together if None.
    """
    unknowns = len(members) if groups is None else len(groups) - 1
    number = np.full(model.n_states, -1, dtype=np.int32)
    if groups is None:
        number[members] = np.arange(unknowns, dtype=np.int32)
    else:
        number[members] = np.repeat(np.arange(unknowns, dtype=np.int32), np.diff(groups))
    found = _core.restrict(
        matrix_of(model),
        rates=model.type == "ctmc",
        number=number,
        known=known,
        reward=reward,
        keep=keep,
        members=members,
        starts=groups,
        threads=threads,
    )
    dictionary = model.values.dictionary
    values = Values(plain=found["values"]) if dictionary is None else Values(None, dictionary, found["values"])
    return Equations(
        groups=found["groups"],
        starts=found["starts"],
        columns=found["columns"],
        values=values,
        scale=found["scale"],
        constant=found["constant"],
        rows=found["rows"],
        progress=found["progress"],
        optimum=optimum if model.type == "mdp" else None,
        slack=_slack(found["longest"]),
        segments=segments or (Segment(0, unknowns, False),),
        origin=Origin(model, number, known, reward),
    )


def restrict_on_device(
    model: Model,
    open_states: Mask,
    known: Floats,
    *,
    optimum: Optimum | None = None,
    reward: Floats | None = None,
    keep: Mask | None = None,
    component: Int32s | None = None,
    format: str | None = None,
    order: str | None = None,
) -> Equations:
    """The same on a device, for all open states together; those of one ``component`` are one unknown."""
    from ..backend.cuda.restrict import number_states, restrict

    number, unknowns = number_states(open_states, component)
    found = restrict(model, number, unknowns, known, reward, keep)
    if order not in (None, "canonical") and unknowns:
        from .order import places

        first = on_host(number[model.initial])
        new = places(order, found.groups, found.starts, found.columns, first[first >= 0])
        xp = namespace(number)
        number = xp.where(number >= 0, xp.asarray(new)[xp.maximum(number, 0)], number)
        found = restrict(model, number, unknowns, known, reward, keep)
    dictionary = model.values.dictionary
    return Equations(
        groups=found.groups,
        starts=found.starts,
        columns=found.columns,
        values=Values(plain=found.codes) if dictionary is None else Values(None, dictionary, found.codes),
        scale=found.scale,
        constant=found.constant,
        rows=found.rows,
        progress=found.progress,
        optimum=optimum if model.type == "mdp" else None,
        slack=_slack(found.longest),
        segments=(Segment(0, unknowns, False),),
        origin=Origin(model, number, known, reward),
        format=format,
    )


def _slack(longest: int) -> float:
    """Of rows with that many entries: in units of 2^-53, what a row may be off from 1 (``src/core/matrix/rows.hpp``),
    the sums of scale and constant, a product in each term, a division and a product; with some to spare.
    """
    return (2 * longest + 4) * 2.0**-52


def segments_of(starts: npt.NDArray[np.integer], trivial: Mask) -> Iterator[Segment]:
    """A segment for each large component and each long run without cycles; small components share one.

    ``starts`` are the offsets of the components, ``trivial`` those that are a single unknown without a loop.
    """
    if not len(trivial):
        return
    edges = np.concatenate([[0], np.flatnonzero(trivial[1:] != trivial[:-1]) + 1, [len(trivial)]])
    begin, end = starts[edges[:-1]], starts[edges[1:]]  # runs of components that are all trivial, or all not
    run = trivial[edges[:-1]] & (end - begin >= ACYCLIC_RUN)
    large = np.flatnonzero(np.diff(starts) >= LARGE)
    runs = [(int(low), int(high), True) for low, high in zip(begin[run], end[run], strict=True)]
    alone = sorted(runs + [(int(starts[c]), int(starts[c + 1]), False) for c in large])
    first = 0
    for low, high, acyclic in [*alone, (int(starts[-1]), int(starts[-1]), False)]:
        while first < low:
            cut = int(starts[np.searchsorted(starts, min(first + SEGMENT, low))])
            yield Segment(first, cut, False)
            first = cut
        if low < high:
            yield Segment(low, high, acyclic)
        first = high
