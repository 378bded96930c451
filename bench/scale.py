"""What more ranks would do: a model of time and memory per rank, fitted to small runs, and its forecast.

    python bench/scale.py                        # 1, 2 and 4 ranks, one thread each
    python bench/scale.py --ranks 1 2 4 8 16 --large    # where there are as many cores
    python bench/scale.py --states 1e11 --on 1024

Needs mpi4py and mpirun, and no PETSc: ranks explore, and sweep with Galton's own kernels. For each model and number of
ranks it measures the seconds to explore and to sweep, the bytes that are sent, and the memory of the largest rank.
Then, by least squares with coefficients that are not negative:

    explore  = a·states/rank + b·transitions/rank + c·bytes sent/rank + d·log2(ranks)
    compute  = e·transitions/rank + f·states/rank                 of one sweep
    exchange = g·bytes/rank + h·log2(ranks)                       of one sweep, bytes being 8 for each ghost's number
    memory   = i·states/rank + j·transitions/rank + k             without what Python takes itself

A ghost is taken for 40 bytes: its value, its number, and a place in three vectors. What is not known of a larger model
is taken from the largest run: transitions and ghosts for each state. Ghosts are a part of the states of a rank that
grows with the number of ranks; the forecast takes the largest seen, and the worst that there can be, where all
successors are others' states. Oversubscribed runs (more ranks than cores) count times that are too long; they are
marked, and left out of the fit of times.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

ROOT = Path(__file__).parents[1]
MODELS = [
    ("models/cluster.prism", ["N=64", "N=128", "N=180"]),
    ("models/tandem.prism", ["c=255", "c=511"]),
    ("models/consensus.prism", ["N=4,K=4", "N=5,K=2", "N=5,K=8"]),
]
LARGE = {"models/cluster.prism": "N=500", "models/tandem.prism": "c=2047", "models/consensus.prism": "N=6,K=4"}
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
Run = dict[str, float]
GHOST = 40  # bytes


def measured(ranks: int, model: str, constants: str, sweeps: int) -> Run:
    """One job, by its slowest and largest ranks."""
    child = [str(ROOT / "bench" / "ranks_child.py"), str(ROOT / model), "--const", constants, "--sweeps", str(sweeps)]
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), sys.executable, *child]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ALLOWED})
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    told: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    found = {name: float(max(rank.get(name, 0) for rank in told)) for name in told[0]}
    found["compute_s"] = max(rank["sweep_s"] - rank["exchange_s"] for rank in told)
    return found | {"ranks": float(ranks), "memory": max(rank["bytes"] - rank["idle_bytes"] for rank in told)}


def fitted(rows: list[list[float]], seconds: list[float]) -> np.ndarray:
    """Coefficients that are not negative; each run counts as much as any other, whatever its size."""
    matrix, target = np.array(rows), np.array(seconds)
    weight = 1 / np.maximum(target, 1e-12)
    scale = np.maximum((matrix * weight[:, None]).max(axis=0), 1e-300)
    return nnls(matrix * weight[:, None] / scale, target * weight)[0] / scale


def explore_terms(run: Run) -> list[float]:
    return [run["states"], run["transitions"], run["bytes_sent"], math.log2(run["ranks"])]


def compute_terms(run: Run) -> list[float]:
    return [run["transitions"], run["states"]]


def exchange_terms(run: Run) -> list[float]:
    return [8 * run["ghosts"], math.log2(run["ranks"])]


def memory_terms(run: Run) -> list[float]:
    return [run["states"], run["transitions"], 1.0]


def main() -> None:
    """Measure, fit, forecast."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--states", type=float, default=1e11)
    parser.add_argument("--on", type=int, default=1024)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="the smallest instance of each model")
    parser.add_argument("--large", action="store_true", help="one more instance of each, with millions of states")
    parser.add_argument("--only", default="", help="a part of the model's name")
    parser.add_argument("--json", type=Path, help="keep what was measured")
    given = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    runs: list[Run] = []
    largest: dict[str, Run] = {}
    print(
        "| model | ranks | states | transitions | ghosts a rank | explore s | sweep ms | of it exchange | MB a rank |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for model, instances in MODELS:
        if given.only not in model:
            continue
        for constants in [*instances[: 1 if given.quick else None], *([LARGE[model]] if given.large else [])]:
            for ranks in given.ranks:
                run = measured(ranks, model, constants, given.sweeps)
                runs.append(run)
                largest[model] = run
                mark = " (more than cores)" if ranks > cores else ""
                print(
                    f"| {Path(model).stem} {constants} | {ranks}{mark} | {run['all_states']:,.0f} | "
                    f"{run['all_transitions']:,.0f} | {run['ghosts']:,.0f} | {run['explore_s']:.2f} | "
                    f"{1e3 * run['sweep_s']:.2f} | {1e3 * run['exchange_s']:.2f} | {run['memory'] / 2**20:.0f} |",
                    flush=True,
                )
    if given.json:
        given.json.write_text(json.dumps(runs))
    timed = [run for run in runs if run["ranks"] <= cores] or runs
    explore = fitted([explore_terms(run) for run in timed], [run["explore_s"] for run in timed])
    compute = fitted([compute_terms(run) for run in timed], [run["compute_s"] for run in timed])
    shared = [run for run in timed if run["ranks"] > 1] or [run for run in runs if run["ranks"] > 1] or runs
    exchange = fitted([exchange_terms(run) for run in shared], [run["exchange_s"] for run in shared])
    memory = fitted([memory_terms(run) for run in runs], [run["memory"] for run in runs])
    a, b, c, d = explore * 1e9
    e, f = compute * 1e9
    g, h = exchange * 1e9
    print(f"\nexplore: {a:.1f} ns a state, {b:.1f} a transition, {c:.2f} a byte, {d / 1e6:.2f} ms for twice the ranks")
    print(f"sweep: {e:.2f} ns a transition, {f:.2f} a state, {g:.3f} a byte, {h / 1e3:.1f} us for twice the ranks")
    print(f"memory: {memory[0]:.0f} bytes a state, {memory[1]:.1f} a transition, {memory[2] / 2**20:.0f} MB besides")
    for name, fit, terms, value in (
        ("explore", explore, explore_terms, "explore_s"),
        ("sweep", compute, compute_terms, "compute_s"),
        ("memory", memory, memory_terms, "memory"),
    ):
        off = [abs(float(np.dot(fit, terms(run))) / run[value] - 1) for run in (runs if name == "memory" else timed)]
        middle, most = 100 * float(np.median(off)), 100 * max(off)
        print(f"the model of {name} is off by {middle:.0f} % in the median, {most:.0f} % at most")
    print(f"\n{given.states:.0e} states on {given.on:,} ranks, were they like those of the largest runs:\n")
    print("| like | ghosts | explore | a sweep | of it exchange | GB a rank |")
    print("|---|---|---|---|---|---|")
    for model, run in largest.items():
        states = given.states / given.on
        branching = run["transitions"] / run["states"]
        seen, worst = run["ghosts"] / run["states"], branching
        for what, ghosts in (("as seen", seen), ("the worst", worst)):
            sent = 8 * states * min(branching, run["bytes_sent"] / 8 / run["states"] * 2 or branching)
            there: Run = {
                "ranks": float(given.on),
                "states": states,
                "transitions": branching * states,
                "ghosts": ghosts * states,
                "bytes_sent": sent,
            }
            waiting = float(np.dot(exchange, exchange_terms(there)))
            sweep = float(np.dot(compute, compute_terms(there))) + waiting
            took, bytes_ = (
                float(np.dot(explore, explore_terms(there))),
                float(np.dot(memory, memory_terms(there))) + GHOST * there["ghosts"],
            )
            told = f"{took:,.0f} s | {sweep:.2f} s | {waiting:.2f} s | {bytes_ / 2**30:.1f}"
            print(f"| {Path(model).stem} | {what} | {told} |")


if __name__ == "__main__":
    main()
