"""Steps a second of random paths, beside Storm's simulators, on one core and in one run.

    python bench/simulate.py [--only die,brp] [--steps 100] [--seconds 1] [--json FILE]

Galton follows paths through the program itself and through the model built from it, ``--threads 1``. Storm has two
simulators as well, for programs and for sparse models, which stormpy moves a step at a time: by
``stormpy.simulator.create_simulator``, as its documentation shows, and, beside it, by calling the engine under it in
the tightest loop that Python has. There are two ratios, one to each. All paths take so many steps at most and begin
again, and choices of MDPs are taken at random. Times are those of the processor: a busy machine does little harm.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import galton
from galton.model.random_paths import Batch, ModelPaths, PathQuestion
from galton.simulation.program_paths import ProgramPaths

MODELS = Path(__file__).resolve().parent.parent / "models"
INSTANCES: list[tuple[str, dict[str, Any]]] = [
    ("die", {}),
    ("brp", {"N": 64, "MAX": 5}),
    ("crowds", {"TotalRuns": 4, "CrowdSize": 10}),
    ("nand", {"N": 20, "K": 2}),
    ("leader_sync", {"N": 4, "K": 8}),
    ("consensus", {"N": 4, "K": 4}),
    ("csma", {"N": 2, "K": 4}),
    ("wlan", {"MAX_BACKOFF": 2, "COL": 0}),
]
CONTINUOUS: list[tuple[str, dict[str, Any]]] = [  # Storm's simulators know no time
    ("tandem", {"c": 63}),
    ("kanban", {"t": 2}),
    ("sir", {"S0": 95, "I0": 5, "R0": 0, "ki": 0.002, "kr": 0.05}),
]


def rate(follow: Callable[[int], int], seconds: float) -> float:
    """Steps a second: ``follow`` gets a number of paths and returns their steps; the best of three."""
    paths, best = 1, 0.0
    while True:
        begun = time.process_time()
        steps = follow(paths)
        took = time.process_time() - begun
        if took >= seconds / 3:
            best = max(best, steps / took)
            break
        paths = max(2 * paths, int(paths * seconds / 3 / max(took, 1e-6)) if took > 1e-3 else 2 * paths)
    for _ in range(2):
        begun = time.process_time()
        steps = follow(paths)
        best = max(best, steps / (time.process_time() - begun))
    return best


def galton_program(program: galton.Program, longest: int) -> Callable[[int], int]:
    paths = ProgramPaths(program)
    question = PathQuestion("until", high=longest)
    return lambda count: int(paths.sample(question, Batch(seed=1, count=count)).steps.sum())


def galton_model(program: galton.Program, longest: int) -> Callable[[int], int]:
    paths = ModelPaths(program.build())
    question = PathQuestion("until", high=longest)
    return lambda count: int(paths.sample(question, Batch(seed=1, count=count)).steps.sum())


def storm(name: str, constants: dict[str, Any], longest: int) -> dict[str, Callable[[int], int]]:
    """Storm's two simulators, each as documented and in the tightest loop."""
    import stormpy
    from stormpy import simulator

    program = stormpy.parse_prism_program(str(MODELS / f"{name}.prism"), prism_compatibility=True)
    program, _ = stormpy.instantiate_constants(program, ",".join(f"{n}={v}" for n, v in constants.items()))
    chooses = not program.is_deterministic_model
    walker = simulator.create_simulator(program, seed=1)
    walker.set_observation_mode(simulator.SimulatorObservationMode.PROGRAM_LEVEL)
    engine, walked = walker._engine, stormpy.build_model(program)

    def action() -> int:
        return random.randrange(len(engine.get_choices())) if chooses else 0

    def choosing() -> object:
        return engine.step(action())

    found = {
        "storm program": _documented(walker, lambda: walker.step(action()), longest),
        "storm program engine": _tight(engine, choosing if chooses else partial(engine.step, 0), longest),
    }
    sparse = simulator.create_simulator(walked, seed=1)
    found["storm model"] = _documented(sparse, sparse.random_step, longest)
    found["storm model engine"] = _tight(sparse._engine, sparse._engine.random_step, longest)
    return found


def _documented(walker: Any, step: Callable[[], object], longest: int) -> Callable[[int], int]:
    def follow(paths: int) -> int:
        steps = 0
        for _ in range(paths):
            walker.restart()
            for _ in range(longest):
                if walker.is_done():
                    break
                step()
                steps += 1
        return steps

    return follow


def _tight(engine: Any, step: Callable[[], object], longest: int) -> Callable[[int], int]:
    def follow(paths: int) -> int:
        for _ in range(paths):
            engine.reset_to_initial()
            for _ in range(longest):
                step()
        return paths * longest

    return follow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="models, separated by commas")
    parser.add_argument("--steps", type=int, default=100, help="the longest path")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each simulator")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else None
    rows = []
    print("million steps a second of processor time, on one core; x is Galton's ratio to what stands before it")
    print(f"{'model':14} {'through the':12} {'galton':>8} {'stormpy':>10} {'x':>8} {'its engine':>11} {'x':>8}")
    for name, constants in [*INSTANCES, *CONTINUOUS]:
        if wanted is not None and name not in wanted:
            continue
        program = galton.load(MODELS / f"{name}.prism", **constants)
        ours = {"program": galton_program, "model": galton_model}
        peers: dict[str, float] = {}
        if (name, constants) in INSTANCES:
            walkers = storm(name, constants, options.steps)
            peers = {kind: rate(follow, options.seconds) / 1e6 for kind, follow in walkers.items()}
        for kind, make in ours.items():
            mine = rate(make(program, options.steps), options.seconds) / 1e6
            documented, tight = peers.get(f"storm {kind}"), peers.get(f"storm {kind} engine")
            row: dict[str, Any] = {"model": name, "constants": constants, "kind": kind, "galton": mine}
            text = f"{name:14} {kind:12} {mine:8.2f}"
            if documented is not None and tight is not None:
                row |= {
                    "stormpy": documented,
                    "engine": tight,
                    "ratio": mine / documented,
                    "engine ratio": mine / tight,
                }
                text += f" {documented:10.4f} {mine / documented:8.1f} {tight:11.4f} {mine / tight:8.1f}"
            print(text, flush=True)
            rows.append(row)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
