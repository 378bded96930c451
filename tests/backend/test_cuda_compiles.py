"""Every kernel of the backend compiles for the devices it is meant for; that needs NVRTC, but no device."""

from __future__ import annotations

from pathlib import Path

import pytest

import galton.backend

FILES = sorted((Path(galton.backend.__file__).parent / "cuda").glob("*.cu"))
# Every type of offsets, of codes, every number of lanes and every layout, in as few combinations as have all of them.
VARIANTS = [
    ("int", "unsigned char", 1, "CSR"),
    ("long long", "double", 4, "CSR"),
    ("int", "unsigned short", 32, "CSR"),
    ("int", "unsigned char", 1, "SLICED"),
    ("long long", "double", 2, "SLICED"),
    ("int", "unsigned short", 1, "ELL"),
    ("int", "unsigned char", 1, "SUMS"),
]
# What is compiled for other layouts than CSR.
OTHERS = {"SLICED": ("sweeps", "steps"), "ELL": ("sweeps", "steps"), "SUMS": ("sweeps", "looks", "proof", "weigh")}


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize(
    ("file", "variant"),
    [(file, variant) for file in FILES for variant in VARIANTS if file.stem in OTHERS.get(variant[3], (file.stem,))],
    ids=lambda part: part.name if isinstance(part, Path) else str(part),
)
def test_nvrtc_compiles(file: Path, variant: tuple[str, str, int, str], architecture: str) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    from cupy.cuda import nvrtc

    from galton.backend.cuda.module import OPTIONS, source_text

    try:
        nvrtc.getVersion()
    except RuntimeError as error:
        pytest.skip(f"NVRTC is not there: {error}")
    names = ("OFFSET", "CODE", "LANES", "LAYOUT", "INDEX")
    values = (*variant, "unsigned" if variant[0] == "int" else "long long")
    defines = [f"-D{name}={value}" for name, value in zip(names, values, strict=True)]
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
        "induced",
        "levels",
        "looks",
        "numbers",
        "part",
        "positions",
        "products",
        "proof",
        "regions",
        "regions_in_blocks",
        "restrict",
        "segmented",
        "slices",
        "steps",
        "sweeps",
        "take",
        "vectors",
        "weigh",
    ]
