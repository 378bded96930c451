"""How fast Galton builds models, beside Storm, in the same run.

    python bench/explore.py [--only tandem,nand] [--repeat 3] [--threads 1,2] [--json FILE]

Every build runs in a process of its own; the time is that of building alone (the text is parsed before), with all
labels and all reward structures, and no property that would cut the model short. The tools take turns, so that both
see the same machine; of the repetitions the fastest counts. Memory is the peak of the whole process.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models"
INSTANCES = [
    ("consensus", {"N": 6, "K": 4}),
    ("leader_async", {"N": 7}),
    ("csma", {"N": 3, "K": 4}),
    ("wlan", {"MAX_BACKOFF": 6, "COL": 0}),
    ("nand", {"N": 40, "K": 4}),
    ("crowds", {"TotalRuns": 5, "CrowdSize": 20}),
    ("cluster", {"N": 320}),
    ("tandem", {"c": 1023}),
    ("kanban", {"t": 5}),
    ("fms", {"n": 7}),
    ("polling", {"N": 17}),
]


def build_with_galton(path: str, constants: dict[str, int], threads: int) -> dict[str, float]:
    """Build in this process and measure."""
    import time

    import galton

    program = galton.load(path, **constants)
    start = time.perf_counter()
    model = program.build(threads=threads)
    return {"s": time.perf_counter() - start, "states": model.n_states, "transitions": model.n_transitions}


def build_with_storm(path: str, constants: dict[str, int]) -> dict[str, float]:
    """The same with Storm's sparse engine."""
    import time

    import stormpy

    given = ",".join(f"{name}={value}" for name, value in constants.items())
    program = stormpy.parse_prism_program(path, prism_compatibility=True)
    program, _ = stormpy.instantiate_constants(program, given)
    options = stormpy.BuilderOptions()
    options.set_build_all_labels(True)
    options.set_build_all_reward_models(True)
    start = time.perf_counter()
    model = stormpy.build_model(program, options=options)
    return {"s": time.perf_counter() - start, "states": model.nr_states, "transitions": model.nr_transitions}


def one(tool: str, name: str, constants: dict[str, int], threads: int) -> dict[str, float]:
    """A fresh process that builds once."""
    command = [sys.executable, __file__, "--one", json.dumps([tool, name, constants, threads])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def run_one(task: str) -> None:
    """The inside of such a process."""
    import resource

    tool, name, constants, threads = json.loads(task)
    path = str(MODELS / f"{name}.prism")
    found = build_with_storm(path, constants) if tool == "storm" else build_with_galton(path, constants, threads)
    found["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def measure(name: str, constants: dict[str, int], threads: list[int], repeat: int) -> dict[str, object]:
    """Storm and Galton in turns."""
    tools = [("storm", 1), *(("galton", count) for count in threads)]
    best: dict[str, dict[str, float]] = {}
    for _ in range(repeat):
        for tool, count in tools:
            label = tool if tool == "storm" else f"galton-{count}"
            found = one(tool, name, constants, count)
            if label not in best or found["s"] < best[label]["s"]:
                best[label] = {**found, "mb": max(found["mb"], best.get(label, found)["mb"])}
    storm = best["storm"]
    for label, found in best.items():
        if (found["states"], found["transitions"]) != (storm["states"], storm["transitions"]):
            raise SystemExit(f"{name}: {label} has {found}, Storm has {storm}")
    return {"model": name, "constants": constants, **best}


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models by name, separated by commas")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        return run_one(given.one)
    threads = [int(count) for count in given.threads.split(",")]
    only = set(filter(None, given.only.split(",")))
    first = f"galton-{threads[0]}"
    rows = []
    print(f"{'model':34} {'states':>10} {'transitions':>11} {'storm s':>8} {'MB':>6} {'galton s':>8} {'MB':>6} ratio  more threads")
    for name, constants in INSTANCES:
        if only and name not in only:
            continue
        row = measure(name, constants, threads, given.repeat)
        rows.append(row)
        storm, ours = row["storm"], row[first]
        more = "  ".join(f"{count}: x{ours['s'] / row[f'galton-{count}']['s']:.2f}" for count in threads[1:])
        title = f"{name} {','.join(f'{k}={v}' for k, v in constants.items())}"
        print(
            f"{title:34} {storm['states']:10,} {storm['transitions']:11,} {storm['s']:8.2f} {storm['mb']:6.0f} "
            f"{ours['s']:8.3f} {ours['mb']:6.0f} {storm['s'] / ours['s']:5.1f}  {more}",
            flush=True,
        )
    ratios = [row["storm"]["s"] / row[first]["s"] for row in rows]
    print(f"faster than Storm with {threads[0]} thread: {mean(ratios):.1f} times in the mean, at least {min(ratios):.1f}")
    for count in threads[1:]:
        gains = [row[first]["s"] / row[f"galton-{count}"]["s"] for row in rows]
        print(f"{count} threads: {mean(gains):.2f} times faster in the mean, at least {min(gains):.2f}")
    shares = [row[f"galton-{count}"]["mb"] / row["storm"]["mb"] for row in rows for count in threads]
    print(f"memory: at most {max(shares):.2f} of Storm's")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
