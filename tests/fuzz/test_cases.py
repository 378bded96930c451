"""Every case that was ever wrong, by its name."""

from __future__ import annotations

import pytest

from .case import mistakes, names
from .known import CASES


@pytest.mark.parametrize("name", names())
def test_case(name: str) -> None:
    found = mistakes(name)
    if found and name in CASES:
        pytest.skip(f"known: {found[0]}")
    assert not found, "\n".join(found)
