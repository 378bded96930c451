"""The CUDA explorer on a device, against the CPU explorer: ``pytest -m gpu tests/explore``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from program_cases import CASES, FAULTS, MODELS, chain, gallery, wide
from random_programs import ProgramText, programs

import galton
from galton.backend.cuda.explorer import exploration as cuda
from galton.backend.cuda.explorer.kernels import explorer_texts
from galton.backend.cuda.explorer.source import source
from galton.device.cuda.code import architecture, machine_code
from galton.device.cuda.runtime import import_cupy
from galton.device.errors import DeviceError
from galton.lang import GaltonError
from galton.lang.program import Program
from galton.lower.lowering import lower

pytestmark = pytest.mark.gpu


LARGER = [
    ("consensus.prism", {"N": 6, "K": 2}),
    ("leader_async.prism", {"N": 7}),
    ("herman.prism", {"N": 13}),
    ("kanban.prism", {"t": 5}),
    ("crowds.prism", {"TotalRuns": 5, "CrowdSize": 20}),
    ("sir.prism", {"S0": 990, "I0": 10, "R0": 0, "ki": 0.001, "kr": 0.05}),
]
GALLERY = [*gallery(most_states=200_000, most_instances=2), *LARGER]


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """All explorers, compiled by all cores at once: one after the other they would take most of the time."""
    import_cupy()
    programs = [galton.load(MODELS / file, **constants) for file, constants in GALLERY]
    programs += [galton.parse(text) for text in (*CASES.values(), *FAULTS.values())]
    texts = [text for program in programs for text in explorer_texts(source(lower(program)), architecture())]
    with ThreadPoolExecutor() as pool:
        list(pool.map(machine_code, texts))


def check(program: Program) -> None:
    model = cuda.explore(lower(program))
    host = model.to_host()
    assert type(model.columns) is not type(host.columns)
    host.validate()
    assert list(host.differences(program.build())) == []


@pytest.mark.parametrize(("file", "constants"), GALLERY)
def test_gallery(file: str, constants: dict[str, object]) -> None:
    check(galton.load(MODELS / file, **constants))


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_corners(text: str) -> None:
    check(galton.parse(text))


@pytest.mark.parametrize(("variables", "moving"), [(3, 2), (7, 5), (12, 7)])
def test_states_of_several_words(variables: int, moving: int) -> None:
    check(galton.parse(wide(variables, moving)))


def test_deep_and_narrow() -> None:
    check(galton.parse(chain(100_000)))


def test_what_is_too_small_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "FIRST_SLOTS", 2)
    monkeypatch.setattr(cuda, "FIRST_FRONTIER", 1)
    check(galton.load(MODELS / "cluster.prism", N=64))
    check(galton.load(MODELS / "polling.prism", N=12))
    check(galton.load(MODELS / "herman.prism", N=9))
    check(galton.parse(wide(7, 5)))


@pytest.mark.parametrize("text", FAULTS.values(), ids=FAULTS)
def test_faults_are_explained_by_the_cpu(text: str) -> None:
    program = galton.parse(text)
    with pytest.raises(GaltonError) as mine:
        cuda.explore(lower(program))
    with pytest.raises(GaltonError) as expected:
        program.build()
    assert str(mine.value) == str(expected.value)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
@given(programs())
def test_random_programs(text: ProgramText) -> None:
    program = galton.parse(text)
    try:
        expected = program.build(threads=1)
    except GaltonError:
        return
    try:
        model = cuda.explore(lower(program))
    except DeviceError:
        return
    assert list(model.to_host().differences(expected)) == []
