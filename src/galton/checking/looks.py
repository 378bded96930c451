"""What a question looks at in a program, so that what it cannot see may be left out before exploring.

Symmetries may be used that leave its formulas and rewards alone (:mod:`.symmetry`), and variables be left out that
neither reads (:mod:`.slicing`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..lang.depth import DeepRecursion
from ..lang.expressions import Expression, Label
from ..lang.program import Program
from ..lang.properties import children
from ..lang.resolution import BUILT_IN, Question, parts
from ..lang.source import GaltonError
from .exploration import closed, is_plain
from .looking import Looks, WholeModelNeeded

__all__ = ["ProgramLooks", "looks_of"]


@dataclass
class ProgramLooks:
    """What a property looks at: formulas about states, in terms of the variables, and numbers of reward structures.

    Attributes
    ----------
    starts
        Whether it asks of states if they are initial; a filter over the initial states does not.
    steps
        Whether it may see a step that changes nothing, or that there is none.
    whole
        Why all states are needed; empty where they are not.
    """

    context: Program
    question: Question
    formulas: list[Expression] = field(default_factory=list)
    structures: set[int] = field(default_factory=set)
    starts: bool = False
    steps: bool = False
    whole: str = ""

    def _at_states(self, formula: Expression) -> None:
        if is_plain(formula, self.context):
            found = closed(formula, self.context)
            if found not in self.formulas:
                self.formulas.append(found)
        elif isinstance(formula, Label) and formula.name in BUILT_IN:
            self.starts |= formula.name == "init"
            self.steps |= formula.name == "deadlock"
        elif any(isinstance(part, Label) and part.name in BUILT_IN for part in parts(formula)):
            for part in children(formula):
                self._at_states(part)
        else:
            raise WholeModelNeeded("the property has a label that the program does not know")


def looks_of(context: Program, question: Question) -> ProgramLooks:
    """What a question looks at; ``context`` knows its names."""
    names = context.reward_names
    found, looks = ProgramLooks(context, question), Looks(context, question, names)
    with DeepRecursion(question.source):
        try:
            looks.at(question.prop.expression)
            found.steps = looks.steps
            found.structures |= {names.index(name) for name in looks.structures}
            for formula in looks.formulas:
                found._at_states(formula)
        except WholeModelNeeded as reason:
            found.whole = str(reason)
        except GaltonError:  # what is wrong with a property is told when its turn comes
            found.whole = "the property cannot be answered"
    return found
