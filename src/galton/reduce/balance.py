"""The balance equations of bottom components: what flows into a state in the long run flows out of it.

π(t) = Σ over s ≠ t of π(s) R(s,t) / E(t), where R are rates or probabilities and E(t) is what leaves t. The rows are
those of the matrix transposed. In each component they have one solution up to a factor, which the sum of π settles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..device.arrays import namespace, offsets, on_host, repeated
from ..graph import Components
from ..model.rounding import SPACING
from ..model.sparse import Int32s, Mask, Model
from ..model.values import Floats
from ..solve.equations import Equations, Origin, Segment
from ..solve.settings import Settings
from .submodels import entries_of, picked

__all__ = ["Balance", "balance", "reordered"]


@dataclass(frozen=True, eq=False)
class Balance:
    """The balance equations of all bottom components together.

    Attributes
    ----------
    equations
        An unknown for each state of a bottom component. All constants are 0, but for states that are never left: these
        are components of their own, and 1.
    members, component
        The state and the component of each unknown.
    count
        How many components there are.
    """

    equations: Equations
    members: Int32s
    component: Int32s
    count: int

    @property
    def start(self) -> Floats:
        """The uniform distribution of each component."""
        xp = namespace(self.members)
        sizes = xp.bincount(self.component, minlength=self.count)
        return 1.0 / sizes[self.component]  # type: ignore[no-any-return]

    def largest(self, x: Floats) -> Int32s:
        """The unknown of each component with the largest value."""
        xp = namespace(x)
        order = xp.lexsort(xp.stack([x, self.component.astype(np.float64)]))
        last = xp.searchsorted(self.component[order], xp.arange(self.count), side="right") - 1
        return order[last].astype(np.int32)  # type: ignore[no-any-return]

    def with_fixed(self, fixed: Int32s) -> tuple[Equations, Mask]:
        """Equations with one solution: those of the other unknowns, where these are 1. And which the others are."""
        given, xp = self.equations, namespace(self.members)
        size = given.size
        free = xp.ones(size, dtype=np.bool_)
        free[fixed] = False
        number = xp.where(free, xp.cumsum(free, dtype=np.int32) - 1, np.int32(-1)).astype(np.int32)
        lengths = xp.diff(given.starts)
        owner = repeated(xp.arange(size, dtype=np.int32), lengths)
        inside = free[owner] & free[given.columns]
        known = free[owner] & ~free[given.columns]
        assert given.scale is not None
        inflow = xp.bincount(number[owner[known]], weights=given.values[:][known], minlength=int(free.sum()))
        scale = given.scale[free]
        counts = xp.bincount(number[owner[inside]], minlength=len(scale))
        rest = xp.arange(len(scale), dtype=np.int32)
        origin = given.origin
        equations = replace(
            given,
            starts=offsets(counts, given.starts.dtype),
            columns=number[given.columns[inside]],
            values=picked(given.values, xp.flatnonzero(inside)),
            scale=scale,
            constant=scale * inflow,
            rows=rest,
            progress=rest,
            segments=(Segment(0, len(scale), False),),
            origin=replace(origin, number=_numbers(origin.model, self.members[free])),
        )
        return equations, free


def balance(model: Model, components: Components, settings: Settings) -> Balance:
    """The balance equations of the bottom components of a chain, in the order that the settings ask for."""
    xp = namespace(components.order)
    members = xp.sort(components.order)  # by the values of variables, which keeps neighbours near
    if settings.order is not None:
        members = reordered(model, members, settings.order)
    component, size = components.component[members], len(members)
    number = _numbers(model, members)
    entries, lengths = entries_of(model, members)
    owner = repeated(xp.arange(size, dtype=np.int32), lengths)
    target = number[model.columns[entries]]
    leaving = owner != target
    owner, target, entries = owner[leaving], target[leaving], entries[leaving]
    exits = xp.bincount(owner, weights=model.values[:][entries], minlength=size)
    order = xp.argsort(target, kind="stable")
    entries = entries[order]
    rows = xp.arange(size, dtype=np.int32)
    counts = xp.bincount(target, minlength=size)
    equations = Equations(
        groups=None,
        starts=offsets(counts, np.int32 if len(entries) < 2**31 else np.int64),
        columns=owner[order],
        values=picked(model.values, entries),
        scale=1.0 / xp.where(exits > 0, exits, 1.0),
        constant=(counts == 0).astype(np.float64),
        rows=rows,
        progress=rows,
        optimum=None,
        slack=4 * SPACING,
        segments=(Segment(0, size, False),),
        origin=Origin(model, number, xp.zeros(model.n_states), None),
        format=settings.format,
    )
    return Balance(equations, members, component, components.count)


def _numbers(model: Model, members: Int32s) -> Int32s:
    """The unknown of each state, -1 where it has none."""
    xp = namespace(members)
    number = xp.full(model.n_states, -1, dtype=np.int32)
    number[members] = xp.arange(len(members), dtype=np.int32)
    return number  # type: ignore[no-any-return]


def reordered(model: Model, members: Int32s, order: str) -> Int32s:
    """The states of bottom components, which are in canonical order, in another."""
    if order == "canonical":
        return members
    from .renumbering import places

    xp = namespace(members)
    number = _numbers(model, members)
    entries, lengths = entries_of(model, members)
    roots = on_host(number[model.initial])
    new = xp.asarray(places(order, None, offsets(lengths), number[model.columns[entries]], roots[roots >= 0]))
    return members[xp.argsort(new)]  # type: ignore[no-any-return]
