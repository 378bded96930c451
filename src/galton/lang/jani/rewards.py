"""Reward structures: what the properties of a JANI file collect, and when.

JANI has no reward structures. A property names an expression, and says whether it is collected in every step, over time
or whenever a state is left. Each such pair becomes a structure. One that is a transient variable and collects all that
the model gives it has the name of the variable, whether a property asks for it or not.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from ..expressions import Expression, Literal, Name
from ..model_types import Nature
from .json_text import Node
from .names import Names

__all__ = ["Structure", "Structures"]

STATE, STEP, EXIT = "states", "steps", "exits"
_WAYS = ("steps", "time", "exit")


@dataclass(frozen=True)
class Structure:
    """An expression that is collected: while in states, in steps, or whenever a state is left.

    Rewards of states are earned for each unit of time in a CTMC and for each step elsewhere, where that is the same as
    when leaving a state.
    """

    name: str
    value: Expression
    ways: frozenset[str]


@dataclass
class Structures:
    """All structures of a file. ``given`` are those that some location or edge gives a transient variable a value."""

    nature: Nature
    given: dict[str, frozenset[str]]
    found: list[Structure] = field(default_factory=list)
    _names: Names = field(default_factory=Names)

    def add_variable(self, name: str) -> None:
        """The structure of a transient variable: all that it is given anywhere, but not once more upon leaving."""
        self.found.append(Structure(self._names.new(name), Name(name), self.given[name] - {EXIT}))

    def collected(self, value: Expression, accumulate: Node | None, otherwise: Collection[str], what: Node) -> str:
        """The name of the structure that a property collects; ``otherwise`` are the ways if it does not say."""
        ways = self._ways(accumulate, otherwise, what)
        if isinstance(value, Name) and value.name in self.given:
            ways &= self.given[value.name]
        for structure in self.found:
            if structure.value == value and structure.ways == ways:
                return structure.name
        self.found.append(Structure(self._names.new(*self._called(value, ways)), value, ways))
        return self.found[-1].name

    def _called(self, value: Expression, ways: frozenset[str]) -> list[str]:
        if isinstance(value, Name):
            return [value.name, f"{value.name}_{'_'.join(sorted(ways)) or 'nothing'}"]
        if value == Literal(1) and len(ways) == 1:
            return ["time" if self.nature.is_continuous and STATE in ways else next(iter(ways))]
        return ["reward"]

    def _ways(self, accumulate: Node | None, otherwise: Collection[str], what: Node) -> frozenset[str]:
        if accumulate is None:
            return frozenset(otherwise)
        said = [(each, each.text("what is accumulated")) for each in accumulate.items("'accumulate'")]
        for each, way in said:
            if way not in _WAYS:
                raise each.error(f"rewards cannot be accumulated over '{way}'", "they can over steps, time and exit")
        asked = {way for _, way in said}
        if not asked:
            raise accumulate.error("say what is accumulated: steps, time or exit")
        if self.nature.is_continuous:
            meant = {"steps": STEP, "time": STATE, "exit": EXIT}
        else:
            if asked == {"time"}:
                raise accumulate.unsupported(f"no time passes in a {self.nature.type}", "accumulate over steps or exit")
            meant = {"steps": STEP, "exit": STATE}
        return frozenset(meant[way] for way in asked if way in meant)
