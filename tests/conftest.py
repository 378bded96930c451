"""What all tests share: those that need a CUDA device, and the same tests with the device swapped.

Tests that need a device are skipped where there is none, with the reason. Every test of a folder in ``SWAPPED`` comes
twice: as it is, and marked ``gpu`` with models built on the device unless a test says where.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from galton.explore import build
from galton.explore.cuda_device import DeviceError, import_cupy

SWAPPED = ("check", "gallery")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    asked = [item for item in items if "gpu" in item.keywords]
    if not asked:
        return
    try:
        import_cupy()
    except DeviceError as error:
        for item in asked:
            item.add_marker(pytest.mark.skip(reason=str(error)))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    own = {mark.name for mark in metafunc.definition.iter_markers()}
    if Path(str(metafunc.module.__file__)).parent.name in SWAPPED and "gpu" not in own:
        metafunc.fixturenames.append("where_to_build")
        places = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
        metafunc.parametrize("where_to_build", places, indirect=True, scope="module")


@pytest.fixture(scope="module")
def where_to_build(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where models are built that nobody says it of."""
    defaults = build.__kwdefaults__
    before, defaults["device"] = defaults["device"], request.param
    yield
    defaults["device"] = before
