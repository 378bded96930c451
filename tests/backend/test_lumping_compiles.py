"""The kernels that lump compile for the devices they are meant for; that needs NVRTC, but no device."""

from __future__ import annotations

from pathlib import Path

import pytest

import galton.backend

HOME = Path(galton.backend.__file__).parent / "cuda" / "lumping"
FILE = HOME / "lump.cu"


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("variant", [("int", "unsigned char"), ("long long", "unsigned short")])
def test_nvrtc_compiles(variant: tuple[str, str], architecture: str) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    from cupy.cuda import nvrtc

    from galton.device.cuda.kernels import OPTIONS, source_text

    try:
        nvrtc.getVersion()
    except RuntimeError as error:
        pytest.skip(f"NVRTC is not there: {error}")
    program = nvrtc.createProgram(source_text(FILE), FILE.name, (), ())
    offset, code = variant
    options = (*OPTIONS, f"-DOFFSET={offset}", f"-DCODE={code}", f"--gpu-architecture={architecture}")
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program))
    assert len(nvrtc.getCUBIN(program)) > 1000


def test_both_know_the_same_primes() -> None:
    text = (Path(__file__).parents[2] / "src" / "core" / "lump" / "residues.hpp").read_text(encoding="utf-8")
    listed = text.partition("LACKING{")[2].partition("}")[0].split(",")
    python = (HOME / "refinement.py").read_text(encoding="utf-8")
    numbers = python.partition("LACKING = (")[2].partition("\n)")[0].replace("*(", "").replace(")", "").split(",")
    assert [int(part) for part in listed] == [int(part) for part in numbers if part.strip()]
