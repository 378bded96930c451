"""Kernels compiled by other processes are those that this one would compile; that needs NVRTC, but no device."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cupy", reason="CuPy, which brings the bindings of NVRTC, is not installed")

from cupy.cuda import nvrtc

from galton.device.cuda.code import CompilationError, Text, compile_together, compiled, is_kept, machine_code

TEXT = 'extern "C" __global__ void twice(double* x) { x[threadIdx.x] *= FACTOR; }'
OPTIONS = ("-std=c++17", "--gpu-architecture=sm_90")


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        nvrtc.getVersion()
    except RuntimeError as error:
        pytest.skip(f"NVRTC is not there: {error}")
    monkeypatch.setenv("GALTON_CACHE", str(tmp_path))


def text(factor: str) -> Text:
    return Text(TEXT, (*OPTIONS, f"-DFACTOR={factor}"), "a test")


def test_other_processes_compile_the_same() -> None:
    texts = [text(factor) for factor in ("2", "3", "4")]
    assert list(compile_together(texts)) == [(1, 3), (2, 3), (3, 3)]
    for wanted in texts:
        assert machine_code(wanted).startswith(compiled(wanted))  # CuPy leaves the last byte out
    assert list(compile_together(texts)) == []


def test_more_to_compile_may_turn_up() -> None:
    first, second = text("7"), text("8")
    found = list(compile_together([first], lambda key: [second] if key == first.key else []))
    assert found == [(1, 2), (2, 2)]
    assert is_kept(second)


def test_what_does_not_compile_is_told_who_needs_it() -> None:
    wrong = text("unknown")
    assert list(compile_together([wrong])) == [(1, 1)]
    assert not is_kept(wrong)
    with pytest.raises(CompilationError, match=r"a test does not compile:\n.*\n*.*unknown"):
        machine_code(wrong)


def test_a_process_that_ends_early_is_no_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    silent = tmp_path / "silent.py"
    silent.write_text("import sys; sys.stdin.readline()")
    monkeypatch.setattr("galton.device.cuda.compilers.PROCESS", silent)
    assert list(compile_together([text("5")])) == [(1, 1)]
    assert not is_kept(text("5"))
    assert machine_code(text("5")) == compiled(text("5"))
    assert is_kept(text("5"))


def test_the_options_are_part_of_what_is_kept() -> None:
    assert text("2").key != text("3").key
    machine_code(text("2"))
    assert is_kept(text("2"))
    assert not is_kept(text("3"))
