"""The generated explorers compile for devices, without one: every model of the gallery, for several architectures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import galton
from galton.backend.cuda.explorer.kernels import explorer_texts
from galton.backend.cuda.explorer.source import LONGEST_ROW, source
from galton.backend.cuda.matrix_free.states import matrix_free_source
from galton.device.cuda.code import compiled
from galton.lower.lowering import Lowered, Lowering, lower
from galton.lower.symmetry import Symmetries

MODELS = Path(__file__).parents[2] / "models"
GALLERY = json.loads((MODELS / "gallery.json").read_text())["models"]
ARCHITECTURES = ("sm_80", "sm_90")


def lowered(text: str) -> Lowered:
    return lower(galton.parse(text))


@pytest.fixture(scope="module")
def nvrtc() -> None:
    """Skips where there is no compiler."""
    cupy = pytest.importorskip("cupy", reason="CuPy, which brings the bindings of NVRTC, is not installed")
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as error:
        pytest.skip(f"NVRTC does not load: {error}")


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("entry", GALLERY, ids=lambda entry: entry["file"])
def test_gallery_compiles(entry: dict) -> None:
    program = galton.load(MODELS / entry["file"], **entry["instances"][0]["constants"])
    # One architecture each keeps the test short; all models together cover both.
    architecture = ARCHITECTURES[GALLERY.index(entry) % len(ARCHITECTURES)]
    assert all(compiled(text) for text in explorer_texts(source(lower(program)), architecture))


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_wide_states_and_odd_expressions_compile(architecture: str) -> None:
    text = """
        mdp
        module m
          y : int; z : int; w : [0..1000000]; b : bool;
          [a] mod(x, y) = 1 | !b -> pow(0.5, (x+5)/10) : (b'=!b) + 1 - pow(0.5, (x+5)/10) : (y'=max(y, z) - 1);
          [] floor(x/2) < 3 => log(x+10, 2) > 1 -> (z'=pow(z, 2)) & (w'=round(w/3)) & (b'=x=2 <=> b);
        endmodule
        module n x : [-5..5]; [a] true -> 0.5 : (x'=0) + 0.5 : (x'=1); [a] x>0 -> (x'=-5); endmodule
        init y=0 & z=1 & w=2 & !b & x=0 endinit
        label "l" = ceil(y/z) > 2;
        rewards y/z > 1 : x/y; [a] b : pow(2, x+5); endrewards
    """
    assert all(compiled(text) for text in explorer_texts(source(lowered(text)), architecture))


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize(
    ("name", "constants", "structure"),
    [("consensus", {"N": 10, "K": 2}, 0), ("crowds", {"TotalRuns": 3, "CrowdSize": 5}, None)],
)
def test_sweeps_without_a_matrix_compile(name: str, constants: dict[str, int], structure: int | None) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    found = Lowering(program).lowered(structures=() if structure is None else (structure,))
    found = replace(found, labels={"goal": next(iter(found.labels.values()))})
    architecture = ARCHITECTURES[structure is None]
    assert all(compiled(text) for text in explorer_texts(matrix_free_source(found), architecture))


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize(("name", "constants"), [("consensus", {"N": 10, "K": 2}), ("herman", {"N": 9})])
def test_symmetries_compile(name: str, constants: dict[str, int]) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    found = Symmetries(program).keeping((), ()).lowered()
    assert found.orbits is not None
    assert all(compiled(text) for text in explorer_texts(source(found), "sm_90"))


def product(modules: int, commands: int) -> str:
    """Modules that move together, each with a choice of commands."""
    own = [" ".join(f"[go] x{k}!={c} -> (x{k}'={c});" for c in range(commands)) for k in range(modules)]
    parts = (f"module m{k} x{k} : [0..{commands}]; {text} endmodule" for k, text in enumerate(own))
    return f"mdp {' '.join(parts)}"


def test_products_are_not_multiplied_out() -> None:
    """Twelve modules with twenty commands each have 20^12 products, and a text as long as 240 commands need."""
    small, large = (len(source(lowered(product(n, 20))).text) for n in (1, 12))
    assert large - small < 11 * 20 * 1_000


def test_text_is_the_same_each_time() -> None:
    text = product(3, 4)
    assert source(lowered(text)) == source(lowered(text))


def test_rows_have_a_bound() -> None:
    coin = "mdp module m x : [0..1]; [] true -> 0.5 : (x'=0) + 0.5 : (x'=1); endmodule"
    assert source(lowered(coin)).shape.longest_row == 2
    herman = galton.load(MODELS / "herman.prism", N=9)
    assert source(lower(herman)).shape.longest_row > LONGEST_ROW


def test_other_values_of_constants_leave_the_same_text() -> None:
    """So that an experiment over probabilities and rates compiles once."""
    text = """
        ctmc
        const double up; const double down = 1; const int start;
        module m
          x : [0..9] init 0;
          [] x<9 -> up*(x+1) : (x'=x+1); [] x>0 -> down : (x'=x-1); [] x=9 -> up : (x'=start);
        endmodule
        rewards x>3 : up*x; endrewards
    """
    one, other = (source(lower(galton.parse(text, up=up, start=start))) for up, start in ((0.25, 0), (3.5, 2)))
    assert one.parts == other.parts
    assert one.filled != other.filled
