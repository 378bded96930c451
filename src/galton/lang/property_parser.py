"""Property files: PRISM's property language, and Storm's ``T`` operator, budgets, conditions and quantiles.

As in PRISM, a property ends where nothing continues it; the ``;`` after it is optional. Temporal operators bind
loosest: ``F a & b`` is ``F (a & b)``, and one inside an operand needs parentheses: ``(F a) & (F b)``. A property that
cannot be read keeps its error to itself; reading goes on at the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal as OneOf

from .declaration_parser import DeclarationParser
from .depth import DeepRecursion
from .expressions import Expression, Label
from .lexer import Token
from .properties import (
    AutomatonPath,
    BinaryPath,
    Comparison,
    Cumulative,
    CumulativeBudget,
    ExpectedTime,
    Filter,
    Given,
    Instantaneous,
    LongRun,
    Multi,
    Optimum,
    PathQuantifier,
    Probability,
    Property,
    PropertyFile,
    Quantile,
    Reward,
    SteadyState,
    TimeBound,
    UnaryPath,
)
from .source import LanguageError, Source, Span, UnsupportedError
from .stream import describe, nearest
from .syntax import ConstantDeclaration, Definition

FILTERS = (
    *("min", "max", "argmin", "argmax", "count", "sum", "avg", "first", "range"),
    *("forall", "exists", "print", "printall", "state"),
)
_Rule = Callable[[], Expression]
_FILTER_SYMBOLS = {"+": "sum", "&": "forall", "|": "exists"}
_RELATIONS = ("<", "<=", ">", ">=")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_DECLARATIONS = ("const", "rate", "prob", "label", "formula")
_OPERATORS = ("P", "Pmin", "Pmax", "R", "Rmin", "Rmax", "S", "A", "E", "filter")
_TIMES = ("T", "Tmin", "Tmax")  # Storm's; names like any other where they ask nothing
_LONG_RUNS = ("Smin", "Smax", "LRA", "LRAmin", "LRAmax")  # likewise; the last three are Storm's
_OPERANDS = ("name", "integer", "decimal", "string", "true", "false", "(", "-", "!", "min", "max", "func", "<<", "[")


class PropertyParser(DeclarationParser):
    """Reads a property file from its first token to its last."""

    in_long_run = False  # between those of `S=? [ … ]`
    in_path = False  # between the brackets of `P=? [ … ]`, where parentheses may hold path formulas

    def file(self) -> PropertyFile:
        constants: list[ConstantDeclaration] = []
        formulas: list[Definition] = []
        labels: list[Definition] = []
        properties: list[Property] = []
        while self.kind != "end":
            if self.kind in ("const", "rate", "prob"):
                self.into(constants, self.constant)
            elif self.kind == "formula":
                self.into(formulas, self.formula)
            elif self.kind == "label":
                self.into(labels, self.label)
            elif not self.accept(";"):
                properties.append(self._property({known.name for known in properties}))
        return PropertyFile(self.source, tuple(constants), tuple(formulas), tuple(labels), tuple(properties))

    # Properties one by one

    def _property(self, taken: set[str | None]) -> Property:
        first = self.index
        name = None
        body = first
        parsed: Expression | LanguageError
        try:
            if self.kind == "string" and self.next_kind() == ":":
                name = self.expect_label("the name of a property").text
                self.advance()
                body = self.index
                if name in taken:
                    raise self.error(f'there is a property "{name}" already', self.tokens[first].span)
            parsed = self.expression()
            if self.kind in ("U", "W"):
                raise self._outside(self.token)
            if self.kind not in (";", "end", *_OPERANDS, *_OPERATORS, *_DECLARATIONS):
                raise self.unexpected("';' or another property", self._slip())
        except LanguageError as error:
            parsed = error
            self._recover(first)
        span = Span(self.tokens[body].span.start, self.tokens[max(body, self.index - 1)].span.end)
        return Property(name, self.source.text[span.start : span.end], span, parsed)

    def _recover(self, first: int) -> None:
        """Go on at the next ``;``, or where a line begins like a property and no bracket is open."""
        self.in_path, self.call_any_name, self.sets, self.bars_end = False, True, type(self).sets, False
        failed = self.index
        brackets: list[str] = []
        for index in range(first, len(self.tokens)):
            kind = self.tokens[index].kind
            if kind in (";", "end") or (index > first and self._begins_line(index, not brackets or index == failed)):
                self.index = index
                return
            if kind in _CLOSING:
                brackets.append(_CLOSING[kind])
            elif kind in brackets:  # closes its own bracket, and those inside that were forgotten
                del brackets[len(brackets) - 1 - brackets[::-1].index(kind) :]

    def _begins_line(self, index: int, complete: bool) -> bool:
        """Does a line begin here with a declaration, a name or, after a ``complete`` property, with an operator?"""
        token, previous = self.tokens[index], self.tokens[index - 1]
        if "\n" not in self.source.text[previous.span.end : token.span.start]:
            return False
        if token.kind in _DECLARATIONS or (token.kind == "string" and self.tokens[index + 1].kind == ":"):
            return True
        return complete and (
            token.kind in (*_OPERATORS, "<<") or token.text in ("multi", "quantile", *_TIMES, *_LONG_RUNS)
        )

    # Operators

    def operand(self) -> Expression:
        token = self.token
        following = self.next_kind()
        match token.kind:
            case "P" | "Pmin" | "Pmax":
                return self._probability()
            case "R" | "Rmin" | "Rmax":
                return self._reward()
            case "S":
                return self._steady_state()
            case "A" | "E":
                return self._path_quantifier()
            case "filter":
                return self._filter()
            case "string":
                self.expect_label("a label")
                return Label(token.text, span=token.span)
            case "name" if token.text == "multi" and following == "(":
                return self._multi()
            case "name" if token.text == "quantile" and following == "(":
                return self._quantile()
            case "name" if token.text in _TIMES and self._at_question():
                return self._expected_time()
            case "name" if token.text in _LONG_RUNS and self._at_question():
                return self._steady_state()
            case "<<" | "[" if token.kind == "<<" or following == "[":
                raise UnsupportedError("coalitions of players are not supported", self.source, token.span)
            case "X" | "F" | "G":
                if self.in_path:
                    hint = f"write ({token.text} …)"
                    raise self.error("a temporal operator inside another formula needs parentheses", token.span, hint)
                raise self._outside(token)
        return super().operand()

    def _outside(self, token: Token) -> LanguageError:
        if self.in_long_run:
            message = f"S asks how often a condition on states holds in the long run, and '{token.text}' is about paths"
            return self.error(message, token.span, 'write the condition alone, as in S=? [ x=1 ] or S=? [ "done" ]')
        return self.error(f"'{token.text}' may only stand between brackets, as in P=? [ … ]", token.span)

    def nested(self) -> Expression:
        outer, self.bars_end = self.bars_end, False
        inner = self._path() if self.in_path else self.expression()
        self.bars_end = outer
        return inner

    def _probability(self) -> Expression:
        token = self.advance()
        optimum, comparison = self._question(token)
        path, states = self._bracketed(lambda: self._given(self._path), comparison)
        return self._filtered(Probability(path, optimum, comparison, span=self.since(token.span.start)), states)

    def _reward(self) -> Expression:
        token = self.advance()
        structure = self._structure()
        optimum, comparison = self._question(token)
        objective, states = self._bracketed(lambda: self._given(self._objective), comparison)
        reward = Reward(objective, structure, optimum, comparison, span=self.since(token.span.start))
        return self._filtered(reward, states)

    def _steady_state(self) -> Expression:
        token = self.advance()
        optimum, comparison = self._question(token)
        outer, self.in_long_run = self.in_long_run, True
        try:
            operand, states = self._bracketed(self.expression, comparison, path=False)
        finally:
            self.in_long_run = outer
        return self._filtered(SteadyState(operand, optimum, comparison, span=self.since(token.span.start)), states)

    def _expected_time(self) -> Expression:
        token = self.advance()
        optimum, comparison = self._question(token)
        path, states = self._bracketed(self._path, comparison)
        return self._filtered(ExpectedTime(path, optimum, comparison, span=self.since(token.span.start)), states)

    def _at_question(self) -> bool:
        """``T`` is a name like any other, unless it asks a question: ``T=? […]``, ``Tmin=? […]``, ``T<=5 […]``.

        So are the other operators that PRISM does not know.
        """
        if self.next_kind() == "=":
            return self.next_kind(2) == "?"
        if self.next_kind() not in _RELATIONS:
            return False
        before = self.index, self.in_path, self.call_any_name, self.sets, self.bars_end
        self.index += 2
        try:
            self.expression()
            return self.kind == "["
        except LanguageError:
            return False
        finally:
            self.index, self.in_path, self.call_any_name, self.sets, self.bars_end = before

    def _path_quantifier(self) -> Expression:
        token = self.advance()
        quantifier: OneOf["A", "E"] = "A" if token.kind == "A" else "E"
        opening = self.expect("[", f"'{token.kind}'").span
        path = self._inside(self._path, in_path=True)
        self.close("]", opening)
        return PathQuantifier(quantifier, path, span=self.since(token.span.start))

    def _question(self, token: Token) -> tuple[Optimum | None, Comparison | None]:
        """What follows an operator's letter: ``=?``, ``min=?``, ``>=0.5``."""
        if self.kind == "(":
            raise UnsupportedError(f"modifiers of '{token.text}' are not supported", self.source, self.token.span)
        optimum: Optimum | None = None
        suffix = token.text[-3:] if token.text.endswith(("min", "max")) else ""
        if suffix or self.kind in ("min", "max"):
            optimum = "min" if (suffix or self.advance().kind) == "min" else "max"
        if self.kind in _RELATIONS:
            operator: OneOf["<", "<=", ">", ">="] = self.advance().kind  # type: ignore[assignment]
            return optimum, Comparison(operator, self._inside(self.expression, in_path=False))
        asked = f"'=?' or a bound such as '>=0.5' after '{token.text}'"
        if self.kind != "=" or self.next_kind() != "?":
            hint = "a bound begins with <, <=, > or >=" if self.kind == "=" else None
            raise self.unexpected(asked, hint)
        self.index += 2
        return optimum, None

    def _structure(self) -> str | Expression | None:
        """The ``{"name"}`` or ``{2}`` of a reward operator."""
        if self.kind != "{":
            return None
        opening = self.advance().span
        structure: str | Expression
        if self.kind == "string":
            structure = self.expect_label("the name of a reward structure").text
        else:
            structure = self._inside(self.expression, in_path=False)
        self.close("}", opening)
        if self.kind == "/" and self.next_kind() == "{":
            raise UnsupportedError("ratios of rewards are not supported", self.source, self.token.span)
        return structure

    def _bracketed(
        self, content: _Rule, comparison: Comparison | None, path: bool = True
    ) -> tuple[Expression, tuple[str, Expression] | None]:
        """``[ content ]``, with the states of an old-style filter if there is one."""
        opening = self.expect("[", "the operator and its bound").span
        inner = self._inside(content, in_path=path)
        states = self._old_filter(comparison) if self.kind == "{" else None
        self.close("]", opening)
        return inner, states

    def _inside(self, rule: _Rule, in_path: bool) -> Expression:
        outer, self.in_path = self.in_path, in_path
        anything, self.call_any_name = self.call_any_name, True
        bars, self.bars_end = self.bars_end, False
        inner = rule()
        self.in_path, self.call_any_name, self.bars_end = outer, anything, bars
        return inner

    def _old_filter(self, comparison: Comparison | None) -> tuple[str, Expression]:
        """``{states}``, ``{states}{min}``, ``{states}{min}{max}`` before the closing bracket."""
        opening = self.advance().span
        states = self._inside(self.expression, in_path=False)
        self.close("}", opening)
        wanted = set()
        while self.kind == "{":
            opening = self.advance().span
            if self.kind not in ("min", "max"):
                raise self.unexpected("'min' or 'max'")
            wanted.add(self.advance().kind)
            self.close("}", opening)
        if comparison:
            return "forall", states
        return ("range" if len(wanted) == 2 else wanted.pop() if wanted else "state"), states

    def _filtered(self, operand: Expression, states: tuple[str, Expression] | None) -> Expression:
        return Filter(states[0], operand, states[1], span=operand.span) if states else operand

    def _filter(self) -> Expression:
        start = self.advance().span.start
        opening = self.expect("(", "'filter'").span
        token = self.advance()
        operator = _FILTER_SYMBOLS.get(token.kind, token.text)
        if operator not in FILTERS:
            hint = nearest(operator, FILTERS) or f"the filters are {', '.join(FILTERS)}"
            raise self.error(f"unknown filter {describe(token)}", token.span, hint)
        self.expect(",", "the kind of filter")
        operand = self._inside(self.expression, in_path=False)
        states = self._inside(self.expression, in_path=False) if self.accept(",") else None
        self.close(")", opening)
        return Filter(operator, operand, states, span=self.since(start))

    def _multi(self) -> Expression:
        start = self.advance().span.start
        opening = self.advance().span
        objectives = [self._inside(self.expression, in_path=False)]
        while self.accept(","):
            objectives.append(self._inside(self.expression, in_path=False))
        self.close(")", opening)
        return Multi(tuple(objectives), span=self.since(start))

    def _quantile(self) -> Expression:
        start = self.advance().span.start
        opening = self.advance().span
        if self.kind not in ("min", "max"):
            raise self.unexpected("'min' or 'max'", "as in quantile(min b, P>=0.9 [ F<=b done ])")
        optimum: Optimum = "min" if self.advance().kind == "min" else "max"
        if self.kind != "name":
            raise self.unexpected("the name of the bound that is sought")
        name = self.advance().text
        self.expect(",", "the name of the bound")
        if self.kind in ("min", "max"):
            message = "quantiles of several bounds at once are not supported"
            raise UnsupportedError(message, self.source, self.token.span)
        formula = self._inside(self.expression, in_path=False)
        self.close(")", opening)
        return Quantile(optimum, name, formula, span=self.since(start))

    # Path formulas

    def _given(self, rule: _Rule) -> Expression:
        """What the rule reads, and the ``|| condition`` after it, if there is one."""
        self.bars_end = True
        path = rule()
        self.bars_end = False
        if self.kind != "|" or self.next_kind() != "|":
            return path
        bars = self.token.span.to(self.tokens[self.index + 1].span)
        self.index += 2
        condition = self._path()
        if not isinstance(condition, (UnaryPath, BinaryPath)) and not self._was_parenthesised():
            hint = "'or' is written as a single '|'"
            raise self.error("after '||' comes a path formula, as in P=? [ F a || F b ]", bars, hint)
        return Given(path, condition, span=self.since(path.span.start))

    def _was_parenthesised(self) -> bool:
        return self.tokens[self.index - 1].kind == ")"

    def _objective(self) -> Expression:
        """What ``R [ … ]`` may contain."""
        token = self.token
        if token.kind == "C":
            self.advance()
            if self._at_budget():
                return self._cumulative_budget(token.span.start)
            if self.kind not in ("<=", "<"):
                return Cumulative(span=token.span)
            strict = self.advance().kind == "<"
            bound = self._inside(self.expression, in_path=False)
            return Cumulative(bound, strict, span=self.since(token.span.start))
        if token.kind == "I":
            self.advance()
            if not self.accept("="):
                raise self.unexpected("'=' after 'I'", "I=t is the reward at time t; C<=t collects it until then")
            return Instantaneous(self._inside(self.expression, in_path=False), span=self.since(token.span.start))
        if (token.kind == "S" or token.text == "LRA") and self.next_kind() in ("]", "{"):
            self.advance()
            return LongRun(span=token.span)
        return self._path()

    def _path(self) -> Expression:
        start = self.token.span.start
        left = self._unary_path()
        if self.kind not in ("U", "W", "R"):
            return left
        operator: OneOf["U", "W", "R"] = self.advance().kind  # type: ignore[assignment]
        bound = self._time_bound()
        path = BinaryPath(operator, left, self._unary_path(), bound, span=self.since(start))
        if self.kind in ("U", "W", "R"):
            raise self.error(f"'{operator}' and '{self.kind}' in a row need parentheses", self.token.span)
        return path

    def _unary_path(self) -> Expression:
        token = self.token
        if token.text == "HOA" and self.next_kind() == ":":
            return self._automaton_path()
        if token.kind not in ("X", "F", "G"):
            return self.expression()
        self.advance()
        operator: OneOf["X", "F", "G"] = token.kind  # type: ignore[assignment]
        bound = self._time_bound()
        if operator == "X" and bound:
            raise self.error("'X' takes no bound", token.span, "it looks exactly one step ahead")
        return UnaryPath(operator, self._unary_path(), bound, span=self.since(token.span.start))

    def _automaton_path(self) -> Expression:
        """PRISM's ``HOA: {"file", "p" <- states, …}``; Storm writes the arrow ``->``."""
        start = self.advance().span.start
        self.advance()
        opening = self.expect("{", "'HOA:'").span
        if self.kind != "string":
            raise self.unexpected("the name of a file in double quotes")
        file = self.advance().text
        propositions: dict[str, Expression] = {}
        while self.accept(","):
            if self.kind != "string":
                raise self.unexpected("a proposition of the automaton in double quotes")
            name = self.advance()
            if name.text in propositions:
                raise self.error(f'the proposition "{name.text}" is given twice', name.span)
            if not self.accept("->"):
                self.expect("<", f'"{name.text}"')
                self.expect("-", "'<'")
            propositions[name.text] = self._inside(self.expression, in_path=False)
        self.close("}", opening)
        return AutomatonPath(file, tuple(propositions.items()), span=self.since(start))

    def _cumulative_budget(self, start: int) -> Expression:
        bound = self._time_bound()
        assert bound is not None
        span = self.since(start)
        if any(part.high is None or part.low is not None for part in bound.all):
            raise self.error("rewards are collected up to a bound, so it begins with '<=' or '<'", span)
        if not bound.is_budget:
            return Cumulative(bound.high, bound.high_strict, span=span)
        return CumulativeBudget(bound, span=span)

    def _at_budget(self) -> bool:
        """``^{…}``, ``{"cost"}<=5`` or ``rew{"cost"}<=5``."""
        if self.kind == "name" and self.token.text == "rew":
            return self.next_kind() == "{"
        return self.kind == "^" or (self.kind == "{" and self.next_kind() == "string" and self.next_kind(2) == "}")

    def _time_bound(self) -> TimeBound | None:
        if not self._at_budget():
            return self._interval()
        if self.kind == "^":
            return self._bounds()
        if self.kind == "name":
            self.advance()
        return self._bounded(self._interval(self._braced_structure()))

    def _interval(self, reward: str | None = None, counts_steps: bool = False) -> TimeBound | None:
        kind = self.kind
        if kind == "[":
            opening = self.advance().span
            low = self._limit()
            self.expect(",", "the lower bound")
            high = self._limit()
            self.close("]", opening)
            return TimeBound(low, high, reward=reward, counts_steps=counts_steps)
        if kind not in (*_RELATIONS, "="):
            return None
        self.advance()
        limit = self._limit()
        if kind == "=":
            return TimeBound(limit, limit, reward=reward, counts_steps=counts_steps)
        if kind in ("<", "<="):
            return TimeBound(high=limit, high_strict=kind == "<", reward=reward, counts_steps=counts_steps)
        return TimeBound(low=limit, low_strict=kind == ">", reward=reward, counts_steps=counts_steps)

    def _limit(self) -> Expression:
        """A bound; the formula follows without a separator, so ``t (a)`` is no call."""
        anything, self.call_any_name = self.call_any_name, False
        outer, self.in_path = self.in_path, False
        limit = self.expression()
        self.call_any_name, self.in_path = anything, outer
        return limit

    def _bounds(self) -> TimeBound:
        """Storm's ``^{rew{"structure"}<=k, steps<=n}``."""
        self.advance()
        opening = self.expect("{", "'^'").span
        first, *others = [self._one_bound()]
        while self.accept(","):
            others.append(self._one_bound())
        self.close("}", opening)
        return replace(first, also=tuple(others))

    def _one_bound(self) -> TimeBound:
        what = self.token.text if self.kind == "name" else ""
        if what not in ("rew", "steps", "time"):
            raise self.unexpected('a bound such as rew{"name"}<=5')
        self.advance()
        if what != "rew":
            return self._bounded(self._interval(counts_steps=what == "steps"))
        return self._bounded(self._interval(self._braced_structure() if self.kind == "{" else ""))

    def _braced_structure(self) -> str:
        brace = self.expect("{", "the bounded reward").span
        structure = self.expect_label("the name of a reward structure").text
        self.close("}", brace)
        return structure

    def _bounded(self, bound: TimeBound | None) -> TimeBound:
        if bound is None:
            raise self.unexpected("a bound such as '<=5'")
        return bound


def parse_properties(source: Source) -> PropertyFile:
    """The constants, formulas, labels and properties of a property file, or of what was typed as a property.

    A model in JANI is a property file too, because it holds its properties.

    >>> [p.text for p in parse_properties(Source("example", '"up": P=? [ F x=1 ]; S=? [ x=0 ]')).properties]
    ['P=? [ F x=1 ]', 'S=? [ x=0 ]']
    """
    from .jani.detection import is_jani

    if is_jani(source):
        from .jani.reader import read_properties

        return read_properties(source)
    with DeepRecursion(source):
        return PropertyParser(source).file()
