"""Orbits: the states that symmetries of a program make of one another, and how many of them one stands for.

A symmetry moves blocks of variables that are alike: any two of them may be exchanged, or all move on by one in a ring.
Of every orbit one state is explored: the one whose blocks are in ascending order, or rotated to the least sequence.
A block's *key* is what its variables hold, the first one most significant; it has at most 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..device.arrays import namespace, on_host
from .states import Field, Words

__all__ = ["MOST_BITS", "MOST_BLOCKS", "Blocks", "Orbits"]

MOST_BITS, MOST_BLOCKS = 64, 62  # of a key; of what moves together, so that a number has a bit for each
_BLOCK = 1 << 20  # states that are counted at a time

Piece = tuple[int, int, int, int]  # word, shift, offset in the key, mask


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of variables, by their numbers; those at one place of each block are alike.

    Where it ``rotates``, block i may only take the place of block i + 1 together with all others, in a ring. Otherwise
    any two may be exchanged.
    """

    rotates: bool
    members: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.members)

    def pieces(self, fields: Sequence[Field]) -> list[list[Piece]]:
        """Where the bits of each block's key are; neighbours are one piece."""
        return [self._pieces([fields[v] for v in block if fields[v].bits]) for block in self.members]

    @staticmethod
    def _pieces(fields: Sequence[Field]) -> list[Piece]:
        offset = sum(field.bits for field in fields)
        found: list[tuple[int, int, int, int]] = []  # word, shift, bits, offset
        for field in fields:
            offset -= field.bits
            if found and found[-1][0] == field.word and found[-1][1] == field.shift + field.bits:
                word, _, bits, _ = found.pop()
                found.append((word, field.shift, bits + field.bits, offset))
            else:
                found.append((field.word, field.shift, field.bits, offset))
        return [(word, shift, offset, (1 << bits) - 1) for word, shift, bits, offset in found]

    def representative(self, state: Sequence[int]) -> tuple[int, ...]:
        """The state that stands for one, both as values of the variables."""
        keys = [tuple(state[v] for v in block) for block in self.members]
        ordered = min(keys[i:] + keys[:i] for i in range(len(keys))) if self.rotates else sorted(keys)
        found = list(state)
        for block, key in zip(self.members, ordered, strict=True):
            for variable, value in zip(block, key, strict=True):
                found[variable] = value
        return tuple(found)

    def codes(self, fields: Sequence[Field], words: Words) -> Any:
        """A number for each of some representatives that says how large its orbit is; see :meth:`size`."""
        xp = namespace(words)
        keys = []
        for pieces in self.pieces(fields):
            key = xp.zeros(len(words), dtype=np.uint64)
            for word, shift, offset, mask in pieces:
                key |= ((words[:, word] >> np.uint64(shift)) & np.uint64(mask)) << np.uint64(offset)
            keys.append(key)
        codes = xp.zeros(len(words), dtype=np.int64)
        if not self.rotates:
            for place, (before, key) in enumerate(pairwise(keys)):
                codes |= (before == key).astype(np.int64) << np.int64(place)
            return codes
        for period in (d for d in range(len(keys), 0, -1) if len(keys) % d == 0):
            same = xp.ones(len(words), dtype=np.bool_)
            for place, key in enumerate(keys):
                same &= key == keys[(place + period) % len(keys)]
            codes[same] = period
        return codes

    def size(self, code: int) -> int:
        """How many states an orbit has: the ways to arrange its keys, some of which are equal, or its period."""
        if self.rotates:
            return code
        size, run = math.factorial(len(self)), 1
        for place in range(len(self) - 1):
            run = run + 1 if code >> place & 1 else 1
            size //= run  # in the end by the factorial of every run of equal keys
        return size

    def words(self, fields: Sequence[Field]) -> str:
        """What moves, for a person."""
        names = [", ".join(fields[v].name for v in block if fields[v].bits) for block in self.members]
        if any(", " in name for name in names):
            names = [f"({name})" for name in names]
        shown = names if len(names) <= 3 else [names[0], names[1], "…", names[-1]]
        what = "rotations" if self.rotates else "exchanges"
        return f"{what} of {len(names)}: {', '.join(shown)}"


@dataclass(frozen=True, slots=True)
class Orbits:
    """The orbits of a group of symmetries: several kinds of blocks, each of variables of its own."""

    parts: tuple[Blocks, ...]

    def pieces(self, fields: Sequence[Field]) -> list[tuple[bool, list[list[Piece]]]]:
        """What the core takes."""
        return [(part.rotates, part.pieces(fields)) for part in self.parts]

    def representative(self, state: Sequence[int]) -> tuple[int, ...]:
        """The state that stands for one, both as values of the variables.

        >>> Orbits((Blocks(False, ((0,), (1,), (2,))),)).representative((2, 0, 1))
        (0, 1, 2)
        >>> Orbits((Blocks(True, ((0,), (1,), (2,))),)).representative((2, 0, 1))
        (0, 1, 2)
        >>> Orbits((Blocks(True, ((0,), (1,), (2,))),)).representative((0, 2, 1))
        (0, 2, 1)
        """
        found = tuple(state)
        for part in self.parts:
            found = part.representative(found)
        return found

    def count(self, fields: Sequence[Field], words: Words) -> int:
        """How many states some representatives stand for, exactly.

        >>> from galton.model.states import PackedStates
        >>> states = PackedStates.from_columns({"a": [0, 0], "b": [0, 0], "c": [0, 1]})
        >>> Orbits((Blocks(False, ((0,), (1,), (2,))),)).count(states.fields, states.words)
        4
        """
        return sum(self._count(fields, words[first : first + _BLOCK]) for first in range(0, len(words), _BLOCK))

    def _count(self, fields: Sequence[Field], words: Words) -> int:
        joint, sizes = self._places(fields, words)
        places, counts = (on_host(array).tolist() for array in namespace(words).unique(joint, return_counts=True))
        return sum(count * math.prod(_sizes_at(place, sizes)) for place, count in zip(places, counts, strict=True))

    def sizes(self, fields: Sequence[Field], words: Words) -> list[int]:
        """How many states each of some representatives stands for.

        >>> from galton.model.states import PackedStates
        >>> states = PackedStates.from_columns({"a": [0, 0], "b": [0, 0], "c": [0, 1]})
        >>> Orbits((Blocks(False, ((0,), (1,), (2,))),)).sizes(states.fields, states.words)
        [1, 3]
        """
        joint, sizes = self._places(fields, words)
        known: dict[int, int] = {}
        found = []
        for place in on_host(joint).tolist():
            if place not in known:
                known[place] = math.prod(_sizes_at(place, sizes))
            found.append(known[place])
        return found

    def _places(self, fields: Sequence[Field], words: Words) -> tuple[Any, list[list[int]]]:
        """For each state a number that says which of the sizes of each part are its own."""
        xp = namespace(words)
        joint = xp.zeros(len(words), dtype=np.int64)
        sizes: list[list[int]] = []
        for part in self.parts:
            codes, inverse = xp.unique(part.codes(fields, words), return_inverse=True)
            sizes.append([part.size(int(code)) for code in on_host(codes)])
            joint = joint * len(codes) + inverse
        return joint, sizes

    def text(self, fields: Sequence[Field]) -> str:
        """What moves, for a person."""
        return "; ".join(part.words(fields) for part in self.parts)


def _sizes_at(place: int, sizes: Sequence[Sequence[int]]) -> Iterator[int]:
    for of_part in reversed(sizes):
        place, index = divmod(place, len(of_part))
        yield of_part[index]
