"""How long each operation of the graph analysis takes on models of the gallery, in milliseconds.

    python bench/graph.py [--only consensus,nand] [--repeat 3]

The time is that of the processor, the best of the repetitions. SciPy's strongly connected components stand beside ours.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

import galton
from galton.graph import (
    attractor,
    can_avoid,
    can_reach,
    forward_reachable,
    maximal_end_components,
    strongly_connected_components,
    zero_and_one,
)
from galton.model.sparse import Model

MODELS = Path(__file__).resolve().parent.parent / "models"
INSTANCES = [  # model, constants, label of the goal, label of states that may not be passed
    ("crowds", {"TotalRuns": 5, "CrowdSize": 15}, "sender_seen_twice", None),
    ("crowds", {"TotalRuns": 5, "CrowdSize": 20}, "sender_seen_twice", None),
    ("nand", {"N": 40, "K": 4}, "few_wrong", None),
    ("egl", {"N": 8, "L": 2}, "knowA", "knowB"),
    ("tandem", {"c": 1023}, "deadlock", None),
    ("consensus", {"N": 6, "K": 2}, "all_heads", None),
    ("wlan", {"MAX_BACKOFF": 5, "COL": 0}, "both_sent", None),
    ("csma", {"N": 3, "K": 4}, "all_delivered", "collision_max_backoff"),
]


def operations(model: Model, goal: str, wall: str | None) -> dict[str, Callable[[], object]]:
    """What is timed: names and calls."""
    target = model.labels[goal]
    through = np.ones(model.n_states, dtype=bool) if wall is None else ~model.labels[wall]
    return {
        "can reach": lambda: can_reach(model, through, target),
        "can avoid": lambda: can_avoid(model, through, target),
        "0, 1 min": lambda: zero_and_one(model, through, target, "min"),
        "0, 1 max": lambda: zero_and_one(model, through, target, "max"),
        "attractor": lambda: attractor(model, through, target),
        "forward": lambda: forward_reachable(model, model.labels["init"]),
        "SCC": lambda: strongly_connected_components(model),
        "MEC": lambda: maximal_end_components(model),
    }


def best(call: Callable[[], object], repeat: int) -> float:
    """Milliseconds of the quickest of the calls."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of models, separated by commas")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    for name, constants, goal, wall in INSTANCES:
        if arguments.only and name not in arguments.only.split(","):
            continue
        model = galton.load(MODELS / f"{name}.prism", **constants).build()
        calls = operations(model, goal, wall)
        if model.choice_starts is None:  # SciPy knows no choices
            calls["SCC by SciPy"] = partial(connected_components, model.matrix, connection="strong")
        print(f"{name} {constants}: {model}")
        times = {what: best(call, arguments.repeat) for what, call in calls.items()}
        print("   " + "  ".join(f"{what} {milliseconds:.0f}" for what, milliseconds in times.items()), flush=True)


if __name__ == "__main__":
    main()
