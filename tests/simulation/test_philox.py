"""The random numbers are those of the published algorithm."""

from __future__ import annotations

import pytest

from galton import _core

ONES = 0xFFFFFFFF

# The known answers that come with the authors' implementation (Random123, kat_vectors, philox4x32 10).
KNOWN = [
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([ONES] * 4, [ONES] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter: list[int], key: list[int], expected: list[int]) -> None:
    assert list(_core.philox(counter, key)) == expected
