"""Every kernel of the backend compiles for the devices it is meant for; that needs NVRTC, but no device."""

from __future__ import annotations

from pathlib import Path

import pytest

import galton.backend
import galton.device

Variant = tuple[str, str, int, str, str]
HOMES = (Path(galton.backend.__file__).parent / "cuda", Path(galton.device.__file__).parent / "cuda")
FILES = sorted(file for home in HOMES for file in home.glob("*.cu"))
# Every type of offsets, of codes and of vectors, every number of lanes and every layout, in as few combinations as have
# all of them.
VARIANTS = [
    ("int", "unsigned char", 1, "CSR", "double"),
    ("long long", "double", 4, "CSR", "double"),
    ("int", "unsigned short", 32, "CSR", "double"),
    ("int", "unsigned char", 1, "SLICED", "double"),
    ("long long", "double", 2, "SLICED", "double"),
    ("int", "unsigned short", 1, "ELL", "double"),
    ("int", "unsigned char", 1, "SUMS", "double"),
    ("int", "unsigned short", 1, "CSR", "float"),
    ("int", "unsigned char", 1, "SLICED", "float"),
    ("int", "double", 1, "SUMS", "float"),
    ("int", "float", 1, "CSR", "float"),
    ("long long", "float", 2, "SLICED", "float"),
]
OVER_SLICES = ("sweeps", "steps", "evaluate")
# What is compiled for other layouts than CSR, and for vectors of floats.
OTHERS = {"SLICED": OVER_SLICES, "ELL": OVER_SLICES, "SUMS": ("sweeps", "evaluate", "proof", "weigh")}
IN_SINGLE = ("sweeps", "segmented", "steps", "slices")
# What is compiled once more for states with very many rows, and in which variants: one lane, some, a warp; and sums.
OVER_ROWS = ("sweeps", "evaluate", "proof", "weigh", "steps")
WIDE_VARIANTS = [VARIANTS[number] for number in (1, 2, 6, 7)]


def compiled(file: Path, variant: Variant) -> bool:
    """Whether there is such a variant of a file."""
    stems = OTHERS.get(variant[3], (file.stem,))
    return file.stem in stems and (variant[4] == "double" or file.stem in IN_SINGLE)


WIDE = [
    (HOMES[0] / f"{stem}.cu", variant)
    for stem in OVER_ROWS
    for variant in WIDE_VARIANTS
    if compiled(HOMES[0] / f"{stem}.cu", variant)
]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize(
    ("file", "variant"),
    [(file, variant) for file in FILES for variant in VARIANTS if compiled(file, variant)],
    ids=lambda part: part.name if isinstance(part, Path) else str(part),
)
def test_nvrtc_compiles(file: Path, variant: Variant, architecture: str) -> None:
    compile_for(architecture, file, variant)


@pytest.mark.parametrize(("file", "variant"), WIDE, ids=lambda part: part.name if isinstance(part, Path) else str(part))
def test_nvrtc_compiles_for_many_rows(file: Path, variant: Variant) -> None:
    compile_for("sm_90", file, variant, "-DWIDE=1", "-DCHUNK_ROWS=2048")


def compile_for(architecture: str, file: Path, variant: Variant, *more: str) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    from cupy.cuda import nvrtc

    from galton.device.cuda.kernels import OPTIONS, source_text

    try:
        nvrtc.getVersion()
    except RuntimeError as error:
        pytest.skip(f"NVRTC is not there: {error}")
    names = ("OFFSET", "CODE", "LANES", "LAYOUT", "REAL", "INDEX")
    values = (*variant, "unsigned" if variant[0] == "int" else "long long")
    defines = [f"-D{name}={value}" for name, value in zip(names, values, strict=True)]
    program = nvrtc.createProgram(source_text(file), file.name, (), ())
    try:
        nvrtc.compileProgram(program, (*OPTIONS, *defines, *more, f"--gpu-architecture={architecture}"))
    except nvrtc.NVRTCError:
        pytest.fail(nvrtc.getProgramLog(program))
    assert len(nvrtc.getCUBIN(program)) > 1000


def test_there_are_kernels() -> None:
    assert sorted(file.stem for file in FILES) == [
        "choices",
        "drift",
        "evaluate",
        "extremes",
        "induced",
        "levels",
        "numbers",
        "part",
        "positions",
        "products",
        "proof",
        "regions",
        "regions_in_blocks",
        "restrict",
        "segmented",
        "select_rows",
        "slices",
        "steps",
        "sweeps",
        "vectors",
        "weigh",
    ]
