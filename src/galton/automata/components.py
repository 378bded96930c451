"""Deterministic automata for the formulas that Δ2 consists of.

Each follows one formula by progression, or its negation: complementing a deterministic automaton costs nothing. A state
is True or False once the formula is decided.

- :class:`Guarantee`: co-safe formulas (negated: safe ones). What remains becomes true, or it does not.
- :class:`Breakpoint`: formulas in Σ2 (negated: Π2) as co-Büchi automata. Beside what remains, a state has a safe
  formula that implies it; when that fails, the edge is marked and the next one is begun: what remains, with all untils
  replaced by false. The formula holds if one of them never fails: the breakpoints of Miyano and Hayashi ("Alternating
  finite automata on ω-words", 1984), as Sickert and Esparza use them.
- :class:`InfinitelyOften`: ``G F a & G F b & …`` with a, b … co-safe (negated: ``F G a | F G b | …``, of safe ones). A
  state follows all a begun since the last time; when one of them becomes true the state forgets them and goes on with
  b, and so in turn; the edge that ends a round is marked. In turn means as many states as all of them have together,
  where a product would multiply.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from .formula import Formula
from .normal_form import is_delta2, is_infinitely_often, is_persistently, limit_operand
from .progression import Progression
from .simplification import negation


class Component:
    """An automaton for a formula. Marked infinitely often it accepts if ``inf``, and rejects otherwise."""

    marks_acceptance: bool  # of the formula that is followed, which may be the negated one

    def __init__(self, progression: Progression, followed: Sequence[Formula], negated: bool):
        self.progression, self.negated = progression, negated
        self.starts = [progression.function(formula) for formula in followed]
        self.inf = self.marks_acceptance != negated

    @property
    def initial(self) -> Hashable:
        """The state before the first letter."""
        raise NotImplementedError

    def successors(self, state: Any) -> int:
        """Return the diagram from letters to pairs of a successor and whether the edge is marked."""
        raise NotImplementedError

    def language(self, state: Any) -> Hashable:
        """Return a key: states with the same one accept the same words."""
        raise NotImplementedError

    def decided(self, function: int) -> bool | None:
        """Return the truth of the formula where what remains is decided."""
        return bool(function) != self.negated if function < 2 else None


class Guarantee(Component):
    """A co-safe formula."""

    marks_acceptance = True

    @property
    def initial(self) -> Hashable:
        return self._state(self.starts[0])

    def successors(self, state: Any) -> int:
        progression = self.progression
        return progression.diagrams.map(progression.after(state), lambda rest: (self._state(rest[1]), False))

    def language(self, state: Any) -> Hashable:
        return int(state)

    def _state(self, function: int) -> Hashable:
        decided = self.decided(function)
        return function if decided is None else decided


class Breakpoint(Component):
    """A formula in Σ2; a state is what remains and the safe formula that is hoped for."""

    marks_acceptance = False

    @property
    def initial(self) -> Hashable:
        return self._state(self.starts[0], 0)[0]

    def successors(self, state: Any) -> int:
        rest, hope = state
        progression = self.progression
        return progression.diagrams.combine(
            progression.after(rest), progression.after(hope), lambda one, other: self._state(one[1], other[1])
        )

    def language(self, state: Any) -> Hashable:
        return int(state[0])

    def _state(self, rest: int, hope: int) -> tuple[Hashable, bool]:
        decided = self.decided(rest)
        if decided is not None:
            return decided, False
        if hope == 0:
            return (rest, self.progression.without_untils(rest)), True
        return (rest, hope), False


class InfinitelyOften(Component):
    """``G F a & G F b & …`` for the co-safe a, b … of which the component is made; a state is whose turn it is, and
    what remains of those begun in this turn."""

    marks_acceptance = True

    @property
    def initial(self) -> Hashable:
        return (0, self.starts[0])

    def successors(self, state: Any) -> int:
        turn, function = state
        progression = self.progression
        return progression.diagrams.map(progression.after(function), lambda rest: self._state(turn, rest[1]))

    def language(self, state: Any) -> Hashable:
        return None

    def _state(self, turn: int, function: int) -> tuple[Hashable, bool]:
        if function != 1:
            return (turn, self.progression.diagrams.disjunction(function, self.starts[turn])), False
        following = (turn + 1) % len(self.starts)
        return (following, self.starts[following]), following == 0


@dataclass(frozen=True)
class Plan:
    """Which automaton follows which formulas, and whether they are negations of what is meant."""

    kind: type[Component]
    followed: tuple[Formula, ...]
    negated: bool

    @property
    def limit(self) -> bool:
        """Whether prefixes do not matter."""
        return self.kind is InfinitelyOften

    def component(self, progression: Progression) -> Component:
        """Return the automaton."""
        return self.kind(progression, self.followed, self.negated)


def plan(formula: Formula) -> Plan:
    """Return how to follow a formula of those that Δ2 consists of."""
    assert is_delta2(formula)
    if is_infinitely_often(formula) or is_persistently(formula):
        return plan_in_turn([formula])
    kind = Guarantee if formula.is_cosafe or formula.is_safe else Breakpoint
    negated = not formula.is_cosafe if kind is Guarantee else not formula.is_sigma2
    return Plan(kind, (negation(formula) if negated else formula,), negated)


def plan_in_turn(formulas: Sequence[Formula]) -> Plan:
    """Return how to follow a conjunction of ``G F a``, or a disjunction of ``F G a``."""
    if is_infinitely_often(formulas[0]):
        return Plan(InfinitelyOften, tuple(map(limit_operand, formulas)), negated=False)
    return Plan(InfinitelyOften, tuple(negation(limit_operand(part)) for part in formulas), negated=True)
