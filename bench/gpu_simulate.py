"""Steps a second of random paths on a CUDA device, one path a thread.

    python bench/gpu_simulate.py [--only die,consensus] [--seconds 2] [--json FILE]

Each model is asked a question that ends paths, so that they begin again as they do in an estimate; what is counted are
the steps that paths take. The kernel is compiled before the clock runs. The first paths are followed on the CPU as
well, and have to be the same: verdicts and steps bit for bit in discrete time.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import galton
from galton.device.cuda.runtime import import_cupy
from galton.lang.expression_parser import parse_expression
from galton.lang.expressions import Expression, Label
from galton.lang.source import Source
from galton.model.random_paths import Batch, PathQuestion
from galton.simulation.program_paths import ProgramPaths

MODELS = Path(__file__).resolve().parent.parent / "models"
COMPARED = 10_000  # paths
UNTIL = PathQuestion("until", most_steps=1_000_000)
INSTANCES: list[tuple[str, dict[str, Any], str, PathQuestion]] = [
    ("die", {}, "d=6 | node=7", UNTIL),
    ("consensus", {"N": 2, "K": 2}, '"finished"', UNTIL),
    ("consensus", {"N": 4, "K": 4}, '"finished"', UNTIL),
    ("consensus", {"N": 8, "K": 8}, '"finished"', UNTIL),
    ("brp", {"N": 64, "MAX": 5}, "false", replace(UNTIL, high=100.0)),
    ("crowds", {"TotalRuns": 6, "CrowdSize": 20}, "false", replace(UNTIL, high=100.0)),
    ("leader_sync", {"N": 4, "K": 8}, '"elected"', UNTIL),
    ("csma", {"N": 2, "K": 4}, "false", replace(UNTIL, high=100.0)),
    ("tandem", {"c": 255}, "false", PathQuestion("until", timed=True, high=1.0)),
    (
        "sir",
        {"S0": 95, "I0": 5, "R0": 0, "ki": 0.002, "kr": 0.05},
        "false",
        PathQuestion("until", timed=True, high=20.0),
    ),
]


def condition(text: str) -> Expression:
    """A condition on states, or a label of the model in quotes."""
    return Label(text.strip('"')) if text.startswith('"') else parse_expression(Source("goal", text))


def measure(name: str, constants: dict[str, Any], goal: str, question: PathQuestion, seconds: float) -> dict[str, Any]:
    """Compile, compare with the CPU, and count the steps of as many paths as fit the time."""
    cupy = import_cupy()
    program = galton.load(MODELS / f"{name}.prism", **constants)
    paths = ProgramPaths(program, goal=condition(goal))
    begun = time.perf_counter()
    device = paths.on_device(question)
    device.count(seed=1, first=0, count=1024)
    compiled = time.perf_counter() - begun
    mine = device.sample(question, Batch(seed=1, count=COMPARED))
    host = paths.sample(question, Batch(seed=1, count=COMPARED, threads=8))
    same = float(np.mean((mine.verdicts == host.verdicts) & (mine.steps == host.steps)))
    count, took, steps = 1 << 20, 0.0, 0
    while True:
        cupy.cuda.get_current_stream().synchronize()
        begun = time.perf_counter()
        found = device.count(seed=1, first=0, count=count)
        took, steps = time.perf_counter() - begun, found.steps
        if took >= seconds / 2 or count >= 1 << 40:
            break
        count = int(count * min(16, max(2, seconds / max(took, 1e-4))))
    return {
        "model": name,
        "constants": constants,
        "paths": count,
        "steps": steps,
        "seconds": took,
        "steps_per_second": steps / took,
        "compile_s": compiled,
        "same_as_cpu": same,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="models, separated by commas")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else None
    rows = []
    heads = f"{'steps/s':>10} {'paths':>16} {'seconds':>8} {'compile':>8} {'as on the CPU':>14}"
    print(f"{'model':14} {'constants':32} {heads}")
    for name, constants, goal, question in INSTANCES:
        if wanted is not None and name not in wanted:
            continue
        row = measure(name, constants, goal, question, options.seconds)
        given = ",".join(f"{n}={v}" for n, v in constants.items())
        print(
            f"{name:14} {given:32} {row['steps_per_second']:10.3g} {row['paths']:16,} {row['seconds']:8.3f} "
            f"{row['compile_s']:8.2f} {row['same_as_cpu']:13.2%}",
            flush=True,
        )
        rows.append(row)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
