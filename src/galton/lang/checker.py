"""From a syntax tree and constants to a checked program.

The order matters only in that each step needs the ones before it: formulas and renamings, names, constants, variables,
and then everything that uses them.
"""

from __future__ import annotations

from collections.abc import Mapping

from .constants import Constants, resolve_constants
from .depth import DeepRecursion
from .evaluation import LARGEST_INT, SMALLEST_INT
from .expressions import Expression, Type, Value
from .formulas import Expander
from .model_types import DEFAULT_TYPE, TYPE_KEYWORDS, nature_of
from .modules import written_out
from .program import Command, Module, Program, RewardItem, RewardStructure, System, Variable
from .source import LanguageError, Source, Span
from .stream import suggestion
from .syntax import (
    AssignmentSyntax,
    CommandSyntax,
    Definition,
    Identifier,
    ModelFile,
    ModuleSyntax,
    RenamedModule,
    RewardItemSyntax,
    RewardsSyntax,
    UpdateSyntax,
    VariableDeclaration,
)
from .systems import compose
from .types import Scope
from .uncollected import uncollected


def check_program(file: ModelFile, constants: Mapping[str, Value | str] | None = None) -> Program:
    """Check a model and evaluate its constants.

    Parameters
    ----------
    file
        What :func:`parse_model` made of the text.
    constants
        Values for constants that the model declares without one; text is read as an expression.
    """
    with DeepRecursion(file.source), uncollected():
        try:
            return Checker(file, constants or {}).program()
        except LanguageError:
            if not file.shares_expressions:
                raise
            from .model_parser import ModelParser

            # What is shared stands where it was met first, and that may be fine: look where it is not.
            return Checker(ModelParser(file.source).model(), constants or {}).program()


