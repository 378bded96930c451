"""Elimination of the states of a chain, complete or not, within limits of memory and time."""

from __future__ import annotations

from ... import _core
from ...model.sparse import Int32s
from ...model.values import Floats
from ..limits import available_memory
from ..protocol import Watching

__all__ = ["eliminated", "eliminated_in"]

FEW = 10**7  # transitions that any elimination may keep
SHARE = 0.5  # of the free memory that they may take
ENTRY = 8  # bytes of one


def eliminated(
    matrix: _core.Matrix,
    transitions: int,
    leaving_rates: Floats,
    last: int,
    threshold: float,
    *,
    fill: int,
    operations: int,
    threads: int,
    watching: Watching,
    step: str,
) -> _core.IncompleteElimination | None:
    """All states but the ``last`` eliminated; None where that takes too many operations, or too much memory.

    That is, more than ``fill`` transitions for each that the chain has. With a threshold of 0 nothing is forgotten, and
    the order is one in which little arises. Otherwise those that are far from the last state come first.
    """
    order = (_core.far_first if threshold else _core.nested_dissection)(matrix, last)
    return eliminated_in(
        matrix,
        transitions,
        leaving_rates,
        order,
        threshold,
        fill=fill,
        operations=operations,
        threads=threads,
        watching=watching,
        step=step,
    )


def eliminated_in(
    matrix: _core.Matrix,
    transitions: int,
    leaving_rates: Floats,
    order: Int32s,
    threshold: float,
    *,
    fill: int,
    operations: int,
    threads: int,
    watching: Watching,
    step: str,
    ending: bool = False,
) -> _core.IncompleteElimination | None:
    """All states but the last eliminated, in a given order that ends in it; None as above.

    Where the chain is ``ending``, what leads to the last state is never forgotten.
    """
    found = _core.IncompleteElimination(
        matrix,
        leaving_rates=leaving_rates,
        order=order,
        threshold=threshold,
        capacity=int(min(max(fill * transitions, FEW), SHARE * available_memory() / ENTRY)),
        operations=operations,
        threads=threads,
        ending=ending,
    )
    while found.advance():
        watching.tell(step=step, elimination=threshold, kept=found.entries)
    return found if found.fits else None
