"""How fast a CUDA device explores, step by step, beside the sizes that are known.

    python bench/gpu_explore.py [--only consensus,tandem] [--repeat 3] [--large] [--json FILE]

The first build of a model compiles its explorer, or finds it compiled before (``GALTON_CACHE`` names the place); the
best of the others counts. Times are in milliseconds, those of the steps with the device synchronised after each.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import galton
from galton.backend.cuda.explorer.exploration import explore
from galton.device.cuda.runtime import import_cupy
from galton.lower.lowering import lower

MODELS = Path(__file__).resolve().parent.parent / "models"
STEPS = ("compile", "discover", "sort", "count", "fill")
INSTANCES = [  # with the numbers of states and transitions, where they are known from elsewhere
    ("die", {}, 13, 20),
    ("herman", {"N": 15}, 32_768, 14_348_908),
    ("brp", {"N": 64, "MAX": 5}, 5_192, 6_915),
    ("crowds", {"TotalRuns": 6, "CrowdSize": 20}, 10_633_591, 38_261_191),
    ("nand", {"N": 60, "K": 1}, 4_717_592, 7_463_732),
    ("leader_sync", {"N": 6, "K": 8}, 1_312_334, 1_574_477),
    ("quicksort", {"N": 94, "BUDGET": 0}, 1_323_288, 2_407_595),
    ("leader_async", {"N": 7}, 2_095_783, 7_714_385),
    ("csma", {"N": 3, "K": 4}, 1_460_287, 2_396_727),
    ("wlan", {"MAX_BACKOFF": 6, "COL": 0}, 5_007_548, 11_475_748),
    ("cluster", {"N": 320}, 3_704_340, 18_083_872),
    ("tandem", {"c": 1023}, 2_096_128, 7_328_771),
    ("kanban", {"t": 5}, 2_546_432, 24_460_016),
    ("fms", {"n": 8}, 4_459_455, 38_533_968),
    ("polling", {"N": 17}, 3_342_336, 31_195_136),
    ("sir", {"S0": 990, "I0": 10, "R0": 0, "ki": 0.001, "kr": 0.05}, 501_446, 1_000_901),
    ("consensus", {"N": 6, "K": 4}, 2_376_448, 11_835_456),
    ("consensus", {"N": 8, "K": 2}, 61_018_112, 403_856_384),
]
LARGE = [("tandem", {"c": 4095}, 33_550_336, None), ("tandem", {"c": 22360}, 1_000_006_281, None)]
CHAIN = "dtmc module chain x : [0..{0}]; [] x<{0} -> (x'=x+1); endmodule"  # as deep as it has states


def measure(program: galton.Program, repeat: int) -> dict[str, float]:
    """Build several times; the first says what compiling costs, the fastest of the rest is reported."""
    cupy = import_cupy()
    pool = cupy.get_default_memory_pool()
    runs = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        lowered = lower(program)
        lowering = time.perf_counter() - start
        model = explore(lowered)
        row = {name: 1e3 * model.info[f"{name}_s"] for name in STEPS}
        row |= {"total": 1e3 * (time.perf_counter() - start), "lower": 1e3 * lowering, "levels": model.info["levels"]}
        row |= {"states": model.n_states, "transitions": model.n_transitions, "mb": model.memory / 1e6}
        runs.append(row)
        del model
        row["pool_mb"] = pool.total_bytes() / 1e6
    best = min(runs[1:] or runs, key=lambda run: run["total"])
    pool.free_all_blocks()
    return {**best, "first": runs[0]["total"], "first_compile": runs[0]["compile"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models, separated by commas")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also the models of 10^9 states")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    wanted = set(filter(None, options.only.split(",")))
    cases = [
        (f"{name} {' '.join(f'{k}={v}' for k, v in constants.items())}", name, constants, states, transitions)
        for name, constants, states, transitions in INSTANCES + LARGE * options.large
        if not wanted or name in wanted
    ]
    head = [*STEPS, "total", "first", "levels", "MB"]
    print(f"{'':34}{'states':>14}{'transitions':>15}" + "".join(f"{title:>10}" for title in head), flush=True)
    rows = {}
    programs = [(title, galton.load(MODELS / f"{n}.prism", **c), s, t) for title, n, c, s, t in cases]
    if not wanted or "chain" in wanted:
        programs.append(("a chain of 100,000 levels", galton.parse(CHAIN.format(99_999)), 100_000, 100_000))
    for title, program, states, transitions in programs:
        row = rows[title] = measure(program, options.repeat if (states or 0) < 10**8 else 1)
        numbers = "".join(f"{row[name]:10.2f}" for name in (*STEPS, "total", "first"))
        sizes = f"{title[:33]:34}{row['states']:14,}{row['transitions']:15,}"
        print(f"{sizes}{numbers}{row['levels']:10,}{row['mb']:10,.0f}", flush=True)
        if row["states"] != states or row["transitions"] != (transitions or row["transitions"]):
            print(f"    expected {states:,} states and {transitions} transitions", flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
