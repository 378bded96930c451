"""The plan of an unbounded question: a list of reductions after which the method has all that it requires."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..device.arrays import is_on_host
from ..model.sparse import Mask
from ..solve.methods import requirements
from ..solve.requirements import Requirement, insist
from ..solve.settings import Settings
from .reduction import Problem, Reduction
from .restriction import OpenStates

if TYPE_CHECKING:
    from ..graph import EndComponents

__all__ = ["plan"]


def plan(problem: Problem, settings: Settings, open_states: Mask, ends: EndComponents | None) -> tuple[Reduction, ...]:
    """The reductions for the open states of a problem, in the order in which they are applied.

    ``ends`` are the end components of the open states that must not be solved through; None where the question rules
    them out, because every strategy leaves the open states.

    Raises
    ------
    UnmetRequirementError
        Where the method of the settings requires what no reduction can bring about.
    """
    model = problem.model
    on_host = not model.on_device
    reductions: list[Reduction] = [OpenStates(open_states)]
    if on_host:
        from .component_order import ComponentOrder

        reductions.append(ComponentOrder())
    elif is_on_host(model.columns):
        from .component_order import StateOrder

        reductions.append(StateOrder())
    if ends is not None and ends.count:
        from .end_components import CollapseEndComponents

        reductions.append(CollapseEndComponents(ends))
    if not on_host and settings.order is not None:
        from .renumbering import Renumbering

        reductions.append(Renumbering(settings.order))
    name, required = requirements(settings)
    guaranteed = set(_given(problem, required, on_host=on_host, ends=ends))
    insist(name, required, guaranteed.union(*(reduction.guarantees for reduction in reductions)))
    return tuple(reductions)


def _given(
    problem: Problem, required: frozenset[Requirement], *, on_host: bool, ends: EndComponents | None
) -> Iterable[Requirement]:
    """What holds without a reduction; numbers are looked at only where a method asks for it."""
    if on_host:
        yield Requirement.ON_HOST
    if not problem.model.has_choices:
        yield Requirement.CHAIN
    if ends is None or not ends.count:
        yield Requirement.ONE_SOLUTION
    if Requirement.NOT_NEGATIVE in required and not _has_negative(problem):
        yield Requirement.NOT_NEGATIVE


def _has_negative(problem: Problem) -> bool:
    """Numbers that are none count as negative."""
    parts = [part for part in (problem.known, problem.reward) if part is not None and part.size]
    return not all(float(part.min()) >= 0 for part in parts)
