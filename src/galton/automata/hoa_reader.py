"""Automata in the Hanoi Omega-Automata format, version 1, read.

All acceptance conditions of the format are read, on states or edges, with labels on states or edges or implied, and
aliases. What a check can use is deterministic, so automata with choices are refused, by the letter where they have
one. Where a letter has no edge the format rejects the word: a state is added that does so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from ..lang.depth import DeepRecursion
from ..lang.source import LanguageError, Source, Span, UnsupportedError
from .acceptance import ALL, NONE, Acceptance, Mark, complement, fin, gate, satisfying
from .automaton import Automaton
from .diagrams import Diagrams
from .hoa import label_text
from .reduction import trimmed

_TOKEN = re.compile(
    r"""
    [ \t\r\n\f]+
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<marker>--(?:BODY|END|ABORT)--)
    | (?P<header>[A-Za-z_][A-Za-z_0-9.-]*:)
    | (?P<identifier>[A-Za-z_][A-Za-z_0-9.-]*)
    | (?P<alias>@[A-Za-z_0-9-]+)
    | (?P<integer>[0-9]+)
    | (?P<symbol>[][(){}!&|])
    | (?P<bad>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OUTSIDE_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|/\*', re.DOTALL)
_INSIDE_COMMENT = re.compile(r"/\*|\*/")
_MOST_SETS = 1_000
_MOST_IMPLICIT = 16  # propositions of an automaton without labels: it has 2^n edges for each state
_MOST_INTEGER = 2**31 - 1


class Token(NamedTuple):
    """A piece of the text; its kind is its own text for symbols and markers."""

    kind: str
    text: str
    span: Span


@dataclass
class _State:
    """A state of the body: the letters that its edges take, and where they lead."""

    edges: int
    taken: int = 0
    implicit: list[tuple[int, int]] = field(default_factory=list)


class HoaReader:
    """Reads the first automaton of a text, from its first token to its last."""

    def __init__(self, source: Source):
        self.source = source
        self.tokens = _tokens(source)
        self.index = 0
        self.diagrams = Diagrams()
        self.missing = self.diagrams.leaf("no edge")
        self.propositions: tuple[str, ...] = ()
        self.aliases: dict[str, int] = {}
        self.acceptance: Acceptance | None = None
        self.n_sets = 0
        self.complements: dict[int, int] = {}  # a set to the mark of the edges outside of it
        self.n_states: int | None = None
        self.start: int | None = None
        self.states: dict[int, _State] = {}
        self.label_kind: str | None = None

    def automaton(self) -> Automaton:
        self._header()
        self._body()
        return self._assembled()

    # The header

    def _header(self) -> None:
        if self._next("header").text != "HOA:":
            self._fail("a text in the Hanoi format begins with 'HOA: v1'", self.tokens[0])
        version = self._next("identifier")
        if version.text != "v1":
            self._fail(f"version {version.text} of the format is not supported, only v1", version, UnsupportedError)
        while (token := self.tokens[self.index]).kind != "--BODY--":
            if token.kind != "header":
                self._unexpected("a header or --BODY--")
            self.index += 1
            match token.text:
                case "States:":
                    self.n_states = self._integer()
                case "Start:":
                    self._start(token)
                case "AP:":
                    names = [self._string() for _ in range(self._integer())]
                    self.propositions = tuple(names)
                    if len(set(names)) < len(names):
                        self._fail("two atomic propositions have the same name", token)
                case "Alias:":
                    name = self._next("alias")
                    self.aliases[name.text] = self._label()
                case "Acceptance:":
                    self.n_sets = self._integer()
                    if self.n_sets > _MOST_SETS:
                        self._fail(f"more than {_MOST_SETS:,} acceptance sets are not supported", token)
                    self.acceptance = self._disjunction()
                case _:
                    self._other_header(token)
        self.index += 1
        if self.acceptance is None:
            self._fail("the header has no 'Acceptance:'", token)
        if self.start is None:
            self._fail("the header has no 'Start:', so the automaton has no run", token)

    def _start(self, token: Token) -> None:
        if self.start is not None:
            self._fail("several initial states make an automaton nondeterministic", token, UnsupportedError)
        self.start = self._integer()
        self._refuse_alternation()

    def _other_header(self, token: Token) -> None:
        if token.text[0].isupper():  # as the format has it, one that changes the meaning
            self._fail(f"the header '{token.text}' is not known, and its capital says that it matters", token)
        while self.tokens[self.index].kind in ("string", "integer", "identifier"):
            self.index += 1

    def _disjunction(self) -> Acceptance:
        parts = [self._conjunction()]
        while self._accept("|"):
            parts.append(self._conjunction())
        return gate("|", parts)

    def _conjunction(self) -> Acceptance:
        parts = [self._condition()]
        while self._accept("&"):
            parts.append(self._condition())
        return gate("&", parts)

    def _condition(self) -> Acceptance:
        if self._accept("("):
            found = self._disjunction()
            self._next(")")
            return found
        token = self._next("identifier")
        if token.text in ("t", "f"):
            return ALL if token.text == "t" else NONE
        if token.text not in ("Inf", "Fin"):
            self._fail("expected Inf(…), Fin(…), t or f", token)
        self._next("(")
        outside = self._accept("!")
        number = self._set()
        self._next(")")
        if outside:
            number = self.complements.setdefault(number, self.n_sets + len(self.complements))
        return Mark("Inf" if token.text == "Inf" else "Fin", number)

    def _set(self) -> int:
        token = self.tokens[self.index]
        number = self._integer()
        if number >= self.n_sets:
            self._fail(f"there is no acceptance set {number}: 'Acceptance:' announces {self.n_sets}", token)
        return number

    # The body

    def _body(self) -> None:
        while self._accept_header("State:"):
            self._state()
        if self.tokens[self.index].kind == "--ABORT--":
            self._fail("the program that wrote this gave up (--ABORT--)", self.tokens[self.index])
        self._next("--END--")

    def _state(self) -> None:
        place = self.tokens[self.index]
        on_state = self._bracketed() if place.kind == "[" else None
        token = self.tokens[self.index]
        number = self._state_number()
        if number in self.states:
            self._fail(f"state {number} is there already", token)
        if self.tokens[self.index].kind == "string":
            self.index += 1
        marks = self._marks()
        state = self.states[number] = _State(self.missing)
        while self.tokens[self.index].kind in ("[", "integer"):
            self._edge(number, state, on_state, marks)
        if state.implicit:
            self._imply(state, token)

    def _edge(self, number: int, state: _State, on_state: int | None, state_marks: int) -> None:
        token = self.tokens[self.index]
        label = self._bracketed() if token.kind == "[" else on_state
        if label is not None and on_state is not None and token.kind == "[":
            self._fail("labels may be on a state or on its edges, not on both", token)
        kind = "implied" if label is None else "written"
        if self.label_kind not in (None, kind):
            self._fail("either all edges have labels or none", token)
        self.label_kind = kind
        successor = self._state_number()
        self._refuse_alternation()
        marks = state_marks | self._marks()
        for inside, outside in self.complements.items():
            marks |= 0 if marks >> inside & 1 else 1 << outside
        if label is None:
            state.implicit.append((successor, marks))
        else:
            self._add(number, state, label, (successor, marks), token)

    def _add(self, number: int, state: _State, label: int, leaf: tuple[int, int], token: Token) -> None:
        diagrams = self.diagrams
        twice = diagrams.conjunction(label, diagrams.choose(diagrams.where(state.edges, leaf), 0, state.taken))
        if twice:
            letter = label_text(diagrams.cover(twice)[:1], self.propositions, "any letter")
            message = f"the automaton is not deterministic: state {number} has another edge for {letter}"
            hint = "Spot's autfilt --deterministic --generic or ltl2tgba -D -G makes one that is"
            raise UnsupportedError(message, self.source, token.span, hint)
        state.edges = diagrams.choose(label, diagrams.leaf(leaf), state.edges)
        state.taken = diagrams.disjunction(state.taken, label)

    def _imply(self, state: _State, token: Token) -> None:
        """Edges without labels come in the order of letters, the first proposition fastest."""
        n = len(self.propositions)
        if n > _MOST_IMPLICIT:
            self._fail(f"automata without labels may have {_MOST_IMPLICIT} propositions, and this has {n}", token)
        if len(state.implicit) != 2**n:
            message = f"without labels each state has {2**n} edges, one for each letter, and this has"
            self._fail(f"{message} {len(state.implicit)}", token)
        level = [self.diagrams.leaf(leaf) for leaf in state.implicit]
        # The last proposition varies slowest, but has the lowest place in the order of diagrams.
        for variable in reversed(range(n)):
            half = len(level) // 2
            single = self.diagrams.inner(variable, 0, 1)
            level = [self.diagrams.choose(single, level[half + i], level[i]) for i in range(half)]
        state.edges, state.taken = level[0], 1

    def _marks(self) -> int:
        found = 0
        if self._accept("{"):
            while not self._accept("}"):
                found |= 1 << self._set()
        return found

    def _state_number(self) -> int:
        token = self.tokens[self.index]
        number = self._integer()
        if self.n_states is not None and number >= self.n_states:
            self._fail(f"there is no state {number}: 'States:' announces {self.n_states}", token)
        return number

    def _refuse_alternation(self) -> None:
        if (token := self.tokens[self.index]).kind == "&":
            self._fail("alternating automata (several successors at once) are not supported", token, UnsupportedError)

    # Labels

    def _bracketed(self) -> int:
        self._next("[")
        found = self._label()
        self._next("]")
        return found

    def _label(self) -> int:
        found = self._label_conjunction()
        while self._accept("|"):
            found = self.diagrams.disjunction(found, self._label_conjunction())
        return found

    def _label_conjunction(self) -> int:
        found = self._label_atom()
        while self._accept("&"):
            found = self.diagrams.conjunction(found, self._label_atom())
        return found

    def _label_atom(self) -> int:
        token = self.tokens[self.index]
        self.index += 1
        match token.kind:
            case "!":
                return self.diagrams.negation(self._label_atom())
            case "(":
                found = self._label()
                self._next(")")
                return found
            case "identifier" if token.text in ("t", "f"):
                return int(token.text == "t")
            case "alias":
                if token.text not in self.aliases:
                    self._fail(f"no alias is called {token.text}", token)
                return self.aliases[token.text]
            case "integer":
                self.index -= 1
                number = self._integer()
                if number >= len(self.propositions):
                    there = f"'AP:' announces {len(self.propositions)}"
                    self._fail(f"there is no atomic proposition {number}: {there}", token)
                return self.diagrams.inner(number, 0, 1)
        self.index -= 1
        self._unexpected("a label: the number of a proposition, t, f, an alias, '!' or '('")

    # The automaton

    def _assembled(self) -> Automaton:
        assert self.acceptance is not None
        assert self.start is not None
        numbers = {number: i for i, number in enumerate(dict.fromkeys((self.start, *self.states, *self._targets())))}
        found = [self.states[number].edges if number in self.states else self.missing for number in numbers]
        sink, acceptance, marks = len(numbers), self.acceptance, satisfying(complement(self.acceptance))
        if marks is None and any("no edge" in self.diagrams.leaves(one) for one in found):
            fresh = self.n_sets + len(self.complements)  # every run is accepted: a mark says that one has ended
            acceptance, marks = fin(fresh), 1 << fresh
        end = (sink, marks or 0)

        def change(leaf: str | tuple[int, int]) -> tuple[int, int]:
            return end if isinstance(leaf, str) else (numbers[leaf[0]], leaf[1])

        diagrams = Diagrams()
        edges = tuple(self.diagrams.map(one, change, into=diagrams) for one in (*found, self.missing))
        return trimmed(Automaton(self.propositions, numbers[self.start], diagrams, edges, acceptance))

    def _targets(self) -> list[int]:
        leaves = (leaf for state in self.states.values() for leaf in self.diagrams.leaves(state.edges))
        return [leaf[0] for leaf in leaves if not isinstance(leaf, str)]

    # Tokens

    def _next(self, kind: str) -> Token:
        token = self.tokens[self.index]
        if token.kind != kind:
            self._unexpected({"header": "a header such as 'HOA:'", "identifier": "a word"}.get(kind, f"'{kind}'"))
        self.index += 1
        return token

    def _accept(self, kind: str) -> bool:
        found = self.tokens[self.index].kind == kind
        self.index += found
        return found

    def _accept_header(self, text: str) -> bool:
        token = self.tokens[self.index]
        found = token.kind == "header" and token.text == text
        self.index += found
        return found

    def _integer(self) -> int:
        token = self.tokens[self.index]
        if token.kind != "integer":
            self._unexpected("a number")
        if len(token.text) > len(str(_MOST_INTEGER)):
            self._fail("this number is too large", token)
        self.index += 1
        return int(token.text)

    def _string(self) -> str:
        token = self.tokens[self.index]
        if token.kind != "string":
            self._unexpected("a text in double quotes")
        self.index += 1
        return re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)

    def _unexpected(self, expected: str) -> NoReturn:
        token = self.tokens[self.index]
        found = "the end of the text" if token.kind == "end" else f"'{token.text}'"
        self._fail(f"expected {expected}, found {found}", token)

    def _fail(self, message: str, token: Token, kind: type[LanguageError] = LanguageError) -> NoReturn:
        raise kind(message, self.source, token.span)


def _tokens(source: Source) -> list[Token]:
    tokens = []
    text = _without_comments(source)
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind is not None:
            shown = match.group()
            tokens.append(Token(shown if kind in ("symbol", "marker") else kind, shown, Span(*match.span())))
    end = len(text)
    return [*tokens, Token("end", "", Span(max(0, end - 1), end))]


def _without_comments(source: Source) -> str:
    """The text with comments, which nest, blanked; quoted texts may hold what looks like one."""
    text, found = source.text, list[str]()
    depth, place, opened, kept = 0, 0, 0, 0
    while match := (_INSIDE_COMMENT if depth else _OUTSIDE_COMMENT).search(text, place):
        place = match.end()
        if match.group() == "/*":
            opened = opened if depth else match.start()
            depth += 1
        elif match.group() == "*/":
            depth -= 1
            if depth == 0:
                found += (text[kept:opened], " " * (place - opened))
                kept = place
    if depth:
        raise LanguageError("a comment is not closed", source, Span(opened, opened + 2))
    return "".join([*found, text[kept:]])


def read_hoa(source: Source) -> Automaton:
    """Return the automaton of a text in the Hanoi format; complete, and refused where it is not deterministic."""
    with DeepRecursion(source):
        return HoaReader(source).automaton()
