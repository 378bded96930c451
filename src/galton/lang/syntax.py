"""The syntax tree of a model file: what was written, before anything is looked up or checked.

Declarations keep the order of the file and the place of every name, so that the checker can point at it. They are named
tuples, because a dozen dataclasses would cost a command-line tool more time at its start than parsing does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .expressions import Expression, Type
from .source import Source, Span

if TYPE_CHECKING:
    from .program import Vector


NOWHERE = Span(0, 0)  # of what was not read from a text


class Identifier(NamedTuple):
    """A name and where it stood."""

    name: str
    span: Span


class ConstantDeclaration(NamedTuple):
    """``const int N = 5;`` or, without a value, ``const int N;``."""

    name: Identifier
    type: Type
    value: Expression | None
    span: Span = NOWHERE


class Definition(NamedTuple):
    """``formula name = body;`` or ``label "name" = body;``."""

    name: Identifier
    body: Expression
    span: Span = NOWHERE


class VariableDeclaration(NamedTuple):
    """``x : [low..high] init e;``, ``x : int;``, ``x : bool;``. The bounds are None where the type implies them."""

    name: Identifier
    type: Type
    low: Expression | None
    high: Expression | None
    initial: Expression | None
    span: Span = NOWHERE


class AssignmentSyntax(NamedTuple):
    """``(x'=value)``."""

    target: Identifier
    value: Expression

    @property
    def variable(self) -> str:
        """The name of the variable."""
        return self.target.name

    @property
    def span(self) -> Span:
        """From the variable to the end of its value."""
        return self.target.span.to(self.value.span)


class UpdateSyntax(NamedTuple):
    """``probability : assignments``; None when no probability was written."""

    probability: Expression | None
    assignments: tuple[AssignmentSyntax, ...]
    span: Span


class CommandSyntax(NamedTuple):
    """``[action] guard -> updates;``."""

    action: Identifier | None
    guard: Expression
    updates: tuple[UpdateSyntax, ...]
    span: Span


class ModuleSyntax(NamedTuple):
    """``module … endmodule`` with everything written out."""

    name: Identifier
    variables: tuple[VariableDeclaration, ...]
    commands: tuple[CommandSyntax, ...]
    span: Span


class RenamedModule(NamedTuple):
    """``module name = base [old=new, …] endmodule``."""

    name: Identifier
    base: Identifier
    renaming: tuple[tuple[Identifier, Identifier], ...]
    span: Span


class RewardItemSyntax(NamedTuple):
    """``guard : value;`` or, for transitions, ``[action] guard : value;``."""

    transition: bool
    action: Identifier | None
    guard: Expression
    value: Expression
    span: Span


class RewardsSyntax(NamedTuple):
    """``rewards "name" … endrewards``; ``mean`` is that of :class:`.program.RewardStructure`."""

    name: Identifier | None
    items: tuple[RewardItemSyntax, ...]
    span: Span
    mean: bool = False


class SystemName(NamedTuple):
    """A module by its name or, quoted, another ``system … endsystem``."""

    name: Identifier
    quoted: bool


class SystemParallel(NamedTuple):
    """``||`` (actions is None), ``|||`` (no actions) or ``|[a,b]|``."""

    operands: tuple[SystemSyntax, ...]
    actions: tuple[Identifier, ...] | None


class SystemHide(NamedTuple):
    """``operand / {a,b}``."""

    operand: SystemSyntax
    actions: tuple[Identifier, ...]


class SystemRename(NamedTuple):
    """``operand {a<-b}``."""

    operand: SystemSyntax
    renaming: tuple[tuple[Identifier, Identifier], ...]


class SystemVectors(NamedTuple):
    """Synchronisation vectors, as JANI has them. PRISM's text has no words for them."""

    vectors: tuple[Vector, ...]


SystemSyntax = SystemName | SystemParallel | SystemHide | SystemRename | SystemVectors


class SystemDefinition(NamedTuple):
    """``system … endsystem``, perhaps with a name to refer to it."""

    name: Identifier | None
    system: SystemSyntax
    span: Span


class ModelFile(NamedTuple):
    """A whole model file. ``type`` is the keyword written, in today's spelling, or None.

    ``shares_variables`` says that any command may write any variable: whoever made the file has seen to it that no two
    that move together write the same one. PRISM's text promises so by its rules for modules, JANI has others.
    ``shares_expressions`` says that equal parts of expressions are one object, which stands where the first of them was
    written (:mod:`.long_texts`).
    """

    source: Source
    type: Identifier | None
    constants: tuple[ConstantDeclaration, ...]
    formulas: tuple[Definition, ...]
    labels: tuple[Definition, ...]
    globals: tuple[VariableDeclaration, ...]
    modules: tuple[ModuleSyntax | RenamedModule, ...]
    rewards: tuple[RewardsSyntax, ...]
    initial: Expression | None
    systems: tuple[SystemDefinition, ...]
    shares_variables: bool = False
    shares_expressions: bool = False
