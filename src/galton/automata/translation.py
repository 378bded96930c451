"""From formulas of linear temporal logic to deterministic Emerson–Lei automata.

Which automaton? The product with a chain must be deterministic, and so must that with an MDP, unless the automaton is
limit-deterministic in a suitable way. Deterministic automata serve both, minima and maxima alike, and complementing one
costs nothing. Of the deterministic ones those with the freest acceptance are the smallest: Emerson–Lei conditions on
edges. Their disjunctive normal form is a generalised Rabin condition, which end components decide as easily as a Rabin
condition.

How? A formula becomes a Boolean combination of formulas in Σ2 and Π2 (:mod:`.normal_form`); each of these becomes a
small deterministic Büchi or co-Büchi automaton by progression (:mod:`.components`); the automaton is their product, and
its acceptance the same Boolean combination of theirs. This is the way of Sickert and Esparza (LICS 2020) and of the
tools that grew from it, Owl's ``ltl2dela`` among them (Křetínský, Meggendorfer and Sickert, "Owl: a library for
ω-words, automata, and LTL", ATVA 2018). Safe, co-safe and limit formulas need no case of their own: a safe or co-safe
formula is one component that follows what remains of it, and ``G F a`` has a single state.

The product remembers no more than it must. A component that is decided, or that no longer matters, is dropped; those
whose prefixes do not matter wait until the co-safe formulas that stand beside them in a conjunction have come true, or
the safe ones in a disjunction have failed.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

from ..lang.source import GaltonError
from .acceptance import Acceptance, fin, gate, inf
from .automaton import Automaton
from .components import Component, Guarantee, Plan, plan, plan_in_turn
from .diagrams import Diagrams
from .formula import Formula, is_always, is_eventually, propositions, subformulas
from .normal_form import delta2, is_infinitely_often, is_persistently, limit_operand
from .progression import Progression
from .reduction import reduced
from .simplification import always, conjunction, disjunction, eventually

MOST_STATES = 100_000
_NO_GAIN = 20  # times as many states as another automaton has, before they are reduced, are not worth exploring
_DEEPEST = 10_000  # a decision diagram is as deep as a formula has bounded steps

State = tuple[Hashable, ...]  # a state of each component


class TooLargeError(GaltonError):
    """A formula whose automaton has too many states."""


class Leaf:
    """A component by its number."""

    def __init__(self, number: int, plan: Plan):
        self.number = number
        self.leaves = [number]
        self.limit: bool = plan.limit
        # The junction in which limits beside it can wait while it is open.
        self.holds_back = ("|" if plan.negated else "&") if plan.kind is Guarantee else ""


class Junction:
    """A conjunction or disjunction of leaves and junctions."""

    def __init__(self, operator: str, operands: Sequence[Leaf | Junction]):
        self.operator, self.operands = operator, operands
        self.limit: bool = all(part.limit for part in operands)
        self.leaves: list[int] = [leaf for part in operands for leaf in part.leaves]


class Translation:
    """The automaton of a formula as it is explored: a state is known once it is asked for."""

    def __init__(self, formula: Formula, apart: bool = False):
        self.diagrams = Diagrams()
        self.n_propositions = max(propositions(formula), default=-1) + 1
        forest = _Forest(delta2(formula), apart)
        self._tree = forest.tree
        self.plans = forest.plans
        followed = [formula for plan in self.plans for formula in plan.followed]
        progression = Progression(self.diagrams, self.n_propositions, followed)
        self.components: list[Component] = [plan.component(progression) for plan in self.plans]
        self.acceptance = self._acceptance(self._tree)
        self.initial = self._settled(tuple(part.initial for part in self.components), ())[0]

    def successors(self, state: State) -> int:
        """Return the diagram from letters to pairs of a successor and the marks of the edge."""
        diagrams = self.diagrams
        found = diagrams.leaf(())
        for component, part in zip(self.components, state, strict=True):
            own = diagrams.leaf((part, False)) if isinstance(part, bool) else component.successors(part)
            found = diagrams.combine(found, own, lambda before, one: (*before, one))
        return diagrams.map(found, self._next)

    def language(self, state: State) -> Hashable:
        """Return a key: states with the same one accept the same words."""
        pairs = zip(self.components, state, strict=True)
        return tuple(part if isinstance(part, bool) else ("rest", one.language(part)) for one, part in pairs)

    def _next(self, parts: Any) -> tuple[State, int]:
        return self._settled(tuple(state for state, _ in parts), tuple(marked for _, marked in parts))

    def _settled(self, state: State, marked: tuple[bool, ...]) -> tuple[State, int]:
        """A state without what no longer matters, and the marks of the edge to it."""
        states: list[Hashable] = list(state)
        waiting: dict[int, bool] = {}
        self._settle(self._tree, states, waiting)
        marks = 0
        for number, component in enumerate(self.components):
            value = waiting.get(number, states[number])
            if value == component.inf if isinstance(value, bool) else marked and marked[number]:
                marks |= 1 << number
        return tuple(states), marks

    def _settle(self, part: Leaf | Junction, states: list[Hashable], waiting: dict[int, bool]) -> bool | None:
        """Decide what can be decided below; None where that is open."""
        if isinstance(part, Leaf):
            found = states[part.number]
            return found if isinstance(found, bool) else None
        values = [self._settle(operand, states, waiting) for operand in part.operands]
        absorbing = part.operator == "|"
        if absorbing in values or None not in values:
            decided = absorbing if absorbing in values else not absorbing
            for leaf in part.leaves:
                states[leaf] = decided
                waiting.pop(leaf, None)
            return decided
        open_parts = [operand for operand, value in zip(part.operands, values, strict=True) if value is None]
        if any(isinstance(operand, Leaf) and part.operator == operand.holds_back for operand in open_parts):
            for leaf in (leaf for operand in open_parts if operand.limit for leaf in operand.leaves):
                states[leaf] = self.components[leaf].initial
                waiting[leaf] = absorbing
        return None

    def _acceptance(self, part: Leaf | Junction) -> Acceptance:
        if isinstance(part, Leaf):
            return inf(part.number) if self.components[part.number].inf else fin(part.number)
        return gate("&" if part.operator == "&" else "|", map(self._acceptance, part.operands))


class _Forest:
    """The Boolean structure of a formula in Δ2 as a tree, and the plans for the components that are its leaves.

    Recurrence formulas in a conjunction (Π2) may be one component or one for each, and so may persistence formulas
    (Σ2) in a disjunction: one may find out more, many have less to remember. ``apart`` says which.
    """

    def __init__(self, formula: Formula, apart: bool):
        self.plans: list[Plan] = []
        self._apart = apart
        self.tree = self._tree(formula)

    def _tree(self, formula: Formula) -> Leaf | Junction:
        operator = formula.operator
        if operator not in ("&", "|"):
            parts = self._parts(formula, (formula,))
            return self._leaf(plan(formula)) if len(parts) == 1 else self._tree_of(formula, parts)
        return self._tree_of(formula, self._parts(formula, formula.operands))

    def _parts(self, formula: Formula, operands: tuple[Formula, ...]) -> tuple[Formula, ...]:
        """The operands of a formula, with ``G (a & b)`` and ``F (a | b)`` split where they are followed apart."""
        if not self._apart:
            return operands
        found: list[Formula] = []
        for part in operands:
            if part.is_safe or part.is_cosafe or part.is_suspendable:
                found.append(part)
            elif formula.operator != "|" and is_always(part) and part.operands[0].operator == "&":
                found += [always(inner) for inner in part.operands[0].operands]
            elif formula.operator != "&" and is_eventually(part) and part.operands[1].operator == "|":
                found += [eventually(inner) for inner in part.operands[1].operands]
            else:
                found.append(part)
        return tuple(found)

    def _tree_of(self, formula: Formula, operands: tuple[Formula, ...]) -> Leaf | Junction:
        operator = "|" if formula.operator == "|" or is_eventually(formula) else "&"
        join = conjunction if operator == "&" else disjunction
        groups: dict[object, list[Formula]] = {}
        for part in operands:
            groups.setdefault(self._kind(part, operator), []).append(part)
        if "now" in groups:  # literals and their like go with what is followed anyway
            beside = next((kind for kind in ("safe", "co-safe", "Σ2", "Π2") if kind in groups), "co-safe")
            groups.setdefault(beside, []).extend(groups.pop("now"))
        parts: list[Leaf | Junction] = []
        for kind, group in groups.items():
            if kind == "in turn":
                parts.append(self._leaf(plan_in_turn(group)))
            elif kind == "together":
                limits = join(map(limit_operand, group))
                together = always(eventually(limits)) if operator == "|" else eventually(always(limits))
                parts.append(self._leaf(plan(together)))
            else:
                parts.append(self._leaf(plan(join(group))) if isinstance(kind, str) else self._tree(group[0]))
        return parts[0] if len(parts) == 1 else Junction(operator, parts)

    def _kind(self, part: Formula, operator: str) -> object:
        """What can be one component together; a formula that is its own key cannot."""
        if is_infinitely_often(part):
            return "together" if operator == "|" else part if _needs_one_state(part) else "in turn"
        if is_persistently(part):
            return "together" if operator == "&" else part if _needs_one_state(part) else "in turn"
        if part.is_safe and part.is_cosafe:
            return "now"
        if part.is_safe or part.is_cosafe:
            return "safe" if part.is_safe else "co-safe"
        if part.operator in ("&", "|") or not (part.is_sigma2 or part.is_pi2):
            return part
        if self._apart and (is_always(part) if operator == "&" else is_eventually(part)):
            return part
        return "Σ2" if part.is_sigma2 else "Π2"

    def _leaf(self, plan: Plan) -> Leaf:
        self.plans.append(plan)
        return Leaf(len(self.plans) - 1, plan)


def _needs_one_state(limit: Formula) -> bool:
    """Whether ``G F a`` or ``F G a`` is about single letters."""
    return not any(part.operator == "X" or part.is_temporal for part in subformulas(limit_operand(limit)))


def translate(formula: Formula, names: Sequence[str] = (), *, most_states: int = MOST_STATES) -> Automaton:
    """Return a deterministic, complete automaton for the words that satisfy a formula.

    Parameters
    ----------
    names
        The names of the atomic propositions; those without one are called ``p0``, ``p1``, ….
    most_states
        A formula whose automaton has more states before it is reduced is refused.

    Examples
    --------
    >>> from galton.automata.text import parse_ltl
    >>> automaton = translate(*parse_ltl("G F a -> G F b"))
    >>> automaton.n_states, automaton.propositions
    (1, ('a', 'b'))
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        return _smallest(formula, tuple(names), most_states)
    except RecursionError:
        raise TooLargeError("the bounds of this formula are too large to make an automaton of it") from None
    finally:
        sys.setrecursionlimit(limit)


