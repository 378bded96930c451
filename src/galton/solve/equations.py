"""The equations x = opt(Ax + b) of a question, ready to be solved.

What a model and a question leave to compute: unknowns numbered component by component, successors first; known values
folded into b; self-loops divided out; end components, where asked, made one unknown each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..backend.cpu import matrix_of
from ..model.sparse import Model
from ..model.values import Floats, Values

Int32s = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Optimum = Literal["min", "max"]

__all__ = ["Equations", "Segment", "restrict"]

OPTIMA = {"min": -1, None: 0, "max": 1}
SEGMENT = 1 << 15  # unknowns; small components are solved together until they are so many, which still fit in a cache
ACYCLIC_RUN = 1 << 10  # unknowns without a cycle from which on it pays to treat them apart


@dataclass(frozen=True, slots=True)
class Segment:
    """Unknowns ``first`` up to ``last`` that depend on nothing later; ``acyclic`` when not on each other either way."""

    first: int
    last: int
    acyclic: bool


@dataclass(frozen=True, eq=False)
class Equations:
    """``x[s] = opt over rows r of s: scale[r] · Σ values·x[columns] + constant[r]``.

    Attributes
    ----------
    optimum
        ``"min"``, ``"max"``, or None for a chain, which has one row per unknown and no ``groups``.
    rows
        The row of the model that each row came from.
    slack
        A bound on the relative rounding error of ``scale`` and ``constant``.
    segments
        The unknowns in an order in which they can be solved.
    """

    groups: Int32s | None
    starts: npt.NDArray[np.int32] | npt.NDArray[np.int64]
    columns: Int32s
    values: Values
    scale: Floats | None
    constant: Floats
    rows: Int32s
    optimum: Optimum | None
    slack: float
    segments: tuple[Segment, ...]

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.starts if self.groups is None else self.groups) - 1

    @cached_property
    def system(self) -> _core.System:
        """The equations as the kernels take them."""
        entries = self.values.plain if self.values.dictionary is None else self.values.index
        matrix = _core.Matrix(self.groups, self.starts, self.columns, entries, self.values.dictionary)
        return _core.System(matrix, self.scale, self.constant, OPTIMA[self.optimum])

    def entries(self, segment: Segment) -> int:
        """Matrix entries of a segment."""
        first, last = segment.first, segment.last
        if self.groups is not None:
            first, last = int(self.groups[first]), int(self.groups[last])
        return int(self.starts[last] - self.starts[first])


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
        matrix_of(model), model.type == "ctmc", number, known, reward, keep, members, groups, threads
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
        optimum=optimum if model.type == "mdp" else None,
        # Sums of up to `longest` products, a division and a product; each rounds by at most 2^-53.
        slack=(found["longest"] + 4) * 2.0**-52,
        segments=segments or (Segment(0, unknowns, False),),
    )


def segments_of(starts: npt.NDArray[np.integer], trivial: Mask) -> Iterator[Segment]:
    """Consecutive components, taken together until they are worth a call; a large component stands alone.

    ``starts`` are the offsets of the components, ``trivial`` those that are a single unknown without a loop.
    """
    edges = np.concatenate([[0], np.flatnonzero(trivial[1:] != trivial[:-1]) + 1, [len(trivial)]])
    begin, end = starts[edges[:-1]], starts[edges[1:]]  # runs of components that are all trivial, or all not
    long = trivial[edges[:-1]] & (end - begin >= ACYCLIC_RUN)
    first = 0
    for low, high in zip(begin[long].tolist(), end[long].tolist(), strict=True):
        yield from _cut(starts, first, low)
        yield Segment(low, high, True)
        first = high
    yield from _cut(starts, first, int(starts[-1]))


def _cut(starts: npt.NDArray[np.integer], first: int, last: int) -> Iterator[Segment]:
    while first < last:
        after = int(np.searchsorted(starts, min(first + SEGMENT, last)))
        before = int(starts[after - 1])
        cut = before if int(starts[after]) - before > SEGMENT and before > first else int(starts[after])
        yield Segment(first, cut, False)
        first = cut
