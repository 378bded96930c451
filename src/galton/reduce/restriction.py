"""Restricting a model to the states that are sought: their rows become equations, all other values are folded in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from ..backend.cpu.matrix import matrix_of
from ..device.arrays import how_many, namespace, on_host
from ..model.rounding import SPACING
from ..model.sparse import Int32s, Mask, Model
from ..model.values import Floats, Values
from ..solve.equations import Equations, Optimum, Origin, Segment
from .reduction import Problem, Reduction

__all__ = ["OpenStates", "restrict", "restrict_on_device"]


@dataclass(frozen=True, eq=False)
class OpenStates(Reduction):
    """Only the states that graph analysis leaves open. The values of the others are known, and stay as they are."""

    open_states: Mask

    def apply(self, problem: Problem) -> Problem:
        """The problem of these states."""
        return replace(problem, open_states=self.open_states)

    def describe(self) -> str:
        """In words."""
        return f"restrict to {how_many(self.open_states):,} of {len(self.open_states):,} states"


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
        rates=model.has_rates,
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
        optimum=optimum if model.has_choices else None,
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
    """The equations of all open states together, on a device; the states of one ``component`` are one unknown."""
    from ..backend.cuda.restrict import number_states, restrict

    number, unknowns = number_states(open_states, component)
    found = restrict(model, number, unknowns, known, reward, keep)
    if order not in (None, "canonical") and unknowns:
        from ..reduce.renumbering import places

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
        optimum=optimum if model.has_choices else None,
        slack=_slack(found.longest),
        segments=(Segment(0, unknowns, False),),
        origin=Origin(model, number, known, reward),
        format=format,
    )


def _slack(longest: int) -> float:
    """Bound the relative rounding of scale and constant, for rows with up to so many entries.

    In units of 2^-53: what a row may be off from 1 (``src/core/matrix/rows.hpp``), the sums of scale and constant, a
    product in each term, a division and a product; with some to spare.
    """
    return (2 * longest + 4) * SPACING
