"""An experiment, a synthesis, estimates and traces of an executor, to compare with those of one core, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import galton

MODELS = Path(__file__).parents[2] / "models"
HERMAN = MODELS / "herman.prism"
STEPS = ['filter(max, R{"steps"}=? [ F "stable" ])', 'const int T; P=? [ F<=T "stable" ]']
SIZES: dict[str, Any] = {"N": [3, 5, 7, 9], "T": [1, 2]}
SIR: dict[str, Any] = {"S0": 9, "I0": 1, "R0": 0, "kr": 0.1, "ki": (0.01, 0.1), "volume": 0.02}

Told = Callable[[int, int], None]


def experiment(executor: Executor | None, told: Told | None = None) -> list[object]:
    """The rows of an experiment; ``told`` hears of each model."""
    found = galton.experiment(HERMAN, STEPS, executor=executor, progress=told or False, **SIZES)
    return [(row.constants, [(r.value, r.lower, r.upper) for r in row.results]) for row in found]  # type: ignore[union-attr]


def synthesis(executor: Executor | None, watch: Callable[[Any], None] | None = None) -> list[object]:
    """The boxes of a synthesis, and what they took; ``watch`` hears of each round."""
    asked = {"executor": executor, "watch": watch, **SIR}
    found = galton.synthesize(MODELS / "sir.prism", "P>=0.5 [ F<=20 ill=0 ]", **asked)
    assert found.complete
    boxes = [(box.low, box.high, box.lower, box.upper, box.verdict) for box in found.boxes]
    return [boxes, found.statistics["boxes"], found.statistics["steps"]]


ESTIMATES = [
    ("die.prism", {}, "P=? [ F d=6 ]"),
    ("die.prism", {}, "P>=0.16 [ F d=6 ]"),  # a sequential test
    ("die.prism", {}, 'R{"tosses"}=? [ F "done" ]'),
    ("die.prism", {}, "P=? [ (F d=6) | (F G d=2) ]"),
    ("tandem.prism", {"c": 255}, 'R{"customers"}=? [ I=0.2 ]'),  # through the program
]


def estimates(executor: Executor | None) -> list[object]:
    """Intervals and tests, through programs and models."""
    found = []
    for model, constants, prop in ESTIMATES:
        one = galton.estimate(galton.load(MODELS / model, **constants), prop, executor=executor, threads=1)  # type: ignore[arg-type]
        found.append((one.value, one.lower, one.upper, one.paths, one.steps, one.cut, one.method, one.warnings))
    return found


def traces(executor: Executor | None) -> list[object]:
    """Paths through a program, a model, and in continuous time."""
    die = galton.load(MODELS / "die.prism")
    tandem = galton.load(MODELS / "tandem.prism", c=15)
    asked: list[tuple[Any, dict[str, Any]]] = [(die, {}), (die.build(device="cpu"), {}), (tandem, {"time": 0.5})]
    found = [galton.simulate(one, paths=150, seed=3, executor=executor, **how) for one, how in asked]
    return [{name: column.tolist() for name, column in each.table().items()} for each in found]
