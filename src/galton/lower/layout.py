"""Where each variable sits in a packed state.

A state is a row of 64-bit words. The first-declared variable takes the most significant bits of the first word, so
comparing packed states word by word compares them variable by variable, in PRISM's own order. A field never straddles
two words. The first word keeps its two top bits free: the hash tables mark empty and half-written slots there.
A variable that never changes takes no bits at all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..lang.program import Variable
from ..model.states import Field

FIRST_WORD_BITS = 62
WORD_BITS = 64


def layout(
    variables: Sequence[Variable], frozen: Collection[str] = (), left_out: Collection[str] = ()
) -> tuple[list[Field], int]:
    """Place the variables; returns their fields and the number of words (at least one).

    Those that are left out are frozen, too.
    """
    sizes = [0 if v.name in frozen else (v.high - v.low).bit_length() for v in variables]
    placed: list[tuple[int, int]] = []  # word, bits already used above the field
    word, used = 0, 0
    for bits in sizes:
        if used + bits > (WORD_BITS if word else FIRST_WORD_BITS):
            word, used = word + 1, 0
        placed.append((word, used))
        used += bits
    room = [0] * (word + 1)
    for (w, above), bits in zip(placed, sizes, strict=True):
        room[w] = max(room[w], above + bits)
    fields = [
        Field(v.name, v.type, v.low if bits else v.initial, w, room[w] - above - bits, bits, v.name in left_out)
        for v, (w, above), bits in zip(variables, placed, sizes, strict=True)
    ]
    return fields, word + 1
