"""Every kernel of the graph analysis compiles for the devices it is meant for; that needs NVRTC, but no device."""

from __future__ import annotations

from pathlib import Path

import pytest

import galton.backend

FILES = sorted((Path(galton.backend.__file__).parent / "cuda" / "graph").glob("*.cu"))


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("offset", ["int", "long long"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nvrtc_compiles(file: Path, offset: str, architecture: str) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    from cupy.cuda import nvrtc

    from galton.device.cuda.kernels import OPTIONS, source_text

    try:
        nvrtc.getVersion()
    except RuntimeError as error:
        pytest.skip(f"NVRTC is not there: {error}")
    program = nvrtc.createProgram(source_text(file), file.name, (), ())
    try:
        nvrtc.compileProgram(program, (*OPTIONS, f"-DOFFSET={offset}", f"--gpu-architecture={architecture}"))
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program))
    assert len(nvrtc.getCUBIN(program)) > 1000


def test_there_are_kernels() -> None:
    assert [file.name for file in FILES] == ["components.cu", "search.cu", "together.cu"]
