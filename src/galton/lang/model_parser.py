"""Model files: the whole of PRISM's modelling language for DTMCs, CTMCs and MDPs.

What belongs to other kinds of model (timed, partially observable, interval, games) is recognised and refused by name.
"""

from __future__ import annotations

from .depth import DeepRecursion
from .expressions import Binary, Expression, Name, Type
from .lexer import Token
from .model_types import TYPE_KEYWORDS
from .source import LanguageError, Source, UnsupportedError
from .stream import nearest
from .syntax import (
    AssignmentSyntax,
    CommandSyntax,
    ConstantDeclaration,
    Definition,
    Identifier,
    ModelFile,
    ModuleSyntax,
    RenamedModule,
    RewardItemSyntax,
    RewardsSyntax,
    SystemDefinition,
    UpdateSyntax,
    VariableDeclaration,
)
from .system_parser import SystemParser
from .uncollected import uncollected

_FOREIGN_TYPES = {
    "pta": "probabilistic timed automata",
    "popta": "partially observable probabilistic timed automata",
    "pomdp": "partially observable MDPs",
    "imdp": "interval MDPs",
    "idtmc": "interval DTMCs",
    "smg": "stochastic games",
    "csg": "concurrent stochastic games",
    "tsg": "turn-based stochastic games",
    "ma": "Markov automata",
}
_FOREIGN = {
    "observables": "observables are not supported: Galton checks fully observable models",
    "observable": "observables are not supported: Galton checks fully observable models",
    "player": "players are not supported: Galton checks models without opponents",
}
LONG, TOO_LONG = 1 << 14, 1 << 31  # characters from which on the core reads along, and from which on it cannot
_DECLARATIONS = ("const", "formula", "global", "init", "label", "module", "rewards", "system", *TYPE_KEYWORDS)


