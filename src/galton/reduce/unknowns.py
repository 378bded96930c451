"""From the states that graph analysis leaves open to equations in which a method can solve them, and back.

The reductions that :mod:`.plan` lists are applied to the open states; what is left becomes equations, and the values of
the unknowns are lifted back to the states.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..backend.formats import ORDERS
from ..device.arrays import is_on_host
from ..graph import EndComponents
from ..model.sparse import Int32s, Mask, Model
from ..model.values import Floats
from ..solve.equations import Equations, Optimum
from ..solve.settings import Settings
from ..solve.solution import Work
from .component_order import segments_of
from .plan import plan
from .reduction import Problem, Reduction
from .restriction import restrict, restrict_on_device

__all__ = ["Unknowns", "open_equations"]

Array = TypeVar("Array", Floats, Int32s)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Equations, and the way back to the states.

    Attributes
    ----------
    members
        The states with an unknown; in the order of the unknowns where these are ``plain``, which is one for each state.
    """

    equations: Equations
    reductions: tuple[Reduction, ...]
    problem: Problem
    members: Int32s
    plain: bool
    work: tuple[Work, ...]

    def lift(self, solution: Floats, onto: Floats) -> Floats:
        """Values of all states from those of the unknowns; ``onto`` has those of the others."""
        values = self._spread(solution, onto)
        for reduction in reversed(self.reductions):
            values = reduction.lift(self.problem, values)
        return values

    def lift_choices(self, chosen: Int32s, onto: Int32s) -> Int32s:
        """A row of the model for every state from the rows of the unknowns; ``onto`` has those of the others."""
        rows = self._spread(self.equations.rows[chosen], onto)
        for reduction in reversed(self.reductions):
            rows = reduction.lift_choices(self.problem, rows)
        return rows

    def _spread(self, numbers: Array, onto: Array) -> Array:
        """Numbers of the unknowns as numbers of their states."""
        spread = onto.copy()
        members = self.members
        spread[members] = numbers if self.plain else numbers[self.equations.origin.number[members]]
        return spread


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
        End components that become one unknown each; None where every strategy leaves the open states.
    """
    start = time.perf_counter()
    problem = Problem(model, known, optimum, reward, keep)
    reductions = plan(problem, settings, open_states, merge)
    for reduction in reductions:
        problem = reduction.apply(problem)
    merged = f"{merge.count:,} end components merged" if merge is not None and merge.count else ""
    build = _on_host
    if model.on_device:
        build = _shared if is_on_host(model.columns) else _on_device
    equations, members, work = build(problem, settings, start, merged)
    listed = "; ".join(reduction.describe() for reduction in reductions)
    plain = problem.component is None and problem.numbering in (None, "canonical")
    return Unknowns(equations, reductions, problem, members, plain, (Work("reductions", listed), *work))


Built = tuple[Equations, Int32s, tuple[Work, ...]]


def _on_host(problem: Problem, settings: Settings, start: float, merged: str) -> Built:
    """Segment by segment, in the order of the problem."""
    order, starts = problem.order, problem.starts
    assert order is not None
    assert starts is not None
    sizes = np.diff(starts)
    segments = tuple(segments_of(starts, sizes == 1))
    ordered = time.perf_counter()
    equations = restrict(
        problem.model,
        order,
        problem.known,
        optimum=problem.optimum,
        reward=problem.reward,
        keep=problem.keep,
        groups=problem.groups,
        segments=segments,
        threads=settings.n_threads,
    )
    largest = int(sizes.max(initial=0))
    detail = f"{len(sizes):,} strongly connected, the largest of {largest:,}{', ' if merged else ''}{merged}"
    work = (
        Work("components", detail, seconds=ordered - start),
        Work(
            "equations",
            f"{equations.size:,} unknowns, {len(equations.rows):,} rows, {len(equations.columns):,} entries, "
            f"{_format(equations)}",
            seconds=time.perf_counter() - ordered,
        ),
    )
    return equations, order, work


def _on_device(problem: Problem, settings: Settings, start: float, merged: str) -> Built:
    """All open states together, in the order they have: a device sweeps over everything at once."""
    open_states = problem.open_states
    assert open_states is not None
    equations = restrict_on_device(
        problem.model,
        open_states,
        problem.known,
        optimum=problem.optimum,
        reward=problem.reward,
        keep=problem.keep,
        component=problem.component,
        format=settings.format,
        order=problem.numbering,
    )
    members = np.flatnonzero(open_states).astype(np.int32)
    return equations, members, _laid_out(equations, problem, start, merged)


def _shared(problem: Problem, settings: Settings, start: float, merged: str) -> Built:
    """All open states together, in the memory of the host; several devices take parts of the rows from there."""
    order, groups, numbering = problem.order, problem.groups, problem.numbering
    assert order is not None

    def restricted(order: Int32s, groups: Int32s | None) -> Equations:
        equations = restrict(
            problem.model,
            order,
            problem.known,
            optimum=problem.optimum,
            reward=problem.reward,
            keep=problem.keep,
            groups=groups,
            threads=settings.n_threads,
        )
        return replace(equations, format=settings.format)

    equations = restricted(order, groups)
    if numbering not in (None, "canonical") and equations.size:
        from .renumbering import renumbered_unknowns

        order, groups = renumbered_unknowns(numbering or "", equations, order, groups)
        equations = restricted(order, groups)
    return equations, order, _laid_out(equations, problem, start, merged)


def _laid_out(equations: Equations, problem: Problem, start: float, merged: str) -> tuple[Work, ...]:
    """The equations of a device, or of several, in words."""
    unknowns = f"{equations.size:,} unknowns, {merged}{', ' if merged else ''}"
    numbered = f", numbered {ORDERS[problem.numbering]}" if problem.numbering else ""
    laid_out = equations.matrix.describe()
    detail = f"{unknowns}{len(equations.rows):,} rows, {len(equations.columns):,} entries{numbered}; {laid_out}"
    return (Work("equations", detail, seconds=time.perf_counter() - start),)


def _format(equations: Equations) -> str:
    values = equations.values
    if values.dictionary is None or values.index is None:
        return "CSR, 8-byte values"
    return f"CSR, {values.index.itemsize}-byte numbers of {len(values.dictionary):,} values"
