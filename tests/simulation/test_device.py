"""Random paths on a device are those of the CPU; on one that the CPU plays, and on a real one (``pytest -m gpu``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from played import played_device
from test_paths import CORNERS

import galton
from galton.backend.cuda.explorer.kernels import explorer_texts
from galton.backend.cuda.simulator.paths import simulator_source
from galton.device.cuda.code import compiled
from galton.lang.expression_parser import parse_expression
from galton.lang.source import Source
from galton.model.random_paths import Batch, PathQuestion
from galton.simulation.program_paths import ProgramPaths

MODELS = Path(__file__).parents[2] / "models"
LTL = "P=? [ (F d=6) | (X X node=3) ]"
QUESTIONS: list[tuple[str, dict[str, Any], str | None, PathQuestion]] = [
    ("die", {}, "d=6", PathQuestion("until")),
    ("die", {}, "node=7", PathQuestion("reached")),
    ("herman", {"N": 5}, "x1=x2", PathQuestion("until", low=2, high=20)),
    ("leader_sync", {"N": 3, "K": 2}, None, PathQuestion("cumulative", high=12)),
    ("consensus", {"N": 2, "K": 2}, "walk>8", PathQuestion("until", high=60)),
    ("csma", {"N": 2, "K": 2}, None, PathQuestion("until", most_steps=70)),
    ("tandem", {"c": 5}, "first=5", PathQuestion("until", timed=True, low=0.05, high=0.3)),
    ("sir", {"S0": 20, "I0": 2, "R0": 0, "ki": 0.01, "kr": 0.1}, None, PathQuestion("instant", timed=True, high=9.0)),
]


@pytest.fixture(params=["played", pytest.param("real", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "played":
        with played_device():
            yield request.param
    else:
        yield request.param


def paths_of(program: Any, goal: str | None, question: PathQuestion) -> ProgramPaths:
    condition = None if goal is None else parse_expression(Source("goal", goal))
    rewards = () if question.kind == "until" else program.rewards[:1]
    return ProgramPaths(program, goal=condition, rewards=rewards, find_loops=4)


def compare(paths: ProgramPaths, question: PathQuestion, count: int, *, timed: bool) -> None:
    """In discrete time bit for bit; a logarithm may differ in its last bit, and seldom a path by that."""
    here = paths.sample(question, Batch(seed=6, first=3, count=count))
    on_device = paths.on_device(question)
    there = on_device.sample(question, Batch(seed=6, first=3, count=count))
    same = (here.verdicts == there.verdicts) & (here.steps == there.steps)
    assert same.mean() > 0.99 if timed else same.all()
    values = here.values[same], there.values[same]
    assert np.allclose(*values, rtol=1e-9) if timed else np.array_equal(*values)
    counts = on_device.count(seed=6, first=3, count=count)
    assert (counts.trues, counts.falses, counts.cut) == tuple((there.verdicts == v).sum() for v in (1, 0, 2))
    assert counts.steps == there.steps.sum() > 0


@pytest.mark.parametrize(("name", "constants", "goal", "question"), QUESTIONS, ids=lambda value: str(value)[:30])
def test_paths_are_those_of_the_cpu(
    device: str, name: str, constants: dict, goal: str | None, question: PathQuestion
) -> None:
    program = galton.load(MODELS / f"{name}.prism", **constants)
    compare(paths_of(program, goal, question), question, 100 if device == "played" else 100_000, timed=question.timed)


@pytest.mark.parametrize("kind", CORNERS)
def test_weights_of_all_kinds(device: str, kind: str) -> None:
    question = PathQuestion("until", high=25)
    paths = paths_of(galton.parse(CORNERS[kind]), "x=3 & y=2", question)
    compare(paths, question, 200 if device == "played" else 100_000, timed=kind == "ctmc")


def test_estimates_on_a_device(device: str) -> None:
    program = galton.load(MODELS / "die.prism")
    for prop in ("P=? [ F d=6 ]", LTL, 'R{"tosses"}=? [ F "done" ]'):
        there = galton.estimate(program, prop, paths=300, confidence=0.9999, device="cuda")
        assert there.device == "cuda"
        assert there.warnings == ()
        exact = float(galton.check(program, prop, device="cpu"))
        assert there.lower <= exact <= there.upper
    large = galton.parse("dtmc module m x : int init 0; [] true -> 0.5 : (x'=x+1) + 0.5 : (x'=x-1); endmodule")
    options: dict[str, Any] = {"paths": 200, "path_length": 300}
    here, there = (galton.estimate(large, "P=? [ F x=3 ]", **options, device=place) for place in ("cpu", "cuda"))
    assert (here.value, here.lower, here.cut, here.steps) == (there.value, there.lower, there.cut, there.steps)


def test_what_a_device_cannot_do_the_cpu_does_and_says_so(device: str) -> None:
    odd = "dtmc module m x : [0..9]; [] x<9 -> log(x+2, 30) : (x'=x+1) + 1-log(x+2, 30) : (x'=9); endmodule"
    wrong = "dtmc module m x : [0..3]; [] true -> 0.5 : (x'=x+1) + 0.5 : true; endmodule"
    found = galton.estimate(galton.parse(odd), "P=? [ F<=9 x=9 ]", paths=100, device="cuda")
    assert found.value == 1.0
    with pytest.raises(galton.GaltonError, match="x"):
        galton.estimate(galton.parse(wrong), "P=? [ F<=90 x=9 ]", paths=100, device="cuda")
    with pytest.raises(galton.GaltonError, match="one device"):
        galton.estimate(galton.parse(wrong), "P=? [ F<=9 x=9 ]", device="cuda:0,1")


def test_the_kernel_compiles_for_devices() -> None:
    cupy = pytest.importorskip("cupy", reason="CuPy, which brings the bindings of NVRTC, is not installed")
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as error:
        pytest.skip(f"NVRTC does not load: {error}")
    for number, (name, constants, goal, question) in enumerate(QUESTIONS):
        program = galton.load(MODELS / f"{name}.prism", **constants)
        source = simulator_source(paths_of(program, goal, question).lowered, question, find_loops=4)
        assert all(compiled(text) for text in explorer_texts(source, ("sm_80", "sm_90")[number % 2]))
