"""What all tests share: those that need a CUDA device, and the same tests with the device swapped.

Tests that need a device are skipped where there is none, with the reason. Every test of a folder in ``SWAPPED`` comes
twice: as it is, and marked ``gpu`` with models built on the device unless a test says where. Those of a file in
``PLAYED`` come a third time, with a device played by the CPU (``played``), which needs none. What they ask about small
models is certified besides (``certified_answers``), wherever it was answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest
from certified_answers import certified_answers
from played import played_device

from galton.api import check
from galton.device.cuda.runtime import import_cupy
from galton.device.errors import DeviceError
from galton.explore import build

SWAPPED = ("check", "gallery")
PLAYED = (
    "test_api",
    "test_experiments",
    "test_faint_numbers",
    "test_exploration",
    "test_filters",
    "test_gallery_smallest",
    "test_long_run",
    "test_mistakes",
    "test_nesting",
    "test_on_device",
    "test_operators",
    "test_qualitative",
    "test_steps",
    "test_strategies",
    "test_timed",
)
UNCERTIFIED = ("test_nesting",)  # solvers that make mistakes on purpose


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
        places = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
        if Path(str(metafunc.module.__file__)).stem in PLAYED and "slow" not in own:
            places.append("played")
        metafunc.parametrize("where_to_build", places, indirect=True, scope="module")


# For all tests, because no test names it: one that is only added to the names of a test's fixtures is never set up.
@pytest.fixture(scope="module", autouse=True)
def where_to_build(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where models are built that nobody says it of."""
    place = getattr(request, "param", "cpu")
    device = "cpu" if place == "cpu" else "cuda"
    path = Path(str(request.path))
    swapped = path.parent.name in SWAPPED and path.stem not in UNCERTIFIED
    with ExitStack() as stack:
        for function in (build, check):
            stack.enter_context(patch.dict(function.__kwdefaults__, device=device))
        if place == "played":
            stack.enter_context(played_device())
        if swapped:
            stack.enter_context(certified_answers())
        yield
