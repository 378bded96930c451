"""What backends lump, and what comes out: states that behave alike, in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model.sparse import Int32s, Model, Offsets, Values

__all__ = ["NO_LIMITS", "LumpLimits", "LumpRows", "Partition"]


@dataclass(frozen=True, eq=False)
class LumpRows:
    """Rows of weights, and what is seen besides them.

    Attributes
    ----------
    choice_starts, row_starts, columns, values
        As a :class:`~galton.model.sparse.Model` has them.
    marks
        ``(choices,)`` rows with different marks differ; None where none has one.
    kinds, n_kinds
        ``(transitions,)`` weights of one kind are added up; None where all are of one.
    leaving
        Whether weights into a state's own block do not count.
    """

    choice_starts: Int32s | None
    row_starts: Offsets
    columns: Int32s
    values: Values
    marks: Int32s | None = None
    kinds: Int32s | None = None
    n_kinds: int = 1
    leaving: bool = False

    @classmethod
    def of(cls, model: Model, marks: Int32s | None = None) -> LumpRows:
        """The rows of a model."""
        return cls(model.choice_starts, model.row_starts, model.columns, model.values, marks)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.row_starts if self.choice_starts is None else self.choice_starts) - 1


@dataclass(frozen=True)
class LumpLimits:
    """When to give up: above so many blocks, or after so many entries that were gone over."""

    blocks: int = 2**31
    entries: int = 2**62


NO_LIMITS = LumpLimits()


@dataclass(frozen=True, eq=False)
class Partition:
    """The blocks of states that behave alike.

    Attributes
    ----------
    block
        ``(states,)`` the block of each state. Blocks are numbered in the order of their first states.
    first
        ``(blocks,)`` the first state of each block; None where the work was given up.
    rounds, entries
        What it took: rounds of splitting, and entries gone over.
    """

    block: Int32s
    first: Int32s | None
    rounds: int
    entries: int
