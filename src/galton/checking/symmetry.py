"""What a question looks at, so that symmetries of the program may be used which leave that alone.

Where every formula about states that stands in a property, and every reward that it collects, is the same in all states
of an orbit, one state of each orbit answers it: operators inside operators have the same value in the whole orbit,
because its states behave alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..lang.depth import DeepRecursion
from ..lang.expressions import Expression, Label
from ..lang.program import Program
from ..lang.properties import children
from ..lang.resolution import BUILT_IN, Question, parts
from ..lang.source import GaltonError
from ..lower.symmetry import Symmetries, Symmetry
from .exploration import closed, is_plain
from .looking import Looks, WholeModelNeeded

__all__ = ["symmetry_of"]


def symmetry_of(symmetries: Symmetries, context: Program, question: Question) -> Symmetry:
    """What a question leaves of the symmetries of its program; ``context`` knows its names."""
    names = context.reward_names
    looks = Looks(context, question, names)
    with DeepRecursion(question.source):
        try:
            looks.at(question.prop.expression)
            formulas = list(dict.fromkeys(_in_variables(looks.formulas, context)))
        except WholeModelNeeded as reason:
            return symmetries.unused(str(reason))
        except GaltonError:  # what is wrong with a property is told when its turn comes
            return symmetries.unused("the property cannot be answered")
    return symmetries.keeping(formulas, {names.index(name) for name in looks.structures})


def _in_variables(formulas: Iterable[Expression], context: Program) -> Iterator[Expression]:
    """Formulas about states in terms of the variables."""
    for formula in formulas:
        if is_plain(formula, context):
            yield closed(formula, context)
        elif isinstance(formula, Label) and formula.name in BUILT_IN:
            pass  # a symmetry maps initial states to initial states, and those that cannot move to such
        elif any(isinstance(part, Label) and part.name in BUILT_IN for part in parts(formula)):
            yield from _in_variables(children(formula), context)
        else:
            raise WholeModelNeeded("the property has a label that the program does not know")
