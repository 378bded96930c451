"""Where the kernels of a test run: compiled by g++ everywhere, and on a device under ``-m gpu``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from device import WHERE


@pytest.fixture(scope="module", params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Iterator[Any]:
    """NumPy or CuPy, with the kernels of its kind."""
    with WHERE[request.param]() as found:
        yield found
