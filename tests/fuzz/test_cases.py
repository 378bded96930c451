"""Every case that was ever wrong, by its name."""

from __future__ import annotations

import pytest

from .case import mistakes, names


@pytest.mark.parametrize("name", names())
def test_case(name: str) -> None:
    found = mistakes(name)
    assert not found, "\n".join(found)
