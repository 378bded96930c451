"""What all tests share: those that need a CUDA device, and the same tests with the device swapped.

Tests that need a device are skipped where there is none, with the reason. Every test of a folder in ``SWAPPED`` comes
twice: as it is, and marked ``gpu`` with models built on the device unless a test says where. Those of a file in
``PLAYED`` come a third time, with a device played by the CPU (``played``), which needs none. What they ask about small
models is certified besides (``certified_answers``), wherever it was answered.

``--fast`` (``make test-fast``) runs part of the tests: of each test function the first case and the last, and none
that are marked ``slow``. A test that has become slow without saying so is listed at the end.
"""

from __future__ import annotations

import compileall
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest
from certified_answers import certified_answers
from played import played_device

import galton
from galton.api import check
from galton.device.cuda.runtime import import_cupy
from galton.device.errors import DeviceError
from galton.explore import build

SWAPPED = ("check", "gallery")
PLAYED = (
    "test_api",
    "test_best_long_run",
    "test_curves",
    "test_experiments",
    "test_faint_numbers",
    "test_exploration",
    "test_fairness",
    "test_filters",
    "test_gallery_smallest",
    "test_long_run",
    "test_ltl",
    "test_mistakes",
    "test_nesting",
    "test_on_device",
    "test_operators",
    "test_qualitative",
    "test_steps",
    "test_strategies",
    "test_timed",
)
UNCERTIFIED = ("test_nesting", "test_negative_rewards")  # mistakes on purpose; what has no certificates


LONG = 5.0  # seconds of processor time from which on a test should be marked ``slow``

SECONDS = "processor seconds"
started = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    """Processes that tests start find Galton compiled, as users' do, also where Python is told not to write that."""
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(galton.__file__).parent, quiet=2)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="two cases of each test function, and none that are slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        kept = _few(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    asked = [item for item in items if "gpu" in item.keywords]
    if not asked:
        return
    try:
        import_cupy()
    except DeviceError as error:
        for item in asked:
            item.add_marker(pytest.mark.skip(reason=str(error)))


def _few(items: list[pytest.Item]) -> set[pytest.Item]:
    """Of each test function the first and the last case of those that are not slow and need no device."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not {"slow", "gpu"} & {mark.name for mark in item.iter_markers()}:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return {one for several in cases.values() for one in (several[0], several[-1])}


def _processor_seconds() -> float:
    """Of this process and of those it has waited for; unlike time, they do not depend on what else runs."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[started] = _processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if call.when == "teardown" and started in item.stash:
        report.user_properties.append((SECONDS, _processor_seconds() - item.stash[started]))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--fast"):
        return
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        for name, seconds in getattr(report, "user_properties", ()):
            if name == SECONDS and seconds > LONG:
                terminalreporter.line(f"took {seconds:.0f} s and is not marked slow: {report.nodeid}", yellow=True)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    own = {mark.name for mark in metafunc.definition.iter_markers()}
    if Path(str(metafunc.module.__file__)).parent.name in SWAPPED and "gpu" not in own:
        places = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
        if Path(str(metafunc.module.__file__)).stem in PLAYED and "slow" not in own:
            places.append("played")
        metafunc.parametrize("where_to_build", places, indirect=True, scope="module")


@pytest.fixture(scope="session", autouse=True)
def collector_left_alone() -> Iterator[None]:
    """A command freezes all objects of its process, which is that of all tests here: later ones would go over them."""
    with patch("galton.cli.gc"):
        yield


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
