"""The symmetries of a program, and those of them that a question leaves."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...lang.depth import DeepRecursion
from ...lang.expressions import Expression
from ...lang.program import Program
from ...lang.rendering import render
from ...model.orbits import Blocks, Orbits
from ..layout import layout
from ..lowering import Lowered, Lowering
from ..reader import Reader
from .kinds import alike, is_long

if TYPE_CHECKING:
    from .terms import Terms

__all__ = ["Symmetries", "Symmetry"]

NONE_ALIKE = "no two variables are alike"
NONE_FOUND = "none found"
TOO_LONG = "the program is too long to be searched"
LONG = 80  # characters of a formula that is named in passing


@dataclass(frozen=True, eq=False)
class Symmetry:
    """What a question leaves of a program's symmetries; ``note`` says what, or why there is none.

    ``structures`` are the numbers of the reward structures that it asks about.
    """

    symmetries: Symmetries
    orbits: Orbits | None
    structures: frozenset[int]
    note: str

    def lowered(
        self, terminal: Expression | None = None, reader: Reader | None = None, *, rewards: bool = True
    ) -> Lowered:
        """The program as explorers take it, with one state of each orbit; perhaps without rewards.

        What ends the exploration, and what is read in states, must be the same in all states of an orbit, too.
        """
        with DeepRecursion(self.symmetries.program.source):
            lowering, orbits = self.symmetries.lowering, self.orbits
            besides = [*([] if terminal is None else [terminal]), *([] if reader is None else reader.propositions)]
            if orbits is None or not self.symmetries.keep(orbits, besides):
                kept = (self.structures if lowering.is_slice else None) if rewards else ()
                return lowering.lowered(terminal, reader, structures=kept)
            labels = self.symmetries.labels_kept(orbits)
            found = lowering.lowered(terminal, reader, orbits, self.structures, labels)
            return self.symmetries.without_repeats(found, self.structures)


class Symmetries:
    """The symmetries of a program whose constants all have values; looked for when they are first asked for.

    ``lowered`` is what was lowered of it before, if anything was: the whole, or a slice.
    """

    def __init__(self, program: Program, lowered: Lowering | None = None):
        self.program = program
        self._lowered = lowered
        self._known: dict[frozenset[int], list[Blocks]] = {}  # what is left, by what must stay as it is

    @cached_property
    def lowering(self) -> Lowering:
        """The program, lowered once for all questions."""
        if self._lowered is not None:
            return self._lowered
        with DeepRecursion(self.program.source):
            return Lowering(self.program)

    @cached_property
    def _terms(self) -> Terms:
        from .terms import Terms

        return Terms(self.lowering)

    @cached_property
    def _found(self) -> tuple[list[Blocks], str]:
        """What moves when neither rewards nor labels count; and why nothing does."""
        if self.program.open_constants:  # whoever builds it will say so
            return [], NONE_FOUND
        if self._kinds is None:
            return [], NONE_ALIKE
        if is_long(self.lowering):
            return [], TOO_LONG
        from .finding import find

        found = find(self._terms, self._kinds)
        return found, "" if found else NONE_FOUND

    @cached_property
    def _kinds(self) -> list[int] | None:
        return alike(self.lowering)

    @property
    def found(self) -> bool:
        """Whether the program has any."""
        with DeepRecursion(self.program.source):
            return bool(self._found[0])

    def unused(self, note: str) -> Symmetry:
        """None of them, for a reason."""
        everything = frozenset(range(len(self.program.rewards)))
        return Symmetry(self, None, everything, note)

    def keeping(self, formulas: Sequence[Expression], structures: Collection[int]) -> Symmetry:
        """The symmetries that change neither formulas about states, in terms of the variables, nor what is earned."""
        with DeepRecursion(self.program.source):
            parts, note = self._found
            kept = frozenset(structures)
            roots = self._roots(formulas, kept) if parts else []
            left = self._left_of_all(frozenset(term for term, _ in roots)) if parts else []
            if parts and not left:
                culprit = next(what for term, what in roots if not all(self._kept(part, [term]) for part in parts))
                note = f"{_told(culprit)} is not the same when they move ({self._text(parts)})"
            if left:
                note = self._text(left)
            return Symmetry(self, Orbits(tuple(left)) if left else None, kept, note)

    def keep(self, orbits: Orbits, formulas: Sequence[Expression]) -> bool:
        """Whether formulas about states have the same value in all states of an orbit."""
        terms = [self._term(formula) for formula in formulas]
        return all(self._kept(part, terms) for part in orbits.parts)

    def labels_kept(self, orbits: Orbits) -> list[str]:
        """The labels of the program that hold in all states of an orbit or in none."""
        return [name for name, formula in self.program.labels.items() if self.keep(orbits, [formula])]

    def without_repeats(self, lowered: Lowered, structures: Collection[int]) -> Lowered:
        """Leave out choices that orbits make the same."""
        from .repeats import without_repeats

        return without_repeats(lowered, self._terms, structures)

    def _term(self, formula: Expression) -> int:
        return self._terms.expression(self.lowering.expressions.node(formula))

    def _roots(self, formulas: Sequence[Expression], structures: Collection[int]) -> list[tuple[int, Expression | str]]:
        """Everything that must stay as it is, besides the program alone, and what it is called."""
        roots: list[tuple[int, Expression | str]] = [(self._term(formula), formula) for formula in formulas]
        for number in sorted(structures):
            name = f'the reward structure "{self.program.reward_names[number]}"'
            roots += [(self._terms.choices([number]), name), (self._terms.state_rewards([number]), name)]
        return roots

    def _left_of_all(self, terms: frozenset[int]) -> list[Blocks]:
        """What may still move when some terms must stay as they are.

        Where these tell blocks apart, others may be found that move together: a second search looks for them.
        """
        from .finding import find

        if terms not in self._known:
            parts, _ = self._found
            left = [blocks for part in parts for blocks in self._left(part, sorted(terms))]
            if left != parts and self._kinds is not None:
                left = max(left, find(self._terms, self._kinds, sorted(terms)), key=_size)
            self._known[terms] = left
        return self._known[terms]

    def _left(self, part: Blocks, terms: Sequence[int]) -> list[Blocks]:
        """What is left of blocks; of those that are told apart, the others."""
        from .proof import swapping

        if part.rotates:
            return [part] if self._kept(part, terms) else []
        pools: list[list[tuple[int, ...]]] = []
        for block in part.members:
            for pool in pools:
                swap = swapping(pool[0], block)
                if all(self._terms.keeps(term, swap) for term in terms):
                    pool.append(block)
                    break
            else:
                pools.append([block])
        return [Blocks(False, tuple(pool)) for pool in pools if len(pool) > 1]

    def _kept(self, part: Blocks, terms: Iterable[int]) -> bool:
        from .proof import generators

        steps = list(generators(part))
        return all(self._terms.keeps(term, step) for term in terms for step in steps)

    def _text(self, parts: Sequence[Blocks]) -> str:
        return Orbits(tuple(parts)).text(layout(self.program.variables, self.lowering.frozen)[0])


def _size(parts: Sequence[Blocks]) -> int:
    """How many symmetries there are, all together."""
    return math.prod(len(part) if part.rotates else math.factorial(len(part)) for part in parts)


def _told(culprit: Expression | str) -> str:
    text = culprit if isinstance(culprit, str) else render(culprit)
    return text if len(text) <= LONG else f"{text[:LONG]} …"
