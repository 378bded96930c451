"""The CUDA explorer played by the CPU: its driver, its kernels and the generated code, against the CPU explorer."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from played import memory
from played_explorer import explore
from program_cases import CASES, FAULTS, MODELS, OFF, chain, gallery, wide
from random_programs import ProgramText, programs

import galton
from galton.backend.cuda.explorer import exploration as cuda
from galton.backend.cuda.explorer.tables import NotPrintable
from galton.lang import GaltonError
from galton.lang.program import Program
from galton.lower.lowering import lower

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")


def check(program: Program) -> None:
    expected = program.build(threads=1)
    model = explore(lower(program))
    model.validate()
    assert list(model.differences(expected)) == []
    assert model.columns.dtype == expected.columns.dtype
    assert model.row_starts.dtype == expected.row_starts.dtype


@pytest.mark.parametrize(("file", "constants"), list(gallery(most_states=3_000, most_instances=1)))
def test_gallery(file: str, constants: dict[str, object]) -> None:
    check(galton.load(MODELS / file, **constants))


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_corners(text: str) -> None:
    check(galton.parse(text))


@pytest.mark.parametrize("text", OFF.values(), ids=OFF)
def test_rows_that_are_off_are_finished_alike(text: str) -> None:
    program = galton.parse(text)
    check(program)
    assert explore(lower(program)).warnings == program.build(threads=2).warnings


def test_states_of_several_words() -> None:
    check(galton.parse(wide(7, 4)))


@pytest.mark.parametrize("text", FAULTS.values(), ids=FAULTS)
def test_faults_are_seen(text: str) -> None:
    with pytest.raises(cuda.ProgramFault):
        explore(lower(galton.parse(text)))


def test_what_is_too_small_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels are repeated when the table or the frontier is full; nothing is lost or found twice."""
    monkeypatch.setattr(cuda, "FIRST_SLOTS", 2)
    monkeypatch.setattr(cuda, "FIRST_FRONTIER", 1)
    check(galton.load(MODELS / "cluster.prism", N=4))
    check(galton.load(MODELS / "herman.prism", N=5))
    check(galton.parse(wide(7, 4)))


def test_launches_are_few() -> None:
    """A narrow model is explored in one launch, whatever its depth."""
    program = galton.parse(chain(15_000))
    model = explore(lower(program))
    assert model.info["levels"] == 15_000
    assert list(model.differences(program.build())) == []


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
@given(programs(mistakes=True))
def test_random_programs(text: ProgramText) -> None:
    program = galton.parse(text)
    try:
        expected = program.build(threads=1)
    except GaltonError:
        expected = None
    try:
        model = explore(lower(program))
    except (cuda.ProgramFault, NotPrintable):
        return  # the CPU has the last word about faults
    assert expected is not None, "a fault was not seen"
    assert list(model.differences(expected)) == []


@pytest.mark.parametrize(
    ("name", "entries"), [("long rows", 600_000), ("long rows of a choice", 600), ("long rows of rates", 600)]
)
def test_long_rows_in_parts(name: str, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory does not suffice for all of them, rows are merged a few states at a time."""
    program = galton.parse(CASES[name])
    parts: list[int] = []
    merged = cuda.LongRows._merged

    def counted(rows: cuda.LongRows, first: int, last: int) -> cuda.Merged:
        parts.append(last - first)
        return merged(rows, first, last)

    monkeypatch.setattr(cuda.LongRows, "_merged", counted)
    check(program)
    assert len(parts) == 1
    monkeypatch.setattr(memory, "free", 80 * entries)
    check(program)
    assert len(parts) >= 5
    assert parts[0] > min(parts[1:])
