"""The state that stands for others, as CUDA C++.

Keys of blocks are sorted by a network, without a branch and in registers: all lanes of a warp do the same. Rings are
rotated by a loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....model.orbits import Blocks, Orbits, Piece
from ....model.states import Field

__all__ = ["represent", "sorting_network"]


def represent(orbits: Orbits | None, fields: Sequence[Field]) -> list[str]:
    """The body of ``void represent(State& state)``."""
    lines = []
    for part in () if orbits is None else orbits.parts:
        lines += ["{", *(f"    {line}" for line in _part(part, part.pieces(fields))), "}"]
    return lines


def _part(part: Blocks, pieces: Sequence[Sequence[Piece]]) -> list[str]:
    size = len(pieces)
    keys = [" | ".join(_read(piece) for piece in block) for block in pieces]
    masks: dict[int, int] = {}
    for word, shift, _, mask in (piece for block in pieces for piece in block):
        masks[word] = masks.get(word, 0) | mask << shift
    lines = []
    if part.rotates:
        lines += [f"const u64 keys[{size}] = {{{', '.join(keys)}}};", f"int at = least_rotation(keys, {size});"]
    else:
        lines += [f"u64 key{b} = {key};" for b, key in enumerate(keys)]
        lines += [f"order(key{a}, key{b});" for a, b in sorting_network(size)]
    lines += [f"state.word[{word}] &= 0x{~mask & (1 << 64) - 1:X}ull;" for word, mask in masks.items()]
    for b, block in enumerate(pieces):
        key = "keys[at]" if part.rotates else f"key{b}"
        for word, shift, offset, mask in block:
            lines.append(f"state.word[{word}] |= ({key} >> {offset} & 0x{mask:X}ull) << {shift};")
        if part.rotates:
            lines.append(f"at = at + 1 == {size} ? 0 : at + 1;")
    return lines


def _read(piece: Piece) -> str:
    word, shift, offset, mask = piece
    return f"(state.word[{word}] >> {shift} & 0x{mask:X}ull) << {offset}"


def sorting_network(size: int) -> Iterator[tuple[int, int]]:
    """Comparisons that sort any sequence, by odd-even merges (K. E. Batcher, 1968; Knuth 5.2.2, algorithm M).

    >>> list(sorting_network(3))
    [(0, 2), (0, 1), (1, 2)]
    """
    top = 1 << (size - 1).bit_length() >> 1
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            yield from ((i, i + d) for i in range(size - d) if i & p == r)
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
