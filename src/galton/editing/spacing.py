"""The blanks between the tokens of a statement.

Where styles differ, as in ``x=1`` and ``x = 1``, the author's is kept, but the same on both sides. Between logical
operators there is always a blank, inside parentheses never.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from ..lang.lexer import tokenize
from ..lang.operations import FUNCTIONS
from ..lang.source import Source

__all__ = ["Spacing"]

_LOGICAL = frozenset(("&", "|", "=>", "<=>", "->", "?"))
_RELATIONS = frozenset(("=", "!=", "<", "<=", ">", ">="))
_ARITHMETIC = frozenset(("+", "-", "*", "/"))
_CLOSERS = frozenset((";", ",", ")", "}", "..", "'"))
_OPENERS = frozenset(("(", "{", "..", "!", "^"))
_QUESTIONS = frozenset(("P", "Pmin", "Pmax", "R", "Rmin", "Rmax", "S", "C", "I", "F", "G", "U", "W", "X"))
_SOFT_QUESTIONS = frozenset(("T", "Tmin", "Tmax", "Smin", "Smax", "LRA", "LRAmin", "LRAmax", "rew", "steps", "time"))
_BOUNDED = frozenset(("F", "G", "U", "W", "R", "C"))
_CALLS = frozenset((*FUNCTIONS, "func", "filter", "multi", "quantile"))
_OPERANDS = frozenset(("name", "number", "string", ")", "]", "}", "true", "false", "'"))


class Piece(Protocol):
    """What is known about a token."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def gap(self) -> int: ...
    @property
    def breaks(self) -> int: ...


@lru_cache(maxsize=4096)
def _stay_apart(one: str, other: str) -> bool:
    """Whether two tokens would be read as something else without a blank between them."""
    return [token.text for token in tokenize(Source("", one + other))][:-1] != [one.strip('"'), other.strip('"')]


class Spacing:
    """Finds the blanks of statements of models, or of property files."""

    def __init__(self, properties: bool):
        self._properties = properties

    def of(self, statement: Sequence[Piece], depth: int) -> list[tuple[bool, str]]:
        """For each piece, whether a blank comes before it, and a name for the column that begins there, if any.

        ``depth`` is 1 inside of a module or rewards.
        """
        return _Statement(statement, depth, self._properties).spaces()


