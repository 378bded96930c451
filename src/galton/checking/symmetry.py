"""The symmetries of a program that a question leaves.

Where every formula about states that stands in a property, and every reward that it collects, is the same in all states
of an orbit, one state of each orbit answers it: operators inside operators have the same value in the whole orbit,
because its states behave alike. A symmetry maps initial states to initial states, and those that cannot move to such.
"""

from __future__ import annotations

from ..lang.program import Program
from ..lang.resolution import Question
from ..lower.symmetry import Symmetries, Symmetry
from .looks import ProgramLooks, looks_of

__all__ = ["symmetry_left", "symmetry_of"]


def symmetry_of(symmetries: Symmetries, context: Program, question: Question) -> Symmetry:
    """What a question leaves of the symmetries of its program; ``context`` knows its names."""
    return symmetry_left(symmetries, looks_of(context, question))


def symmetry_left(symmetries: Symmetries, looks: ProgramLooks) -> Symmetry:
    """What is left of symmetries by what a question looks at."""
    return symmetries.unused(looks.whole) if looks.whole else symmetries.keeping(looks.formulas, looks.structures)
