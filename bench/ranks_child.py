"""What one rank does for ``bench/mpi.py`` and ``bench/scale.py``: explore, answer a question or sweep, and measure.

Started by mpirun; the first rank prints one line of JSON with what all ranks measured.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

import galton
from galton.backend.cpu.matrix import matrix_of
from galton.backend.petsc import krylov
from galton.backend.petsc.model import RankModel
from galton.backend.petsc.world import World, across_ranks
from galton.backend.protocol import Span, Stop
from galton.explore import build


def memory() -> int:
    """The most bytes this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def sweeps(model: RankModel, count: int, everybody: World) -> dict[str, float]:
    """Products of the matrix with a vector, and what part of the time ranks wait for numbers of others."""
    from galton import _core

    system = _core.System(matrix_of(model), None, np.zeros(model.n_choices), 1 if model.has_choices else 0)
    x, room, span = model.halo.extended(np.ones(model.n_states)), np.empty(model.halo.size), Span(0, model.n_states, 1)
    system.jacobi(x, room, None, span, Stop(1, 0.0))
    everybody.meet()
    begin, waiting = time.perf_counter(), 0.0
    moved = model.halo.bytes_moved
    for _ in range(count):
        system.jacobi(x, room, None, span, Stop(1, 0.0))
        before = time.perf_counter()
        model.halo.refresh(x)
        waiting += time.perf_counter() - before
    seconds = time.perf_counter() - begin
    return {
        "sweep_s": seconds / count,
        "exchange_s": waiting / count,
        "sweep_bytes": (model.halo.bytes_moved - moved) / count,
    }


def main() -> None:
    """Explore, then ask or sweep."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--const", default="")
    parser.add_argument("--prop", default="")
    parser.add_argument("--sweeps", type=int, default=0)
    given = parser.parse_args()
    constants: dict[str, Any] = dict(pair.split("=", 1) for pair in given.const.split(",") if pair)
    with across_ranks() as everybody:
        krylov.available()  # loads PETSc
        idle = memory()
        everybody.meet()
        begin = time.perf_counter()
        found: dict[str, Any] = {"idle_bytes": idle}
        if given.prop:
            result = galton.check(
                given.model,
                given.prop,
                constants=constants,
                device="mpi",
                symmetry=False,
                settings=galton.Settings(threads=1),
            )
            found |= {"lower": result.lower, "upper": result.upper}
            found["seconds"] = time.perf_counter() - begin
        if given.sweeps:
            model = build(galton.load(given.model, **constants), device="mpi", threads=1)
            assert isinstance(model, RankModel)
            found["explore_s"] = time.perf_counter() - begin
            found |= dict(model.info) | {f"all_{name}": count for name, count in model.whole.items()}
            found |= {"states": model.n_states, "transitions": model.n_transitions, "ghosts": len(model.halo.ghosts)}
            found["model_bytes"] = model.memory
            found |= sweeps(model, given.sweeps, everybody)
        found["bytes"] = memory()
        found["processor_s"] = time.process_time()
        told = everybody.gathered(found)
        if not everybody.rank:
            print(json.dumps(told))


if __name__ == "__main__":
    main()
