"""The parts of a program that questions need."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...lang.depth import DeepRecursion
from ...lang.expressions import Expression
from ...lang.program import Program
from ..lowering import Lowered, Lowering, Product
from ..reader import Reader
from .cone import Cone, cone
from .cutting import without
from .dead import dead_values, with_dead_values

__all__ = ["Slice", "Slices"]

ALL_READ = "all variables are read"
SHOWN = 3  # names of variables that are told in passing


@dataclass(frozen=True, eq=False)
class Slice:
    """What questions need of a program, as it was lowered; ``note`` says what was left out, or why nothing was.

    ``structures`` are the numbers of the reward structures that are asked about, ``commands`` how many were left out:
    where there are any, a state that cannot move may be able to in the whole program.
    """

    lowering: Lowering
    structures: frozenset[int]
    commands: int
    note: str

    @property
    def bits(self) -> int:
        """How many bits the variables of a state take."""
        variables = self.lowering.program.variables
        return sum((variables[i].high - variables[i].low).bit_length() for i in self.lowering.changing)

    @property
    def info(self) -> dict[str, object]:
        """What is told about a model of it."""
        if not self.lowering.is_slice:
            return {"slice": self.note}
        names = [v.name for v in self.lowering.program.variables if v.name in self.lowering.left_out]
        dying = [v.name for i, v in enumerate(self.lowering.program.variables) if i in self.lowering.uncertain]
        left_out = {"variables": names, "commands": self.commands, "dead_values": dying}
        return {"slice": self.note, "left_out": left_out, "without": _told(names, self.commands, ())}

    def lowered(
        self, terminal: Expression | None = None, reader: Reader | None = None, *, rewards: bool = True
    ) -> Lowered:
        """The program as explorers take it; perhaps without rewards."""
        with DeepRecursion(self.lowering.program.source):
            kept = (self.structures if self.lowering.is_slice else None) if rewards else ()
            return self.lowering.lowered(terminal, reader, structures=kept)


class Slices:
    """The slices of a program whose constants all have values; it is lowered once for all of them."""

    def __init__(self, program: Program):
        self.program = program
        self._known: dict[object, Slice] = {}
        self._lowered: dict[object, Lowering] = {}

    @cached_property
    def lowering(self) -> Lowering:
        """The whole program, lowered."""
        with DeepRecursion(self.program.source):
            return Lowering(self.program)

    def unused(self, note: str) -> Slice:
        """The whole program, for a reason."""
        return Slice(self.lowering, frozenset(range(len(self.program.rewards))), 0, note)

    def keeping(self, formulas: Sequence[Expression], structures: Collection[int], *, timed: bool = False) -> Slice:
        """What formulas about states, in terms of the variables, and rewards need.

        ``timed`` says that nobody asks about steps, so that self-loops of a CTMC are nothing.
        """
        with DeepRecursion(self.program.source):
            lowering, kept = self.lowering, frozenset(structures)
            timed = timed and self.program.nature.has_rates
            nodes = frozenset(map(lowering.expressions.node, formulas))
            roots = frozenset(node for node in nodes if lowering.graph.constant(node) is None)
            key = roots, kept, timed
            if key not in self._known:
                self._known[key] = self._cut(cone(lowering, roots, kept, timed=timed), kept, roots)
            return self._known[key]

    def _cut(self, needed: Cone, structures: frozenset[int], roots: frozenset[int]) -> Slice:
        lowering = self.lowering
        left = lowering.changing - needed.variables
        whole = needed.products is lowering.products
        fewer = set() if whole else _commands(lowering.products) - _commands(needed.products)
        names = [v.name for i, v in enumerate(self.program.variables) if i in left]
        place = needed if left or fewer else None  # the whole program has many products to compare
        cut = self._lowered.get(place, lowering)
        if place is not None and cut is lowering:
            cut = self._lowered[place] = without(lowering, names, needed.products)
        dead = dead_values(cut, roots, structures)
        if dead:
            key = place, frozenset(dead)
            if key not in self._lowered:
                self._lowered[key] = with_dead_values(cut, dead)
            cut = self._lowered[key]
        if not cut.is_slice:
            return Slice(lowering, structures, 0, ALL_READ)
        dying = [self.program.variables[one.variable].name for one in dead]
        return Slice(cut, structures, len(fewer), _told(names, len(fewer), dying))


def _commands(products: Sequence[Product]) -> set[int]:
    return {command for product in products for factor in product.factors for command in factor}


def _told(names: Sequence[str], commands: int, dying: Sequence[str]) -> str:
    shown = _listed(names)
    if commands:
        shown.append(f"{commands:,} command{'' if commands == 1 else 's'}")
    if dying:
        shown.append(f"dead values of {', '.join(_listed(dying))}")
    return f"without {', '.join(shown)}" if shown else ""


def _listed(names: Sequence[str]) -> list[str]:
    return list(names) if len(names) <= SHOWN else [*names[: SHOWN - 1], f"{len(names) - SHOWN + 1} more variables"]
