"""Every kernel of the backend compiles for the devices it is meant for; that needs NVRTC, but no device."""

from __future__ import annotations

from pathlib import Path

import pytest

import galton.backend

FILES = sorted((Path(galton.backend.__file__).parent / "cuda").glob("*.cu"))
# Every type of offsets, of codes and every number of lanes, in as few combinations as have all of them.
VARIANTS = [("int", "unsigned char", 1), ("long long", "double", 4), ("int", "unsigned short", 32)]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nvrtc_compiles(file: Path, variant: tuple[str, str, int], architecture: str) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    from cupy.cuda import nvrtc

    from galton.backend.cuda.module import OPTIONS, source_text

    try:
        nvrtc.getVersion()
    except RuntimeError as error:
        pytest.skip(f"NVRTC is not there: {error}")
    defines = [f"-D{name}={value}" for name, value in zip(("OFFSET", "CODE", "LANES"), variant, strict=True)]
    program = nvrtc.createProgram(source_text(file), file.name, (), ())
    try:
        nvrtc.compileProgram(program, (*OPTIONS, *defines, f"--gpu-architecture={architecture}"))
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program))
    assert len(nvrtc.getCUBIN(program)) > 1000


def test_there_are_kernels() -> None:
    assert [file.stem for file in FILES] == [
        "choices",
        "drift",
        "numbers",
        "part",
        "products",
        "proof",
        "restrict",
        "steps",
        "sweeps",
        "vectors",
        "weigh",
    ]
