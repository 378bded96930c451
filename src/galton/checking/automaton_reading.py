"""Whether an automaton can read the states of a program while that is explored, and what it read.

It can where the propositions of a formula are about the variables alone: then the explorers build the product of
program and automaton as a model (:mod:`galton.lower.reader`), on every device, and nothing of it that is not asked for.
Formulas with operators inside, or about ``"init"`` or ``"deadlock"``, filters, and models that came from elsewhere need
the product of :mod:`.automaton_product` with a model that was built before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..automata import Automaton
from ..automata.rabin import rabin
from ..automata.verdicts import Verdicts, verdicts
from ..device.arrays import namespace
from ..lang.depth import DeepRecursion
from ..lang.expressions import Expression
from ..lang.program import Program
from ..lang.properties import ExpectedTime, Optimum, PathQuantifier, Probability, Reward
from ..lang.resolution import Question
from ..lang.source import GaltonError
from ..lower.lowering import ExpressionLowering
from ..lower.reader import READER, Reader
from ..model.sparse import Model
from ..model.states import PackedStates
from .automaton_product import MOST_BITS
from .exploration import closed, is_plain, needs_automaton
from .inspection import Terms, optimum_of
from .quantity import Work

__all__ = ["Reading", "reading_of"]

MOST_ENTRIES = 1 << 22  # of the automaton's table: states times letters


@dataclass(frozen=True, eq=False)
class Reading:
    """An automaton that is explored with the program, for the path formula of a property.

    Attributes
    ----------
    marks
        ``(states, letters)`` the marks of edges, as bits.
    rewarded
        Whether rewards are collected until a state of the automaton accepts everything.
    """

    path: Expression
    automaton: Automaton
    reader: Reader
    marks: npt.NDArray[np.integer]
    verdicts: Verdicts
    rewarded: bool
    work: Work

    @property
    def successor(self) -> npt.NDArray[np.integer]:
        """``(states, letters)`` the automaton's next state, in as few bytes as it needs."""
        return _narrow(self.reader.successor, self.automaton.n_states - 1)

    def program(self, program: Program) -> Program:
        """The program without what the property does not ask about."""
        return program if self.rewarded else replace(program, rewards=())

    def read(self, model: Model) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
        """``(states,)`` the marks of the edge that reads each state of the product, and the state it leads to."""
        assert isinstance(model.states, PackedStates)
        xp = namespace(model.columns)
        width = len(self.reader.propositions)
        place = model.states.column(READER) << np.int32(width)
        for bit in range(width):
            place |= model.labels[str(bit)].astype(np.int32) << np.int32(bit)
        marks, successor = (xp.asarray(table.ravel()) for table in (self.marks, self.successor))
        return marks[place], successor[place]


def reading_of(question: Question, context: Program, *, strategy: bool = False) -> Reading | None:
    """The automaton that can be explored with the program for a property; None where that cannot be.

    With ``strategy``, it knows all that a best strategy of an MDP has to remember. What is wrong with a property is
    told when its turn comes.
    """
    if not needs_automaton(question):
        return None
    formula = question.prop.expression
    assert isinstance(formula, (Probability, ExpectedTime, PathQuantifier, Reward))
    path = formula.objective if isinstance(formula, Reward) else formula.path
    rewarded = isinstance(formula, (Reward, ExpectedTime))
    with DeepRecursion(question.source):
        try:
            terms = Terms(context.nature, context.constants, question.source)
            optimum = optimum_of(formula, terms) if strategy and not isinstance(formula, PathQuantifier) else None
            return _reading(path, context, terms, rewarded, optimum)
        except GaltonError:
            return None


def _reading(
    path: Expression, context: Program, terms: Terms, rewarded: bool, optimum: Optimum | None
) -> Reading | None:
    from .ltl import automaton_of

    begun = time.perf_counter()
    automaton, propositions = automaton_of(path, terms, counting=rewarded)
    if optimum is not None and not rewarded:
        automaton = rabin(automaton, negated=optimum == "min")
    if automaton.n_states << len(propositions) > MOST_ENTRIES or automaton.n_marks > MOST_BITS:
        return None
    if not all(is_plain(part, context) for part in propositions):
        return None
    plain = tuple(closed(part, context) for part in propositions)
    lowering = ExpressionLowering(context)
    if any(lowering.graph[lowering.node(part)].partial for part in plain):  # one without a value is told with its place
        return None
    successor, marks = automaton.whole_table()
    found = verdicts(automaton)
    final = found.decided
    if rewarded:  # what is sure has to be read: see ltl.linear_reward
        final = found.rejecting | np.array([automaton.accepts_everything(q) for q in range(automaton.n_states)])
    detail = f"{automaton.n_states:,} states, {automaton.n_marks} marks, explored with the model"
    work = Work("automaton", detail, seconds=time.perf_counter() - begun)
    reader = Reader(plain, successor, automaton.initial, final)
    narrow = _narrow(marks, (1 << automaton.n_marks) - 1)
    return Reading(path, automaton, reader, narrow, found, rewarded, work)


def _narrow(table: npt.NDArray[np.integer], most: int) -> npt.NDArray[np.integer]:
    """Numbers up to ``most``, in as few bytes as that needs."""
    return table.astype(np.min_scalar_type(most))
