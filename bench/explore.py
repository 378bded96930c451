"""How fast Galton builds models, beside Storm, in the same run.

    python bench/explore.py [--only tandem,nand] [--repeat 3] [--threads 1,2] [--no-storm] [--json FILE]

Every build runs in a process of its own. The time is that of building alone, with all labels and all reward structures,
and no property that would cut the model short; the text is parsed, and modules are loaded, before. The tools take
turns, so that both see the same machine; of the repetitions the fastest counts. Memory is the peak of its process.
"""

from __future__ import annotations

import argparse
import json
import math
import os
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

    galton.parse("dtmc module m s:[0..1]; [] true -> true; endmodule").build()  # loads what a build needs
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


def one(
    tool: str, name: str, constants: dict[str, int], threads: int, python: str = sys.executable
) -> dict[str, float]:
    """A fresh process that builds once, with the Galton of an interpreter."""
    command = [python, __file__, "--one", json.dumps([tool, name, constants, threads])]
    # As on Galton's command line: a thread of NumPy's BLAS that only spins would take a core from what is measured.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def run_one(task: str) -> None:
    """The inside of such a process."""
    import resource

    tool, name, constants, threads = json.loads(task)
    path = str(MODELS / f"{name}.prism")
    found = build_with_storm(path, constants) if tool == "storm" else build_with_galton(path, constants, threads)
    found["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def measure(
    name: str, constants: dict[str, int], threads: list[int], repeat: int, storm: bool
) -> dict[str, dict[str, float]]:
    """All tools in turns; for each the fastest build and the largest memory."""
    tools = [("storm", 1)] * storm + [("galton", count) for count in threads]
    best: dict[str, dict[str, float]] = {}
    for _ in range(repeat):
        for tool, count in tools:
            label = tool if tool == "storm" else f"galton-{count}"
            found = one(tool, name, constants, count)
            known = best.setdefault(label, found)
            best[label] = {**min(found, known, key=lambda run: run["s"]), "mb": max(found["mb"], known["mb"])}
    sizes = {label: (found["states"], found["transitions"]) for label, found in best.items()}
    if len(set(sizes.values())) != 1:
        raise SystemExit(f"{name}: the models differ: {sizes}")
    return best


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def line(title: str, row: dict[str, dict[str, float]], threads: list[int]) -> str:
    """A row of the table."""
    first = row[f"galton-{threads[0]}"]
    cells = [f"{title:34} {first['states']:10,} {first['transitions']:11,}"]
    if "storm" in row:
        cells.append(f"{row['storm']['s']:8.2f} {row['storm']['mb']:6.0f}")
    cells.append(f"{first['s']:8.3f} {first['mb']:6.0f}")
    if "storm" in row:
        cells.append(f"{row['storm']['s'] / first['s']:6.1f}")
    cells += [f"{count}: x{first['s'] / row[f'galton-{count}']['s']:.2f}" for count in threads[1:]]
    return " ".join(cells)


def summarise(rows: list[dict[str, dict[str, float]]], threads: list[int]) -> None:
    """The figures that matter."""
    first = f"galton-{threads[0]}"
    if "storm" in rows[0]:
        ratios = [row["storm"]["s"] / row[first]["s"] for row in rows]
        print(
            f"{threads[0]} thread, times faster than Storm: {mean(ratios):.1f} in the mean, at least {min(ratios):.1f}"
        )
        shares = [row[f"galton-{count}"]["mb"] / row["storm"]["mb"] for row in rows for count in threads]
        print(f"memory: at most {max(shares):.2f} of Storm's")
    for count in threads[1:]:
        gains = [row[first]["s"] / row[f"galton-{count}"]["s"] for row in rows]
        print(
            f"{count} threads, times faster than {threads[0]}: {mean(gains):.2f} in the mean, at least {min(gains):.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models by name, separated by commas")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--no-storm", action="store_true", help="compare numbers of threads only")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        return run_one(given.one)
    threads = [int(count) for count in given.threads.split(",")]
    only = set(filter(None, given.only.split(",")))
    storm = "" if given.no_storm else f"{'storm s':>8} {'MB':>6} "
    ratio = "" if given.no_storm else f"{'ratio':>6} "
    print(f"{'model':34} {'states':>10} {'transitions':>11} {storm}{'galton s':>8} {'MB':>6} {ratio}more threads")
    rows = []
    for name, constants in INSTANCES:
        if only and name not in only:
            continue
        rows.append(measure(name, constants, threads, given.repeat, not given.no_storm))
        title = f"{name} {','.join(f'{k}={v}' for k, v in constants.items())}"
        print(line(title, rows[-1], threads), flush=True)
    if not rows:
        raise SystemExit(f"no such model; there are {', '.join(name for name, _ in INSTANCES)}")
    summarise(rows, threads)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
