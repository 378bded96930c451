"""What is left out of the models that questions need, and which of them share one.

What nobody asks about is left out first (:mod:`.slicing`), then symmetries of the rest are used (:mod:`.symmetry`).
Questions share a model where the same is left out: of the variables, what none of them needs, unless a question gets by
with much less.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..lang.program import Program
from .looks import ProgramLooks

if TYPE_CHECKING:
    from ..lower.lowering import Lowering
    from ..lower.slicing import Slice
    from ..lower.symmetry import Symmetries, Symmetry

__all__ = ["Reduced", "Reducing", "joint"]

APART = 4  # bits of a state that a question must save to get a model of its own: up to 16 times fewer states

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Reduced:
    """What is left out of a program before it is explored; None where that was not looked for."""

    slice: Slice | None = None
    symmetry: Symmetry | None = None

    @property
    def kind(self) -> Hashable:
        """Models of the same kind have the same states."""
        lowering = None if self.slice is None else self.slice.lowering
        return lowering, None if self.symmetry is None else self.symmetry.orbits

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of :func:`galton.explore.build`."""
        return {"slice": self.slice, "symmetry": self.symmetry}


def joint(reduced: Sequence[Reduced]) -> Reduced:
    """One of several of a kind, with the rewards of all of them."""
    first = reduced[0]
    slice, symmetry = first.slice, first.symmetry
    if slice is not None:
        structures = (r.slice.structures for r in reduced if r.slice is not None)
        slice = replace(slice, structures=frozenset[int]().union(*structures))
    if symmetry is not None:
        structures = (r.symmetry.structures for r in reduced if r.symmetry is not None)
        symmetry = replace(symmetry, structures=frozenset[int]().union(*structures))
    return Reduced(slice, symmetry)


class Reducing:
    """Reductions of one program; ``whole`` is why all states are needed, whatever a question looks at."""

    def __init__(self, program: Program, *, slice: bool, symmetry: bool, fix_deadlocks: bool, whole: str):
        self._program, self._slices_it, self._symmetric = program, slice, symmetry
        self._fix_deadlocks, self._whole = fix_deadlocks, whole
        self._symmetries: dict[Lowering | None, Symmetries] = {}

    def of(self, looks: Mapping[Key, ProgramLooks], alone: Collection[Key]) -> dict[Key, Reduced]:
        """What each question allows by what it looks at; those ``alone`` have a model of their own."""
        slices = self._sliced(looks, alone) if self._slices_it else {}
        found = {}
        for key, look in looks.items():
            slice = slices.get(key)
            found[key] = Reduced(slice, self._symmetry(slice, look) if self._symmetric else None)
        return found

    def _sliced(self, looks: Mapping[Key, ProgramLooks], alone: Collection[Key]) -> dict[Key, Slice]:
        from ..lower.slicing import Slices
        from .slicing import slice_left

        slices = Slices(self._program)
        if self._whole:
            return dict.fromkeys(looks, slices.unused(self._whole))

        def needed(keys: Collection[Key]) -> Slice:
            return slice_left(slices, [looks[key] for key in keys], fix_deadlocks=self._fix_deadlocks)

        found = {key: needed([key]) for key in looks}
        left = [key for key in looks if key not in alone]
        while left:
            most = needed(left).bits
            together = [key for key in left if most - found[key].bits < APART]
            if not together:
                break
            found |= dict.fromkeys(together, needed(together))
            left = [key for key in left if key not in together]
        return found

    def _symmetry(self, slice: Slice | None, looks: ProgramLooks) -> Symmetry:
        from ..lower.symmetry import Symmetries
        from .symmetry import symmetry_left

        lowering = None if slice is None else slice.lowering
        if lowering not in self._symmetries:
            self._symmetries[lowering] = Symmetries(self._program, lowering)
        symmetries = self._symmetries[lowering]
        if self._whole and symmetries.found:
            return symmetries.unused(self._whole)
        return symmetry_left(symmetries, looks)