class ModelParser(SystemParser):
    """Reads a model file from its first token to its last."""

    sets = True

    def __init__(self, source: Source, tokens: list[Token] | None = None):
        super().__init__(source, tokens)
        self.type: Identifier | None = None
        self.constants: list[ConstantDeclaration] = []
        self.formulas: list[Definition] = []
        self.labels: list[Definition] = []
        self.globals: list[VariableDeclaration] = []
        self.modules: list[ModuleSyntax | RenamedModule] = []
        self.rewards: list[RewardsSyntax] = []
        self.initial: Expression | None = None
        self.systems: list[SystemDefinition] = []

    def model(self) -> ModelFile:
        while self.kind != "end":
            self._declaration()
        return self.collected()

    def collected(self) -> ModelFile:
        """What was read so far."""
        return ModelFile(
            self.source,
            self.type,
            tuple(self.constants),
            tuple(self.formulas),
            tuple(self.labels),
            tuple(self.globals),
            tuple(self.modules),
            tuple(self.rewards),
            self.initial,
            tuple(self.systems),
        )

    def _declaration(self) -> None:
        token = self.token
        match token.kind:
            case "const" | "rate" | "prob":
                self.into(self.constants, self.constant)
            case "formula":
                self.into(self.formulas, self.formula)
            case "label":
                self.into(self.labels, self.label)
            case "global":
                self.advance()
                self.into(self.globals, self._variable)
            case "module":
                self.into(self.modules, self._module)
            case "rewards":
                self.into(self.rewards, self._rewards)
            case "init":
                self._initial_states()
            case "system":
                self.into(self.systems, self.system)
            case kind if kind in TYPE_KEYWORDS:
                if self.type:
                    raise self.error("the type of the model was already given", token.span)
                self.advance()
                self.type = Identifier(TYPE_KEYWORDS[token.text], token.span)
            case _:
                raise self._not_a_declaration(token)

    def _not_a_declaration(self, token: Token) -> LanguageError:
        if token.text in _FOREIGN_TYPES:
            kind = _FOREIGN_TYPES[token.text]
            return self.unsupported(f"{kind} are not supported: Galton checks dtmc, ctmc and mdp models", token)
        if token.text in _FOREIGN:
            return self.unsupported(_FOREIGN[token.text], token)
        hint = nearest(token.text, _DECLARATIONS) if token.kind == "name" else None
        return self.unexpected("a declaration (const, formula, label, global, module, rewards, …)", hint)

    def unsupported(self, message: str, token: Token) -> UnsupportedError:
        return UnsupportedError(message, self.source, token.span)

    def _initial_states(self) -> None:
        token = self.advance()
        if self.initial is not None:
            raise self.error("the initial states were already given by another init … endinit", token.span)
        self.initial = self.expression()
        self.expect("endinit", "the expression for the initial states")

    # Modules

    def _module(self) -> ModuleSyntax | RenamedModule:
        start = self.advance().span
        name = self.identifier("the name of a module")
        if self.kind == "=":
            return self._renamed_module(name, start.start)
        variables: list[VariableDeclaration] = []
        while self.kind == "name" or self.next_kind() == ":":
            self.into(variables, self._variable)
        if self.kind == "invariant":
            raise self.unsupported("invariants are not supported: Galton has no timed models", self.token)
        commands = self.commands()
        if not self.accept("endmodule"):
            commands += self.unfinished_module(name)
        return ModuleSyntax(name, tuple(variables), tuple(commands), self.since(start.start))

    def commands(self) -> list[CommandSyntax]:
        """As many commands as stand here."""
        commands: list[CommandSyntax] = []
        while self.kind == "[":
            self.into(commands, self._command)
        return commands

    def unfinished_module(self, name: Identifier) -> list[CommandSyntax]:
        """The commands after something that does not belong into a module: an error, unless a reader goes on."""
        raise self.stray_in_module(name)

    def stray_in_module(self, name: Identifier) -> LanguageError:
        if self.kind == "name" and self.next_kind() == ":":
            hint = "declare all variables of a module before its first command"
            return self.unexpected("a command or 'endmodule'", hint)
        line, _ = self.source.position(name.span.start)
        hint = f"the module '{name.name}' of line {line} is still open here"
        if self.kind == "name":
            hint = nearest(self.token.text, ["endmodule"]) or hint
        return self.unexpected("a command or 'endmodule'", hint)

    def _variable(self) -> VariableDeclaration:
        name = self.identifier("the name of a variable")
        self.expect(":", f"'{name.name}'")
        low = high = None
        kind: Type = "int"
        if self.kind == "[":
            opening = self.advance().span
            low = self.expression()
            self.expect("..", "the lower bound")
            high = self.expression()
            self.close("]", opening)
        elif self.kind == "clock":
            raise self.unsupported("clocks are not supported: Galton has no timed models", self.token)
        elif self.kind in ("bool", "int"):
            kind = self.advance().kind  # type: ignore[assignment]
        else:
            hint = "a variable is an integer or a bool" if self.kind == "double" else None
            raise self.unexpected("a range such as [0..5], 'bool' or 'int'", hint)
        initial = self.expression() if self.accept("init") else None
        self.expect(";", f"the variable '{name.name}'")
        return VariableDeclaration(name, kind, low, high, initial, self.since(name.span.start))

    def _renamed_module(self, name: Identifier, start: int) -> RenamedModule:
        self.advance()
        base = self.identifier("the name of a module")
        opening = self.expect("[", f"'{base.name}'").span
        renaming = [self._renamed()]
        while self.accept(","):
            renaming.append(self._renamed())
        self.close("]", opening)
        self.expect("endmodule", "the renaming")
        return RenamedModule(name, base, tuple(renaming), self.since(start))

    def _renamed(self) -> tuple[Identifier, Identifier]:
        old = self._renamable()
        self.expect("=", f"'{old.name}'")
        return old, self._renamable()

    def _renamable(self) -> Identifier:
        if self.kind in ("min", "max"):  # functions can be renamed too, and these two are keywords
            token = self.advance()
            return Identifier(token.text, token.span)
        return self.identifier("a name to rename")

    # Commands

    def _command(self) -> CommandSyntax:
        start = self.token.span.start
        action = self._action()
        guard = self.expression()
        if not self.accept("->"):
            hint = "a command reads: [action] guard -> probability : (x'=value) & … + …;"
            raise self.unexpected("'->' after the guard", self._slip() or hint)
        updates = self._updates()
        if self.kind == "+" and updates[0].probability is None:
            raise self.error("an update without a probability must be the only one", updates[0].span, "write '0.5 : …'")
        self.expect(";", "the command")
        return CommandSyntax(action, guard, updates, self.since(start))

    def _action(self) -> Identifier | None:
        opening = self.advance().span
        action = None if self.kind == "]" else self.identifier("an action")
        self.close("]", opening)
        return action

    def _updates(self) -> tuple[UpdateSyntax, ...]:
        if self._at_assignments():
            start = self.token.span.start
            return (UpdateSyntax(None, self._assignments(), self.since(start)),)
        updates = [self._update()]
        while self.accept("+"):
            updates.append(self._update())
        return tuple(updates)

    def _at_assignments(self) -> bool:
        return self.kind == "true" or (self.kind == "(" and self.next_kind() == "name" and self.next_kind(2) == "'")

    def _update(self) -> UpdateSyntax:
        start = self.token.span.start
        if self.kind == "[":
            raise self.unsupported("intervals of probabilities are not supported", self.token)
        if self.kind == "name" and self.next_kind() == "'":
            raise self._not_an_assignment()
        if self._at_assignments():
            raise self.error("this update needs a probability, like the others", self.token.span, "write '0.5 : …'")
        probability = self.expression()
        if not self.accept(":"):
            raise self._not_an_update(probability)
        if not self._at_assignments():
            raise self._not_an_assignment()
        return UpdateSyntax(probability, self._assignments(), self.since(start))

    def _not_an_update(self, expression: Expression) -> LanguageError:
        """``-> (x=1)``, with the prime forgotten, reads as a probability until nothing follows it."""
        slip = expression
        while isinstance(slip, Binary) and slip.operator == "&":
            slip = slip.left
        if isinstance(slip, Binary) and slip.operator == "=" and isinstance(slip.left, Name):
            hint = f"did you mean ({slip.left.name}'=…)?"
            return self.error("expected an update such as (x'=1), found an expression", slip.span, hint)
        return self.unexpected("':' after the probability", self._slip())

    def _not_an_assignment(self) -> LanguageError:
        if self.kind == "(" and self.next_kind() == "name" and self.next_kind(2) == "=":
            name = self.tokens[self.index + 1]
            return self.error("an assignment needs a prime", name.span, f"did you mean ({name.text}'=…)?")
        if self.kind == "name" and self.next_kind() == "'":
            return self.unexpected("an assignment in parentheses", f"did you mean ({self.token.text}'=…)?")
        return self.unexpected("an update: (x'=value), several joined by '&', or true")

    def _assignments(self) -> tuple[AssignmentSyntax, ...]:
        if self.accept("true"):
            return ()
        assignments = [self._assignment()]
        while self.accept("&"):
            assignments.append(self._assignment())
        return tuple(assignments)

    def _assignment(self) -> AssignmentSyntax:
        if not (self.kind == "(" and self.next_kind() == "name" and self.next_kind(2) == "'"):
            raise self._not_an_assignment()
        opening = self.advance().span
        variable = self.identifier("a variable")
        self.advance()
        self.expect("=", f"{variable.name}'")
        value = self.expression()
        self.close(")", opening)
        return AssignmentSyntax(variable, value)

    # Rewards

    def _rewards(self) -> RewardsSyntax:
        start = self.advance().span
        name = None
        if self.kind == "string":
            token = self.expect_label("the name of a reward structure")
            name = Identifier(token.text, token.span)
        items = self.reward_items()
        if not self.accept("endrewards"):
            raise self.unexpected("a reward or 'endrewards'")
        return RewardsSyntax(name, tuple(items), self.since(start.start))

    def reward_items(self) -> list[RewardItemSyntax]:
        """As many rewards as stand here."""
        items: list[RewardItemSyntax] = []
        while self.kind not in ("endrewards", "end", "rewards", "module"):
            self.into(items, self._reward_item)
        return items

    def _reward_item(self) -> RewardItemSyntax:
        start = self.token.span.start
        transition = self.kind == "["
        action = self._action() if transition else None
        guard = self.expression()
        self.expect(":", "the states that earn the reward")
        value = self.expression()
        self.expect(";", "the reward")
        return RewardItemSyntax(transition, action, guard, value, self.since(start))


def is_long(source: Source) -> bool:
    """Whether the core reads along."""
    return LONG <= len(source.text) < TOO_LONG


def parse_model(source: Source) -> ModelFile:
    """The syntax tree of a model file, in the PRISM language or in JANI.

    >>> parse_model(Source("example", "dtmc module m x : bool; [] true -> (x'=!x); endmodule")).modules[0].name.name
    'm'
    """
    from .jani.detection import is_jani

    if is_jani(source):
        from .jani.reader import read_model

        return read_model(source)
    with DeepRecursion(source), uncollected():
        if is_long(source):
            from .long_texts import read_long

            found = read_long(source)
            if found is not None:
                return found
        return ModelParser(source).model()
