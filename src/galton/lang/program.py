"""The checked program: what the PRISM text means once constants are known.

Formulas are expanded, modules renamed, constants evaluated, types checked. What remains in expressions is literals,
constants and variables by name. This is what the explorers lower, and the only thing they need to know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from typing import Literal

from .expressions import Expression, Type, Value
from .model_types import ModelType, Nature, nature_of
from .source import Source, Span
from .syntax import UpdateSyntax


@dataclass(frozen=True, slots=True)
class Variable:
    """A state variable. Booleans have bounds 0 and 1; an unbounded ``int`` has the bounds of a 32-bit integer."""

    name: str
    type: Literal["int", "bool"]
    low: int
    high: int
    initial: int
    module: str | None  # None for a global
    span: Span


Update = UpdateSyntax  # checking leaves updates as they were written: long texts have very many


@dataclass(frozen=True, slots=True)
class Command:
    """``[action] guard -> updates``; the action is None for ``[]``."""

    action: str | None
    guard: Expression
    updates: tuple[Update, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Module:
    """A module after renaming: its own variables (by name) and its commands."""

    name: str
    variables: tuple[str, ...]
    commands: tuple[Command, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RewardItem:
    """``guard : value`` for states, ``[action] guard : value`` for transitions (``[]``: the unlabelled ones)."""

    transition: bool
    action: str | None
    guard: Expression
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class RewardStructure:
    """A named list of reward items; the name is empty when none was written.

    ``mean`` says that the updates of some command earn different rewards, of which the items know only the mean. That
    is enough for expected values, and not for bounds on what a path collects.
    """

    name: str
    items: tuple[RewardItem, ...]
    span: Span
    mean: bool = False


# The process-algebra tree of ``system … endsystem``.


@dataclass(frozen=True, slots=True)
class Leaf:
    """A module by name."""

    module: str


@dataclass(frozen=True, slots=True)
class Parallel:
    """``a || b`` synchronises on all shared actions (``actions`` is None), ``a ||| b`` on none, ``a |[x]| b`` on x."""

    operands: tuple[System, ...]
    actions: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Hide:
    """``a / {x, y}``: the actions become unlabelled."""

    operand: System
    actions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rename:
    """``a {x <- y}``: action x becomes y."""

    operand: System
    renaming: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Vector:
    """Modules that move together, each by a command with its own action; ``action`` is that of the whole.

    None is no action, inside as outside.
    """

    action: str | None
    parts: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Synchronisation vectors, as JANI has them: nothing moves but by one of these."""

    vectors: tuple[Vector, ...]


System = Leaf | Parallel | Hide | Rename | Vectors


MANY = 4  # constants that are shown of a program


def _count(things: Sized, name: str) -> str:
    return f"{len(things):,} {name}{'' if len(things) == 1 else 's'}"


@dataclass(frozen=True, slots=True, repr=False)
class Program:
    """A checked PRISM program with its constants.

    ``variables`` holds the globals first, then each module's, in the order of declaration: the first is the most
    significant one in the numbering of states. ``open_constants`` are those without a value (name to type): a
    program that has any can be looked at but not built.
    """

    type: ModelType
    source: Source
    constants: Mapping[str, Value]
    open_constants: Mapping[str, Type]
    variables: tuple[Variable, ...]
    modules: tuple[Module, ...]
    system: System
    actions: tuple[str, ...]  # in order of first appearance
    labels: Mapping[str, Expression]
    rewards: tuple[RewardStructure, ...]
    initial: Expression | None  # of init … endinit
    formulas: Mapping[str, Expression] = field(default_factory=dict)  # expanded, for use in properties

    @property
    def nature(self) -> Nature:
        """What kind of process the program describes."""
        return nature_of(self.type)

    def __repr__(self) -> str:
        """A line: printed whole, a program of some hundred commands has pages."""
        commands = sum(len(module.commands) for module in self.modules)
        parts = [_count(self.modules, "module"), _count(self.variables, "variable"), _count(range(commands), "command")]
        given = ", ".join(f"{name}={value}" for name, value in list(self.constants.items())[:MANY])
        more = ", …" if len(self.constants) > MANY else ""
        parts += [f"{given}{more}"] if given else []
        parts += [f"without a value: {', '.join(self.open_constants)}"] if self.open_constants else []
        return f"<{self.type} {self.source.name}: {', '.join(parts)}>"

    @property
    def reward_names(self) -> list[str]:
        """What the reward structures are called in a model: by their names, or their numbers where they have none."""
        first = next((structure for structure in self.rewards if not structure.name), None)
        return [
            structure.name if structure.name or structure is first else f"#{number}"
            for number, structure in enumerate(self.rewards, 1)
        ]