class Checker:
    """Checks a model up to its first mistake; :mod:`.complaints` goes on."""

    def __init__(self, file: ModelFile, constants: Mapping[str, Value | str]):
        self._file = file
        self._source: Source = file.source
        self._type = TYPE_KEYWORDS[file.type.name] if file.type else DEFAULT_TYPE
        self._entry = f"the {nature_of(self._type).entry}"
        self._expander = Expander(file.formulas, file.source)
        self._modules = self._written_out()
        self._declare_names()
        self._constants = self._evaluate_constants(constants)
        self._variables = self._check_variables()
        self._owner = {variable.name: variable.module for variable in self._variables}
        types: dict[str, Type] = {variable.name: variable.type for variable in self._variables}
        self._scope = Scope(self._source, {**self._constants.types, **types})

    def program(self) -> Program:
        modules = tuple(map(self._module, self._modules))
        if not modules:
            raise self._error("the model has no module", Span(0, 0))
        system, actions = self._composed(modules)
        return Program(
            type=self._type,
            source=self._source,
            constants=self._constants.values,
            open_constants=self._constants.open,
            variables=self._variables,
            modules=modules,
            system=system,
            actions=actions,
            labels=self._labels(),
            rewards=self._rewards(actions),
            initial=self._initial(),
            formulas={formula.name.name: self._expander.formula(formula.name.name) for formula in self._file.formulas},
        )

    def _written_out(self) -> list[ModuleSyntax]:
        return written_out(self._file, self._expander)

    def _composed(self, modules: tuple[Module, ...]) -> tuple[System, tuple[str, ...]]:
        commands = (command for module in modules for command in module.commands)
        own_actions = tuple(dict.fromkeys(command.action for command in commands if command.action))
        return compose(self._file, [module.name for module in modules], own_actions)

    # Names, constants and variables

    def _declare_names(self) -> None:
        """Constants, formulas and variables share one space of names."""
        self._declared: dict[str, tuple[str, Span]] = {}
        for constant in self._file.constants:
            self._declare(constant.name, "constant")
        for formula in self._file.formulas:
            self._declare(formula.name, "formula")
            self._expander.formula(formula.name.name)  # finds cycles, even among formulas that nothing uses
        for variable in self._declarations():
            self._declare(variable[0].name, "variable")

    def _declare(self, name: Identifier, what: str) -> None:
        if name.name in self._declared:
            other, span = self._declared[name.name]
            line, _ = self._source.position(span.start)
            raise self._error(f"the name '{name.name}' is taken by the {other} at line {line}", name.span)
        self._declared[name.name] = what, name.span

    def _declarations(self) -> list[tuple[VariableDeclaration, str | None]]:
        """All variables with their modules: globals first, as states are numbered."""
        expand = self._expander.expand
        declarations: list[tuple[VariableDeclaration, str | None]] = []
        for variable in self._file.globals:
            low, high, initial = (bound and expand(bound) for bound in (variable.low, variable.high, variable.initial))
            declarations.append((variable._replace(low=low, high=high, initial=initial), None))
        for module in self._modules:
            declarations += [(variable, module.name.name) for variable in module.variables]
        return declarations

    def _variable_names(self) -> list[str]:
        return [name for name, (what, _) in self._declared.items() if what == "variable"]

    def _evaluate_constants(self, given: Mapping[str, Value | str]) -> Constants:
        declarations = [c._replace(value=c.value and self._expander.expand(c.value)) for c in self._file.constants]
        types = {declaration.name.name: declaration.type for declaration in declarations}
        scope = Scope(self._source, types, self._variable_names(), "in a constant")
        return resolve_constants(declarations, given, scope)

    def _check_variables(self) -> tuple[Variable, ...]:
        scope = Scope(self._source, self._constants.types, self._variable_names(), "in a declaration")
        return tuple(self._variable(declaration, module, scope) for declaration, module in self._declarations())

    def _variable(self, declaration: VariableDeclaration, module: str | None, scope: Scope) -> Variable:
        name = declaration.name.name
        if declaration.type == "bool":
            low, high, default = 0, 1, 0
        elif declaration.low is None or declaration.high is None:
            low, high, default = SMALLEST_INT, LARGEST_INT, 0
        else:
            low = default = self._int(declaration.low, scope, f"the lower bound of '{name}'")
            high = self._int(declaration.high, scope, f"the upper bound of '{name}'")
            if low > high:
                span = declaration.low.span.to(declaration.high.span)
                raise self._error(f"the range of '{name}' is empty: {low} is above {high}", span)
        initial = default
        if declaration.initial is not None:
            initial = self._initial_value(declaration, declaration.initial, scope, low, high)
        kind = "bool" if declaration.type == "bool" else "int"
        return Variable(name, kind, low, high, initial, module, declaration.name.span)  # type: ignore[arg-type]

    def _initial_value(
        self, declaration: VariableDeclaration, initial: Expression, scope: Scope, low: int, high: int
    ) -> int:
        what = f"the initial value of '{declaration.name.name}'"
        if self._file.initial is not None:
            raise self._error(f"{what} cannot be given together with init … endinit", initial.span)
        scope.require(initial, declaration.type, what)
        value = int(self._constants.evaluate(initial, self._source, what))
        if not low <= value <= high:
            raise self._error(f"{what} is {value}, outside its range [{low}..{high}]", initial.span)
        return value

    def _int(self, expression: Expression, scope: Scope, what: str) -> int:
        scope.require(expression, "int", what)
        return int(self._constants.evaluate(expression, self._source, what))

    # Modules

    def _module(self, module: ModuleSyntax) -> Module:
        try:
            commands = tuple(self._command(command, module) for command in module.commands)
        except LanguageError as error:
            raise self._in_copy(error, module) from None
        return Module(module.name.name, tuple(v.name.name for v in module.variables), commands, module.span)

    def _in_copy(self, error: LanguageError, module: ModuleSyntax) -> LanguageError:
        """An error in a renamed copy shows the text of the original, so say which module is meant."""
        copied = {m.name.name: m.base.name for m in self._file.modules if isinstance(m, RenamedModule)}
        if module.name.name not in copied:
            return error
        where = f"in '{module.name.name}', a renamed copy of '{copied[module.name.name]}'"
        return LanguageError(f"{error.message} ({where})", error.source, error.span, error.hint)

    def _command(self, command: CommandSyntax, module: ModuleSyntax) -> Command:
        self._scope.require(command.guard, "bool", "the guard")
        for update in command.updates:
            self._check_update(update, command, module)
        action = command.action.name if command.action else None
        return Command(action, command.guard, command.updates, command.span)

    def _check_update(self, update: UpdateSyntax, command: CommandSyntax, module: ModuleSyntax) -> None:
        probability, assigned, _ = update
        type_of = self._scope.type_of
        if probability is not None and type_of(probability) == "bool":
            self._scope.require(probability, "double", self._entry)
        written: list[str] = []
        for assignment in assigned:
            (name, span), value = assignment
            if self._owner.get(name) != module.name.name:
                self._check_target(assignment, command, module)
            wanted = self._scope.types[name]
            if type_of(value) != wanted:
                self._scope.require(value, wanted, f"the new value of '{name}'")
            if name in written:
                raise self._error(f"this update assigns '{name}' twice", span)
            written.append(name)

    def _check_target(self, assignment: AssignmentSyntax, command: CommandSyntax, module: ModuleSyntax) -> None:
        """Whether a command of a module may write a variable that is not its own."""
        name, span = assignment.target
        if name not in self._owner:
            if name in self._declared:
                raise self._error(f"'{name}' is a {self._declared[name][0]} and cannot be assigned", span)
            raise self._error(f"unknown variable '{name}'", span, suggestion(name, self._owner, "variables"))
        owner = self._owner[name]
        shared = self._file.shares_variables
        if owner is None and command.action and not shared:
            raise self._error(
                f"the global variable '{name}' cannot be written by a command with an action",
                span,
                f"modules that synchronise on '{command.action.name}' could disagree; remove the action",
            )
        if owner not in (None, module.name.name) and not shared:
            raise self._error(
                f"the module '{module.name.name}' cannot write '{name}', which belongs to '{owner}'",
                span,
                "synchronise the two modules on an action, or make the variable global",
            )

    # Labels, rewards and initial states

    def _labels(self) -> dict[str, Expression]:
        labels: dict[str, Expression] = {}
        for label in self._file.labels:
            self._add_label(label, labels)
        return labels

    def _add_label(self, label: Definition, labels: dict[str, Expression]) -> None:
        name = label.name.name
        if name in labels:
            raise self._error(f'there is a label "{name}" already', label.name.span)
        body = self._expander.expand(label.body)
        self._scope.require(body, "bool", f'the label "{name}"')
        labels[name] = body

    def _rewards(self, actions: tuple[str, ...]) -> tuple[RewardStructure, ...]:
        names: set[str] = set()
        for rewards in self._file.rewards:
            if rewards.name:
                self._add_reward_name(rewards.name, names)
        return tuple(self._reward_structure(rewards, actions) for rewards in self._file.rewards)

    def _add_reward_name(self, name: Identifier, names: set[str]) -> None:
        if name.name in names:
            raise self._error(f'there is a reward structure "{name.name}" already', name.span)
        names.add(name.name)

    def _reward_structure(self, rewards: RewardsSyntax, actions: tuple[str, ...]) -> RewardStructure:
        items = tuple(self._reward_item(item, actions) for item in rewards.items)
        return RewardStructure(rewards.name.name if rewards.name else "", items, rewards.span, rewards.mean)

    def _reward_item(self, item: RewardItemSyntax, actions: tuple[str, ...]) -> RewardItem:
        if item.action and item.action.name not in actions:
            name = item.action.name
            hint = suggestion(name, actions, "actions")
            raise self._error(f"no module has the action '{name}'", item.action.span, hint)
        guard, value = self._expander.expand(item.guard), self._expander.expand(item.value)
        self._scope.require(guard, "bool", "what stands before ':'")
        self._scope.require(value, "double", "the reward")
        return RewardItem(item.transition, item.action.name if item.action else None, guard, value, item.span)

    def _initial(self) -> Expression | None:
        if self._file.initial is None:
            return None
        expression = self._expander.expand(self._file.initial)
        self._scope.require(expression, "bool", "the expression of init … endinit")
        return expression

    def _error(self, message: str, span: Span, hint: str | None = None) -> LanguageError:
        return LanguageError(message, self._source, span, hint)
