"""What remains of a formula after letters have been read: the after-function *af* of the unified translation.

``af(f, w)`` holds of a word v if and only if f holds of wv (Esparza, Křetínský and Sickert, "A unified translation of
linear temporal logic to ω-automata", J. ACM 67(6), 2020). It is computed for all letters at once: what remains is a
Boolean function over *elementary* formulas, ``X … X e`` with e a proposition, an until or a weak until, and reading a
letter unfolds each. Boolean functions are decision diagrams, so formulas that are equal as Boolean functions are one
state. ``X`` distributes over everything, which makes ``F<=2 a & F<=3 a`` the same as ``F<=2 a``.

Functions are monotone in untils and weak untils. Replacing such an elementary formula by the disjunction of all that
imply it changes no meaning, and makes functions equal that are so because of an implication: ``G a | F G a`` and
``F G a``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .diagrams import Diagrams
from .formula import Formula, node, subformulas
from .simplification import implies


class Progression:
    """Formulas as Boolean functions, and what letters make of them.

    Variables 0 to ``n_propositions`` - 1 are the letter's; elementary formulas have those after them.
    """

    def __init__(self, diagrams: Diagrams, n_propositions: int, formulas: Iterable[Formula]):
        self.diagrams, self.n_propositions = diagrams, n_propositions
        temporal = dict.fromkeys(part for formula in formulas for part in subformulas(formula) if part.is_temporal)
        self._stronger = {part: [other for other in temporal if implies(other, part)] for part in temporal}
        self._variables: dict[tuple[Formula, int], int] = {}
        self._elementary: list[tuple[Formula, int]] = []
        self._function: dict[Formula, int] = {}
        self._shifted: dict[int, int] = {}
        self._unfolded: dict[int, int] = {}
        self._reading: dict[Formula, int] = {}
        self._without: dict[int, int] = {}
        self._after: dict[int, int] = {}
        for part in reversed(temporal):  # above propositions, so that unfolding them meets short diagrams
            self._atom(part, 0)

    def function(self, formula: Formula) -> int:
        """Return the Boolean function that a formula is."""
        if formula not in self._function:
            for part in subformulas(formula):  # from the inside out: bounds nest deeply
                if part not in self._function:
                    self._function[part] = self._new_function(part)
        return self._function[formula]

    def after(self, function: int) -> int:
        """Return the diagram from letters to what remains of a function after them."""
        found = self._after.get(function)
        if found is None:
            found = self._after[function] = self._cut(self._unfold(function), {})
        return found

    def without_untils(self, function: int) -> int:
        """Return a function with every until replaced by false."""
        diagrams = self.diagrams
        if function < 2:
            return function
        found = self._without.get(function)
        if found is None:
            low = self.without_untils(diagrams.low[function])
            high = self.without_untils(diagrams.high[function])
            formula, _ = self._elementary[diagrams.variable[function] - self.n_propositions]
            variable = self._single(diagrams.variable[function])
            found = low if formula.operator == "U" else diagrams.choose(variable, high, low)
            self._without[function] = found
        return found

    def _new_function(self, formula: Formula) -> int:
        diagrams = self.diagrams
        match formula.operator:
            case "literal":
                return self._atom(formula, 0)
            case "!literal":
                return diagrams.negation(self._atom(node("literal", proposition=formula.proposition), 0))
            case "X":
                return self._shift(self.function(formula.operands[0]))
            case "U" | "W":
                found = 0
                for stronger in self._stronger[formula]:
                    found = diagrams.disjunction(found, self._atom(stronger, 0))
                return found
        return self._combined(formula, self.function)

    def _atom(self, formula: Formula, steps: int) -> int:
        """The variable of ``X … X formula``."""
        key = (formula, steps)
        if key not in self._variables:
            self._variables[key] = self.n_propositions + len(self._elementary)
            self._elementary.append(key)
        return self._single(self._variables[key])

    def _single(self, variable: int) -> int:
        return self.diagrams.inner(variable, 0, 1)

    def _shift(self, function: int) -> int:
        """A function one step later."""
        if function < 2:
            return function
        found = self._shifted.get(function)
        if found is None:
            diagrams = self.diagrams
            formula, steps = self._elementary[diagrams.variable[function] - self.n_propositions]
            low, high = self._shift(diagrams.low[function]), self._shift(diagrams.high[function])
            found = self._shifted[function] = diagrams.choose(self._atom(formula, steps + 1), high, low)
        return found

    def _unfold(self, function: int) -> int:
        """A function over the letter and over what remains after it."""
        if function < 2:
            return function
        found = self._unfolded.get(function)
        if found is None:
            diagrams = self.diagrams
            formula, steps = self._elementary[diagrams.variable[function] - self.n_propositions]
            low, high = self._unfold(diagrams.low[function]), self._unfold(diagrams.high[function])
            now = self._atom(formula, steps - 1) if steps else self._read(formula)
            found = self._unfolded[function] = diagrams.choose(now, high, low)
        return found

    def _read(self, formula: Formula) -> int:
        """A formula over the letter and over what remains after it, by its parts."""
        if formula not in self._reading:
            for part in subformulas(formula):
                if part not in self._reading:
                    self._reading[part] = self._new_reading(part)
        return self._reading[formula]

    def _new_reading(self, formula: Formula) -> int:
        diagrams = self.diagrams
        match formula.operator:
            case "literal":
                return self._single(formula.proposition)
            case "!literal":
                return diagrams.negation(self._single(formula.proposition))
            case "X":
                return self.function(formula.operands[0])
            case "U" | "W":
                left, right = map(self._read, formula.operands)
                return diagrams.disjunction(right, diagrams.conjunction(left, self.function(formula)))
        return self._combined(formula, self._read)

    def _combined(self, formula: Formula, function: Callable[[Formula], int]) -> int:
        """A constant, conjunction or disjunction."""
        found = int(formula.operator in ("true", "&"))
        for part in formula.operands:
            join = self.diagrams.conjunction if formula.operator == "&" else self.diagrams.disjunction
            found = join(found, function(part))
        return found

    def _cut(self, function: int, known: dict[int, int]) -> int:
        """The letter's part of an unfolded function, with what is below as leaves."""
        diagrams = self.diagrams
        found = known.get(function)
        if found is None:
            variable = diagrams.variable[function]
            if variable >= self.n_propositions:
                found = diagrams.leaf(("after", function))
            else:
                low, high = self._cut(diagrams.low[function], known), self._cut(diagrams.high[function], known)
                found = diagrams.inner(variable, low, high)
            known[function] = found
        return found
