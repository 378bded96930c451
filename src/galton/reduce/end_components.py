"""End components in which nothing changes: one unknown each, because inside them the equations say nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..device.arrays import namespace, offsets
from ..graph import EndComponents, attractor
from ..model.sparse import Int32s, Mask, Model
from ..solve.requirements import Requirement
from .reduction import Problem, Reduction
from .submodels import entries_of

__all__ = ["CollapseEndComponents", "ways_inside"]


@dataclass(frozen=True, eq=False)
class CollapseEndComponents(Reduction):
    """One unknown for each end component; its inner choices are dropped.

    All its states have the value of the unknown, and its number, so that values need not be lifted. Of the choices, one
    leaves the component; the other states take ways to where it is left.
    """

    ends: EndComponents
    guarantees: ClassVar[frozenset[Requirement]] = frozenset({Requirement.ONE_SOLUTION})

    def apply(self, problem: Problem) -> Problem:
        """The problem without the choices inside; where it has an order, the states of each component lie together."""
        staying, keep = self.ends.staying, problem.keep
        reduced = replace(problem, keep=~staying if keep is None else keep & ~staying, component=self.ends.component)
        if problem.order is None or problem.starts is None:
            return reduced
        order, groups, starts = _together(problem.order, problem.starts, self.ends)
        return replace(reduced, order=order, groups=groups, starts=starts)

    def lift_choices(self, problem: Problem, rows: Int32s) -> Int32s:
        """Inside an end component, ways to where it is left."""
        model = problem.model
        assert model.choice_starts is not None
        members = slice(None) if problem.open_states is None else np.flatnonzero(problem.open_states)
        taken = rows[members]
        leaving = np.searchsorted(model.choice_starts, taken, side="right").astype(np.int32) - 1
        exits = namespace(model.columns).zeros(model.n_states, dtype=np.bool_)
        exits[leaving] = True
        inside = self.ends.component >= 0
        rows[members] = ways_inside(model, inside & ~exits, exits, self.ends.staying)[members]
        rows[leaving] = taken
        return rows

    def describe(self) -> str:
        """In words."""
        return f"collapse {self.ends.count:,} end components to one unknown each"


def _together(order: Int32s, starts: Int32s, ends: EndComponents) -> tuple[Int32s, Int32s, Int32s]:
    """The members of each end component together; offsets of the unknowns in it, and of components in those."""
    position = np.arange(len(order))
    component = ends.component[order]
    inside = component >= 0
    first = np.full(ends.count, len(order))
    np.minimum.at(first, component[inside], position[inside])
    key = np.where(inside, first[component], position)
    # An end component lies in one strongly connected component, so sorting by key moves nothing out of its own.
    sorting = np.argsort(key, kind="stable")
    sorted_key = key[sorting]
    fresh = np.concatenate([[True], sorted_key[1:] != sorted_key[:-1]])
    groups = np.append(np.flatnonzero(fresh), len(order)).astype(np.int32)
    return order[sorting], groups, np.searchsorted(groups, starts).astype(np.int32)


def ways_inside(model: Model, through: Mask, exits: Mask, staying: Mask) -> Int32s:
    """Rows that stay inside end components, whose rows are ``staying``, and lead to one of the ``exits``."""
    groups = model.choice_starts
    assert groups is not None
    kept = np.flatnonzero(staying)
    if not len(kept):
        return groups[:-1].astype(np.int32)
    # The rows that stay, alone, are a model of their own: states without any keep none, which no search minds.
    starts = offsets(staying, np.int32)[groups]
    entries, lengths = entries_of(model, kept)
    inner = Model(
        type="mdp",
        choice_starts=starts,
        row_starts=offsets(lengths),
        columns=model.columns[entries],
        values=model.values,
        initial=model.initial,
    )
    rows = attractor(inner, through, exits)
    known = namespace(rows).minimum(rows, len(kept) - 1)
    return np.where(np.diff(starts) > 0, kept[known], groups[:-1]).astype(np.int32)