@lru_cache(16)  # a question is looked at before its model is built, and asked after that
def _smallest(formula: Formula, names: tuple[str, ...], most_states: int) -> Automaton:
    """The smaller one of the automata with components together and apart, where that makes a difference."""
    together, apart = Translation(formula), Translation(formula, apart=True)
    if together.plans == apart.plans:
        return _explored(together, names, most_states)
    found: list[Automaton] = []
    for exploration in (apart, together):
        limit = min(most_states, _NO_GAIN * found[0].n_states) if found else most_states
        try:
            found.append(_explored(exploration, names, limit))
        except TooLargeError:
            if exploration is together and not found:
                raise
    return min(found, key=lambda automaton: automaton.n_states)


def _explored(exploration: Translation, names: tuple[str, ...], most_states: int) -> Automaton:
    numbers = {exploration.initial: 0}
    states = [exploration.initial]
    diagrams, edges = Diagrams(), list[int]()
    for state in states:  # grows while it is read
        found = exploration.successors(state)
        for successor, _ in exploration.diagrams.leaves(found):
            if successor not in numbers:
                if len(states) == most_states:
                    raise TooLargeError(f"the automaton of this formula has more than {most_states:,} states")
                numbers[successor] = len(states)
                states.append(successor)
        edges.append(exploration.diagrams.map(found, lambda leaf: (numbers[leaf[0]], leaf[1]), into=diagrams))
    names += tuple(f"p{i}" for i in range(len(names), exploration.n_propositions))
    explored = Automaton(names, 0, diagrams, tuple(edges), exploration.acceptance)
    return reduced(explored, [exploration.language(state) for state in states])
