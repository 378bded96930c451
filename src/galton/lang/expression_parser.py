"""Expressions of the modelling language, by precedence climbing.

From loosest to tightest: ``? :`` (right associative), ``=>``, ``<=>``, ``|``, ``&``, ``!``, ``= !=``, ``< <= > >=``,
``+ -``, ``* /``, unary minus, ``^``. All binary operators associate to the left except ``^``, whose exponent may carry
a minus: ``-2^2`` is -4, ``2^3^2`` is 512, ``2^-1.0`` is a half.

The sets that old models write, ``x=1..3,5``, become ``x>=1 & x<=3 | x=5`` here.
"""

from __future__ import annotations

from .depth import DeepRecursion
from .expressions import Binary, Call, Conditional, Expression, Literal, Name, Unary
from .lexer import KEYWORDS
from .operations import FUNCTIONS
from .rationals import literal
from .source import Source, Span
from .stream import TokenStream

PRECEDENCE = {
    "=>": 1,
    "<=>": 2,
    "|": 3,
    "&": 4,
    "=": 6,
    "!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "+": 8,
    "-": 8,
    "*": 9,
    "/": 9,
}
NOT, EQUALITY, SUM, MINUS, POWER = 5, 6, 8, 10, 11
LARGEST_INT = 2**31 - 1
MOST_DIGITS = len(str(LARGEST_INT))
_LONG_CHAIN = 64


