"""Where the kernels of a test run: on a device that the CPU plays, and on a real one under ``-m gpu``."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from played import played_device


@pytest.fixture(scope="module", params=["played", pytest.param("cuda", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """CuPy, or who plays it."""
    if request.param == "cuda":
        import cupy

        yield cupy
        return
    with played_device() as played:
        yield played
