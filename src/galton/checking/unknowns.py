"""From the states that graph analysis leaves open to equations in an order in which they can be solved.

Three reductions, each of which makes the next step easier: restriction to the open states, one unknown for each end
component that must not be solved through (its states have the same value, and inside it the equations say nothing), and
an order by strongly connected components, successors first, each from its exits inwards.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .. import _core
from ..backend.cpu.matrix import matrix_of
from ..backend.formats import ORDERS
from ..device.arrays import is_on_host, namespace
from ..graph import EndComponents, strongly_connected_components
from ..model.sparse import Int32s, Mask, Model
from ..model.values import Floats
from ..solve.equations import Equations, Optimum, restrict, restrict_on_device, segments_of
from ..solve.settings import Settings
from .quantity import Work
from .strategies.graph_choices import ways_inside

__all__ = ["Unknowns", "open_equations"]


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Equations, and the way back to the states: ``members`` are those with an unknown, some of them ``merged``."""

    equations: Equations
    members: Int32s
    merged: bool
    work: tuple[Work, ...]

    def lift(self, solution: Floats, onto: Floats) -> Floats:
        """Values of all states from those of the unknowns."""
        lifted = onto.copy()
        lifted[self.members] = solution[self.equations.origin.number[self.members]] if self.merged else solution
        return lifted

    def lift_choices(self, model: Model, chosen: Int32s, onto: Int32s, inner: EndComponents | None) -> Int32s:
        """A row for every state from the rows of the unknowns; inside an end component, ways to where it is left."""
        rows = self.equations.rows[chosen]
        lifted = onto.copy()
        if not self.merged or inner is None:
            lifted[self.members] = rows[self.equations.origin.number[self.members]] if self.merged else rows
            return lifted
        assert model.choice_starts is not None
        leaving = np.searchsorted(model.choice_starts, rows, side="right").astype(np.int32) - 1
        inside = inner.component >= 0
        exits = namespace(model.columns).zeros(model.n_states, dtype=np.bool_)
        exits[leaving] = True
        ways = ways_inside(model, inside & ~exits, exits, inner.staying)
        lifted[self.members] = ways[self.members]
        lifted[leaving] = rows
        return lifted


def open_equations(
    model: Model,
    open_states: Mask,
    known: Floats,
    settings: Settings,
    *,
    optimum: Optimum | None = None,
    reward: Floats | None = None,
    keep: Mask | None = None,
    merge: EndComponents | None = None,
) -> Unknowns:
    """Equations of the open states, given the values of all others.

    Parameters
    ----------
    reward
        ``(choices,)`` what taking a choice collects.
    keep
        ``(choices,)`` the choices that may be taken.
    merge
        End components that become one unknown each; their inner choices are dropped.
    """
    if not is_on_host(model.columns):
        return _on_device(model, open_states, known, settings, optimum, reward, keep, merge)
    start = time.perf_counter()
    components = strongly_connected_components(model, open_states, keep)
    order, starts = components.order, components.starts
    _core.order_by_exit(matrix_of(model), components.component, starts, keep, order)
    groups = None
    if merge is not None and merge.count:
        keep = ~merge.staying if keep is None else keep & ~merge.staying
        order, groups, starts = _merged(order, starts, merge)
    segments = tuple(segments_of(starts, np.diff(starts) == 1))
    sizes = np.diff(starts)
    ordered = time.perf_counter()
    equations = restrict(
        model,
        order,
        known,
        optimum=optimum,
        reward=reward,
        keep=keep,
        groups=groups,
        segments=segments,
        threads=settings.n_threads,
    )
    merged = f", {merge.count:,} end components merged" if groups is not None and merge is not None else ""
    work = (
        Work(
            "components",
            f"{len(sizes):,} strongly connected, the largest of {int(sizes.max(initial=0)):,}{merged}",
            seconds=ordered - start,
        ),
        Work(
            "equations",
            f"{equations.size:,} unknowns, {len(equations.rows):,} rows, {len(equations.columns):,} entries, "
            f"{_format(equations)}",
            seconds=time.perf_counter() - ordered,
        ),
    )
    return Unknowns(equations, order, groups is not None, work)


def _on_device(
    model: Model,
    open_states: Mask,
    known: Floats,
    settings: Settings,
    optimum: Optimum | None,
    reward: Floats | None,
    keep: Mask | None,
    merge: EndComponents | None,
) -> Unknowns:
    """All open states together, in the order they have: a device sweeps over everything at once."""
    start = time.perf_counter()
    component = None
    if merge is not None and merge.count:
        keep = ~merge.staying if keep is None else keep & ~merge.staying
        component = merge.component
    equations = restrict_on_device(
        model,
        open_states,
        known,
        optimum=optimum,
        reward=reward,
        keep=keep,
        component=component,
        format=settings.format,
        order=settings.order,
    )
    ordered = settings.order not in (None, "canonical")
    members = np.flatnonzero(open_states).astype(np.int32)
    merged = "" if component is None or merge is None else f"{merge.count:,} end components merged, "
    detail = f"{equations.size:,} unknowns, {merged}{len(equations.rows):,} rows, {len(equations.columns):,} entries"
    numbered = f", numbered {ORDERS[settings.order]}" if settings.order else ""
    detail = f"{detail}{numbered}; {equations.matrix.describe()}"
    work = Work("equations", detail, seconds=time.perf_counter() - start)
    return Unknowns(equations, members, component is not None or ordered, (work,))


def _merged(order: Int32s, starts: Int32s, merge: EndComponents) -> tuple[Int32s, Int32s, Int32s]:
    """The members of each end component together; offsets of the unknowns in it, and of components in those."""
    position = np.arange(len(order))
    component = merge.component[order]
    inside = component >= 0
    first = np.full(merge.count, len(order))
    np.minimum.at(first, component[inside], position[inside])
    key = np.where(inside, first[component], position)
    # An end component lies in one strongly connected component, so sorting by key moves nothing out of its own.
    sorting = np.argsort(key, kind="stable")
    sorted_key = key[sorting]
    fresh = np.concatenate([[True], sorted_key[1:] != sorted_key[:-1]])
    groups = np.append(np.flatnonzero(fresh), len(order)).astype(np.int32)
    return order[sorting], groups, np.searchsorted(groups, starts).astype(np.int32)


def _format(equations: Equations) -> str:
    values = equations.values
    if values.dictionary is None or values.index is None:
        return "CSR, 8-byte values"
    return f"CSR, {values.index.itemsize}-byte numbers of {len(values.dictionary):,} values"