class ExpressionParser(TokenStream):
    """Reads expressions; the parsers of models and properties build on it."""

    sets = False  # are lists such as `x=1,3` read as sets? Not where a comma separates something else.
    call_any_name = True  # is `t (a)` a call whatever `t` is? Not in `F<=t (a)`.
    bars_end = False  # does `||` end an expression? It does in `P=? [ path || condition ]`.

    def expression(self) -> Expression:
        """A whole expression."""
        start = self.token.span.start
        condition = self.binary(1)
        if not self.accept("?"):
            return condition
        then = self.expression()
        self.expect(":", "the first branch of '?'")
        otherwise = self.expression()
        return Conditional(condition, then, otherwise, span=self.since(start))

    def nested(self) -> Expression:
        """What may stand in parentheses or as an argument."""
        return self.expression()

    def binary(self, lowest: int) -> Expression:
        """Operands joined by operators that bind at least as tightly as ``lowest``."""
        start = self.token.span.start
        left = self.unary()
        while (precedence := PRECEDENCE.get(operator := self.kind, 0)) >= lowest:
            if operator in ("&", "|"):
                if self._at_end_bars():
                    break
                operands = [left]
                while not self._at_end_bars() and self.accept(operator):
                    operands.append(self.binary(precedence + 1))
                left = self._chain(operator, operands, start)
                continue
            self.advance()
            right = self.binary(precedence + 1)
            if operator in ("=", "!=") and (self.kind == ".." or (self.sets and self.kind == ",")):
                left = self._membership(operator, left, right, start)
            else:
                left = Binary(operator, left, right, span=self.since(start))
        return left

    def _at_end_bars(self) -> bool:
        return self.bars_end and self.kind == "|" and self.next_kind() == "|"

    def unary(self) -> Expression:
        start = self.token.span.start
        if self.accept("-"):
            return Unary("-", self.unary(), span=self.since(start))
        if self.accept("!"):
            return Unary("!", self.binary(EQUALITY), span=self.since(start))
        base = self.operand()
        if self.accept("^"):
            return Binary("^", base, self.unary(), span=self.since(start))
        return base

    def operand(self) -> Expression:
        """A literal, a name, a call, or something in parentheses."""
        token = self.token
        match token.kind:
            case "name":
                if self.next_kind() == "(" and (self.call_any_name or token.text in FUNCTIONS):
                    return self._call()
                self.advance()
                if self.kind == "'":
                    raise self.error(f"{token.text}' may only be assigned, in an update", token.span)
                return Name(token.text, span=token.span)
            case "integer":
                self.advance()
                # The length first: Python does not convert thousands of digits.
                if len(digits := token.text.lstrip("0") or "0") > MOST_DIGITS or int(digits) > LARGEST_INT:
                    raise self.error(f"integers end at {LARGEST_INT}", token.span, "write it as a double: add '.0'")
                return Literal(int(digits), span=token.span)
            case "decimal":
                self.advance()
                if (value := literal(token.text)) == float("inf"):
                    raise self.error("this number is too large for a double", token.span)
                return Literal(value, span=token.span)
            case "true" | "false":
                self.advance()
                return Literal(token.kind == "true", span=token.span)
            case "(":
                return self._parenthesised()
            case "min" | "max":
                return self._call()
            case "func":
                return self._old_call()
            case "string":
                raise self.error(
                    f'the label "{token.text}" cannot be used here',
                    token.span,
                    "give the expression a name as a formula",
                )
        hint = None
        if token.kind in KEYWORDS and len(token.kind) == 1:
            hint = f"'{token.kind}' is a keyword of the property language and cannot be a name"
        raise self.unexpected("an expression", hint)

    def since(self, start: int) -> Span:
        """The span from an offset to the end of the last token read."""
        return Span(start, self.tokens[self.index - 1].span.end)

    def close(self, bracket: str, opening: Span) -> None:
        """The closing bracket that belongs to the one at ``opening``."""
        if not self.accept(bracket):
            line, column = self.source.position(opening.start)
            opener = self.source.text[opening.start : opening.end]
            hint = f"to close the '{opener}' at line {line}, column {column}"
            raise self.unexpected(f"'{bracket}'", self._slip() or hint)

    def _parenthesised(self) -> Expression:
        opening = self.advance().span
        sets, self.sets = self.sets, type(self).sets
        anything, self.call_any_name = self.call_any_name, True
        inner = self.nested()
        self.close(")", opening)
        self.sets, self.call_any_name = sets, anything
        return inner

    def _call(self) -> Expression:
        name = self.advance()
        opening = self.expect("(", f"'{name.text}'").span
        arguments = self._arguments(opening)
        return Call(name.text, arguments, span=self.since(name.span.start))

    def _old_call(self) -> Expression:
        """``func(min, a, b)``, the way PRISM once wrote ``min(a, b)``."""
        start = self.advance().span.start
        opening = self.expect("(", "'func'").span
        name = self.advance() if self.kind in ("min", "max") else self.expect_name("the name of a function")
        self.expect(",", "the name of the function")
        arguments = self._arguments(opening)
        return Call(name.text, arguments, span=self.since(start))

    def _arguments(self, opening: Span) -> tuple[Expression, ...]:
        sets, self.sets = self.sets, False
        anything, self.call_any_name = self.call_any_name, True
        arguments = [self.nested()]
        while self.accept(","):
            arguments.append(self.nested())
        self.close(")", opening)
        self.sets, self.call_any_name = sets, anything
        return tuple(arguments)

    def _chain(self, operator: str, operands: list[Expression], start: int) -> Expression:
        """``a | b | c …``. A long chain, as generators write, becomes a balanced tree, so that its depth stays small:
        the order of evaluation, which is all that matters for ``&`` and ``|``, is the same."""
        if len(operands) > _LONG_CHAIN:
            return self._balanced(operator, operands)
        left = operands[0]
        for right in operands[1:]:
            left = Binary(operator, left, right, span=Span(start, right.span.end))
        return left

    def _balanced(self, operator: str, operands: list[Expression]) -> Expression:
        if len(operands) == 1:
            return operands[0]
        half = (len(operands) + 1) // 2
        left, right = self._balanced(operator, operands[:half]), self._balanced(operator, operands[half:])
        return Binary(operator, left, right, span=left.span.to(right.span))

    def _membership(self, operator: str, left: Expression, first: Expression, start: int) -> Expression:
        """``x = 1..3,5``: x is one of these values."""
        alternatives: list[Expression] = []
        low = first
        while True:
            if self.accept(".."):
                high = self.binary(SUM)
                span = self.since(start)
                above = Binary(">=", left, low, span=span)
                alternatives.append(Binary("&", above, Binary("<=", left, high, span=span), span=span))
            else:
                alternatives.append(Binary("=", left, low, span=self.since(start)))
            if not (self.sets and self.accept(",")):
                break
            low = self.binary(SUM)
        member = self._chain("|", alternatives, start)
        return member if operator == "=" else Unary("!", member, span=self.since(start))


def parse_expression(source: Source) -> Expression:
    """The expression that makes up a whole text.

    >>> parse_expression(Source("example", "x + 1"))
    Binary(operator='+', left=Name(name='x'), right=Literal(value=1))
    """
    parser = ExpressionParser(source)
    with DeepRecursion(source):
        expression = parser.expression()
    if parser.kind != "end":
        raise parser.unexpected("the end of the expression")
    return expression
