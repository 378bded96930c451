"""What is left out of a program because none of some questions asks about it.

A variable may go that no formula, reward or command reads (:mod:`galton.lower.slicing.cone` proves it). Whether a state
is initial depends on all variables, so ``"init"`` inside a property keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lang.program import Program
from ..lang.resolution import Question
from ..lower.slicing import Slice, Slices
from .looks import ProgramLooks, looks_of

__all__ = ["slice_left", "slice_of"]

INITIAL = 'which states are "init" depends on all variables'


def slice_of(slices: Slices, context: Program, question: Question) -> Slice:
    """What a question needs of its program; ``context`` knows its names."""
    return slice_left(slices, [looks_of(context, question)])


def slice_left(slices: Slices, looks: Sequence[ProgramLooks], *, fix_deadlocks: bool = True) -> Slice:
    """What questions need together, by what they look at.

    Where states that cannot move are an error, all commands are needed.
    """
    for one in looks:
        if reason := one.whole or (INITIAL if one.starts else ""):
            return slices.unused(reason)
    formulas = [formula for one in looks for formula in one.formulas]
    structures = {number for one in looks for number in one.structures}
    return slices.keeping(formulas, structures, timed=fix_deadlocks and not any(one.steps for one in looks))