class _Statement:
    def __init__(self, pieces: Sequence[Piece], depth: int, properties: bool):
        self._pieces = pieces
        self._kinds = [piece.kind for piece in pieces]
        self._properties = properties
        self._what = self._kind_of_statement(depth)
        self._brackets: list[str] = []  # what is open: "(", "[", "{", or "[ " for one with blanks inside
        self._questions = 0  # `?` whose `:` has not come
        self._branches = False  # whether such a `:` has just come
        self._defined = False  # whether the `=` of a definition has come
        self._arrow = False
        self._primed = False  # whether the `=` of an assignment comes next, or has just come
        self._unary = False
        self._asked = False  # whether a bound of an operator comes next

    def _kind_of_statement(self, depth: int) -> str:
        first = self._kinds[0]
        if first in ("const", "rate", "prob", "formula", "label"):
            return "definition"
        if first in ("module", "system"):
            return first
        if self._properties:
            return "property"
        if first == "global" or self._kinds[1:2] == [":"]:
            return "variable"
        if depth and "->" in self._kinds:
            return "command"
        return "reward" if depth else "other"

    def spaces(self) -> list[tuple[bool, str]]:
        found = [(False, "")]
        self._pass(0)
        for index in range(1, len(self._pieces)):
            space = self._space(index)
            one, other = self._pieces[index - 1].text, self._pieces[index].text
            if not space and self._pieces[index].kind != "comment" and _stay_apart(one, other):
                space = True
            found.append((space, self._column(index) if space else ""))
            self._pass(index)
        return found

    def _column(self, index: int) -> str:
        """What may be lined up with the statements around."""
        if self._brackets:
            return ""
        before, kind = self._kinds[index - 1], self._kinds[index]
        if before == "]" and self._kinds[0] == "[" and index <= 3:
            return "guard"
        match self._what:
            case "command":
                update = self._arrow and kind in ("+", ":") and not self._questions
                return kind if kind == "->" or update else ""
            case "variable":
                return kind if kind in (":", "init") else ""
            case "definition" | "module":
                return kind if kind == "=" and not self._defined else ""
            case "reward":
                return kind if kind == ":" and not self._questions else ""
        return ""

    def _pass(self, index: int) -> None:
        """Note what a piece changes for those behind it."""
        kind = self._kinds[index]
        before = self._kinds[index - 1] if index else ""
        self._unary = kind == "-" and before not in _OPERANDS
        self._branches = False
        if kind == "(" or kind == "{":
            self._brackets.append(kind)
        elif kind == "[":
            self._brackets.append("[ " if self._opens_question(index) else "[")
        elif kind in (")", "]", "}") and self._brackets:
            self._brackets.pop()
        elif kind == "?" and not self._is_asking(index):
            self._questions += 1
        elif kind == ":" and self._questions:
            self._questions -= 1
            self._branches = True
        elif kind == "->":
            self._arrow = True
        if kind == "=" and not self._brackets:
            self._defined = True
        self._primed = kind == "'" or (kind == "=" and before == "'")
        text = self._pieces[index].text
        if self._properties:
            asks = kind in _QUESTIONS or text in _SOFT_QUESTIONS
            follows = self._asked and kind in ("min", "max", "{", "}", "string", "^")
            self._asked = asks or follows

    def _opens_question(self, index: int) -> bool:
        """Whether a bracket holds a formula, ``P=? [ F a ]``, and not a bound, ``F[0,5]``."""
        if self._what == "module":  # as its author likes it
            after = self._pieces[index + 1] if index + 1 < len(self._pieces) else None
            return after is not None and after.gap > 0 and not after.breaks
        before = self._kinds[index - 1] if index else ""
        return self._properties and before not in _BOUNDED

    def _is_asking(self, index: int) -> bool:
        """Whether this is the ``?`` of ``=?``."""
        return self._properties and self._kinds[index - 1] == "=" and self._kinds[index - 2 : index - 1] != [")"]

    def _space(self, index: int) -> bool:
        before, kind = self._kinds[index - 1], self._kinds[index]
        if kind == "comment" or before == "comment":
            return True
        if kind in _CLOSERS or before in _OPENERS or self._unary or self._primed:
            return False
        if before == ",":
            return self._pieces[index].gap > 0 or self._pieces[index].breaks > 0
        if kind == "]":
            return bool(self._brackets) and self._brackets[-1] == "[ "
        if before == "[":
            return self._brackets[-1] == "[ "
        if kind == "|" or before == "|":
            return self._around_bar(index)
        if kind == "?" and self._is_asking(index):
            return False
        for sign, at in ((kind, index), (before, index - 1)):
            if sign in _LOGICAL and not (sign == "?" and self._is_asking(at)):
                return True
        if kind == ":" or before == ":":
            return self._around_colon(index if kind == ":" else index - 1, kind == ":")
        for sign, at in ((kind, index), (before, index - 1)):
            if sign in _RELATIONS:
                return self._around_relation(at, at == index)
            if sign in _ARITHMETIC:
                return self._around_arithmetic(at)
        return self._elsewhere(index, before, kind)

    def _elsewhere(self, index: int, before: str, kind: str) -> bool:
        piece = self._pieces[index]
        if kind == "^":
            return False
        if kind == "(":
            return self._pieces[index - 1].text not in _CALLS and (before != "name" or piece.gap > 0)
        if kind == "[":
            return not (self._properties and before in _BOUNDED)
        if kind == "{":
            return before not in (*_QUESTIONS, "}") and self._pieces[index - 1].text != "rew" and piece.gap > 0
        if before == "}" and kind in ("min", "max"):
            return False
        return not (kind in ("min", "max") and before in ("P", "R", "S"))

    def _around_bar(self, index: int) -> bool:
        """``||`` and ``|[a]|`` stay together."""
        before, kind = self._kinds[index - 1], self._kinds[index]
        if before == kind:
            return False
        if self._what == "system":
            closes = kind == "|" and before == "]"
            return not (closes or (before == "|" and kind == "["))
        return True

    def _around_colon(self, at: int, left: bool) -> bool:
        if (self._questions if left else self._branches) or self._what in ("variable", "reward", "definition"):
            return True
        if self._properties:
            return not left
        return self._as_written(at)

    def _around_relation(self, at: int, left: bool) -> bool:
        kind = self._kinds[at]
        if kind == "=" and self._what in ("definition", "module") and not self._brackets:
            first = "=" not in self._kinds[:at]
            if first:
                return True
        if self._what == "module" and self._brackets:
            return False
        if self._what == "system":
            return False
        if self._properties and self._is_bound(at):
            return False
        return self._as_written(at)

    def _is_bound(self, at: int) -> bool:
        """Whether a relation is that of an operator: ``P>=0.5``, ``F<=10``, ``R{"cost"}max=?``."""
        before = self._kinds[at - 1]
        text = self._pieces[at - 1].text
        if before in _QUESTIONS or text in _SOFT_QUESTIONS:
            return True
        if before in ("min", "max"):
            return self._kinds[at - 2] in ("P", "R", "S", "}") or self._pieces[at - 2].text in _SOFT_QUESTIONS
        return before == "}" and self._kinds[at - 2] == "string"

    def _around_arithmetic(self, at: int) -> bool:
        if self._what == "command" and self._arrow and not self._brackets and self._kinds[at] == "+":
            return True  # between updates
        if self._what == "system":
            return self._kinds[at] == "/"
        return self._as_written(at)

    def _as_written(self, at: int) -> bool:
        """Whether the author has put a blank on either side of a sign."""
        after = self._pieces[at + 1] if at + 1 < len(self._pieces) else None
        return (
            self._pieces[at].gap > 0
            or self._pieces[at].breaks > 0
            or (after is not None and (after.gap > 0 or after.breaks > 0))
        )
