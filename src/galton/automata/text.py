"""Formulas as text: read as Spot, Owl and most of the literature write them, and written again.

From loosest to tightest: ``<->``, ``->`` (to the right), ``|``, ``&``, ``U W R M`` (to the right), then ``! X F G``.
So ``G F a -> G F b`` needs no parentheses. PRISM's properties are another language here: in ``P=? [ F a & b ]`` the
``F`` reaches to the end. What is written by :func:`render` means the same in both.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lang.depth import DeepRecursion
from ..lang.source import Source
from ..lang.stream import TokenStream
from . import bounds
from . import simplification as make
from .formula import FALSE, TRUE, Formula, is_always, is_eventually


class LtlParser(TokenStream):
    """Reads a formula from its first token to its last, and numbers its propositions as they come."""

    def __init__(self, source: Source):
        super().__init__(source)
        self.names: list[str] = []

    def whole(self) -> Formula:
        found = self._equivalence()
        if self.kind != "end":
            raise self.unexpected("an operator or the end of the formula")
        return found

    def _equivalence(self) -> Formula:
        left = self._implication()
        while self.kind == "<=>" or (self.kind == "<" and self.next_kind() == "->"):
            self.index += 1 if self.kind == "<=>" else 2
            left = make.equivalence(left, self._implication())
        return left

    def _implication(self) -> Formula:
        left = self._disjunction()
        if self.accept("->") or self.accept("=>"):
            return make.implication(left, self._implication())
        return left

    def _disjunction(self) -> Formula:
        parts = [self._conjunction()]
        while self.accept("|"):
            self.accept("|")
            parts.append(self._conjunction())
        return make.disjunction(parts)

    def _conjunction(self) -> Formula:
        parts = [self._until()]
        while self.accept("&"):
            self.accept("&")
            parts.append(self._until())
        return make.conjunction(parts)

    def _until(self) -> Formula:
        left = self._unary()
        token = self.token
        operator = token.text if token.kind in ("U", "W", "R") or (token.kind, token.text) == ("name", "M") else ""
        if not operator:
            return left
        self.advance()
        low, high = self._bound()
        right = self._until()
        match operator:
            case "U":
                return bounds.bounded_until(left, right, low, high)
            case "W":
                return bounds.bounded_weak_until(left, right, low, high)
            case "R":
                return bounds.bounded_release(left, right, low, high)
        if (low, high) != (0, None):
            raise self.error("'M' takes no bound", token.span, "a M b is b U (a & b)")
        return make.strong_release(left, right)

    def _unary(self) -> Formula:
        token = self.token
        match token.kind:
            case "!":
                self.advance()
                return make.negation(self._unary())
            case "X":
                self.advance()
                if self.kind in ("<", "<=", ">", ">=", "=", "["):
                    raise self.error("'X' takes no bound", token.span, "it looks exactly one step ahead")
                return make.next_step(self._unary())
            case "F" | "G":
                self.advance()
                low, high = self._bound()
                operand = self._unary()
                if token.kind == "F":
                    return bounds.bounded_until(TRUE, operand, low, high)
                return bounds.bounded_release(FALSE, operand, low, high)
            case "(":
                self.advance()
                inner = self._equivalence()
                if not self.accept(")"):
                    line, column = self.source.position(token.span.start)
                    raise self.unexpected("')'", f"to close the '(' at line {line}, column {column}")
                return inner
            case "true" | "false":
                self.advance()
                return TRUE if token.kind == "true" else FALSE
            case "integer" if token.text in ("0", "1"):
                self.advance()
                return TRUE if token.text == "1" else FALSE
            case "name" if set(token.text) <= {"X", "F", "G"}:  # as in GF a
                return self._written_together()
            case "name" | "string" if token.text:
                self.advance()
                if token.text not in self.names:
                    self.names.append(token.text)
                return make.proposition(self.names.index(token.text))
        hint = f'write it as "{token.text}"' if token.kind.isalpha() and token.kind not in ("end", "bad") else None
        raise self.unexpected("a formula", hint)

    def _written_together(self) -> Formula:
        operators = self.advance().text
        found = self._unary()
        for operator in reversed(operators):
            found = {"X": make.next_step, "F": make.eventually, "G": make.always}[operator](found)
        return found

    def _bound(self) -> tuple[int, int | None]:
        kind = self.kind
        if kind == "[":
            self.advance()
            low = self._steps()
            self.expect(",", "the lower bound")
            token = self.token
            high = self._steps()
            self.expect("]", "the upper bound")
            if low > high:
                raise self.error(f"the interval is empty: {low} is above {high}", token.span)
            return low, high
        if kind not in ("<", "<=", ">", ">=", "="):
            return 0, None
        self.advance()
        token = self.token
        limit = self._steps()
        if kind == "<" and limit == 0:
            raise self.error("no number of steps is below 0", token.span)
        if kind in (">", ">="):
            return limit + (kind == ">"), None
        return (limit if kind == "=" else 0), limit - (kind == "<")

    def _steps(self) -> int:
        token = self.token
        if token.kind != "integer":
            raise self.unexpected("a number of steps")
        self.advance()
        if len(token.text) > len(str(bounds.LARGEST_BOUND)) or int(token.text) > bounds.LARGEST_BOUND:
            raise self.error(f"bounds end at {bounds.LARGEST_BOUND:,} steps: each is a state", token.span)
        return int(token.text)


def parse_ltl(text: str) -> tuple[Formula, tuple[str, ...]]:
    """Return a formula and the names of its atomic propositions, numbered in the order of the text.

    Examples
    --------
    >>> formula, names = parse_ltl("a U (b & X c)")
    >>> render(formula, names)
    'a U (b & (X c))'
    """
    source = Source("formula", text)
    with DeepRecursion(source):
        parser = LtlParser(source)
        return parser.whole(), tuple(parser.names)


def render(formula: Formula, names: Sequence[str] = ()) -> str:
    """Return the text of a formula, with parentheses around all operands that are not literals."""

    def text(part: Formula) -> str:
        match part.operator:
            case "true" | "false":
                return part.operator
            case "literal" | "!literal":
                name = names[part.proposition] if part.proposition < len(names) else f"p{part.proposition}"
                return f"{'!' if part.operator == '!literal' else ''}{name}"
            case "X":
                return f"X {closed(part.operands[0])}"
            case "&" | "|":
                return f" {part.operator} ".join(map(closed, part.operands))
        if is_eventually(part):
            return f"F {closed(part.operands[1])}"
        if is_always(part):
            return f"G {closed(part.operands[0])}"
        left, right = part.operands
        return f"{closed(left)} {part.operator} {closed(right)}"

    def closed(part: Formula) -> str:
        plain = not part.operands
        return text(part) if plain else f"({text(part)})"

    return text(formula)
