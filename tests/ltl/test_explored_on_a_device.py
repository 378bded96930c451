"""Products with an automaton by the CUDA explorer: played by the CPU, and compiled for devices."""

from __future__ import annotations

import shutil
from random import Random

import numpy as np
import pytest
from ltl_judges import meet, on_the_model, reading
from ltl_pairs import KINDS, Kind, random_pair
from played import played_device

import galton
from galton.backend.cuda.explorer import exploration as cuda
from galton.backend.cuda.explorer.kernels import explorer_texts
from galton.backend.cuda.explorer.source import LARGEST_AUTOMATON
from galton.backend.cuda.explorer.source import source as print_source
from galton.backend.cuda.explorer.tables import NotPrintable
from galton.backend.limits import Limits
from galton.explore import build
from galton.lang.program import Program
from galton.lower.lowering import lower
from galton.lower.reader import Reader
from galton.model.sparse import Model

compiled = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
# All rates of the first state are 0, and it has more of them than a thread keeps.
STUCK = "ctmc module m x:[0..40]; {} endmodule".format(
    " ".join(f"[] x={k // 40} -> {k // 40} : (x'={1 + k % 40});" for k in range(80))
)


def explored(program: Program, reader: Reader) -> Model:
    lowered = lower(program, reader=reader)
    source = print_source(lowered)
    with played_device():
        return cuda.Exploration(lowered, source, cuda.CudaKernels(source), Limits()).run().to_host()


@compiled
@pytest.mark.parametrize("kind", KINDS)
def test_the_device_explores_the_same_product(kind: Kind) -> None:
    for seed in range(6):
        pair = random_pair(Random(seed), kind, bounds=True)
        program = galton.parse(pair.program)
        reader = reading(program, pair.questions[0]).reader
        assert list(explored(program, reader).differences(build(program, reader=reader))) == [], (seed, pair)


@compiled
def test_a_state_whose_rates_are_all_zero_is_read_again() -> None:
    program = galton.parse(STUCK)
    reader = reading(program, "P=? [ (X X x=0) & (X X X X x=0) ]").reader
    product = build(program, reader=reader)
    assert product.n_states > 2
    assert list(explored(program, reader).differences(product)) == []


@compiled
@pytest.mark.parametrize("kind", KINDS)
def test_the_device_gives_the_same_answers(kind: Kind) -> None:
    for seed in range(10, 14):
        pair = random_pair(Random(seed), kind)
        program = galton.parse(pair.program)
        for prop in pair.questions:
            with played_device():
                found = galton.check(program, prop, device="cuda")
            assert found.device == "cuda", found.warnings
            assert meet(found, on_the_model(program, prop)), (seed, pair)


def test_a_product_compiles_for_devices() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy, which brings the bindings of NVRTC, is not installed")
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as error:
        pytest.skip(f"NVRTC does not load: {error}")
    for seed, kind in enumerate(KINDS):
        pair = random_pair(Random(seed), kind)
        program = galton.parse(pair.program)
        source = print_source(lower(program, reader=reading(program, pair.questions[0]).reader))
        assert all(compiled(text) for text in explorer_texts(source, "sm_90"))


def test_an_automaton_too_large_for_a_text_is_left_to_the_cpu() -> None:
    program = galton.parse("dtmc module m x:[0..1]; [] true -> (x'=1-x); endmodule")
    reader = reading(program, "P=? [ (G F x=1) & (X x=1) ]").reader
    rows = 1 + LARGEST_AUTOMATON // reader.successor.shape[1]
    large = Reader(
        reader.propositions, np.zeros((rows, reader.successor.shape[1]), dtype=np.int32), 0, np.zeros(rows, bool)
    )
    with pytest.raises(NotPrintable, match="an automaton beside it"):
        print_source(lower(program, reader=large))
