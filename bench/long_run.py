"""Long-run averages where others fail, sound to 1e-6: time, sweeps and bounds.

    python bench/long_run.py [--only cluster,fms] [--threads 1]

The time is that of the check alone; the model is built before. Bounds contain the exact value, rounding included.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import galton
from galton.check.long_run import long_run
from galton.model.sparse import Model, Rewards
from galton.solve.settings import Settings

MODELS = Path(__file__).resolve().parent.parent / "models"
INSTANCES = [
    ("cluster", "N", (64, 128, 230, 320), "premium"),
    ("tandem", "c", (255, 511, 1023), "customers"),
    ("kanban", "t", (4, 5), "throughput"),
    ("fms", "n", (5, 6, 7), "productivity"),
    ("polling", "N", (15, 16, 17), "waiting1"),
]


def question(model: Model, name: str) -> Rewards:
    """The part of the time in which a label holds, or the mean of a reward."""
    return model.rewards[name] if name in model.rewards else Rewards(state=model.labels[name].astype(np.float64))


def main() -> None:
    """Print a line for every instance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of models")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    head = ("model", "states", "transitions", "build s", "check s", "sweeps", "lower", "upper", "method")
    layout = "{:14} {:>10} {:>11} {:>8} {:>8} {:>7}  {:>13} {:>13}  {}"
    print(layout.format(*head))
    for name, constant, values, asked in INSTANCES:
        if options.only and name not in options.only:
            continue
        for value in values:
            model = galton.load(MODELS / f"{name}.prism", **{constant: value}).build(threads=options.threads)
            start = time.perf_counter()
            found = long_run(model, question(model, asked), Settings(threads=options.threads))
            seconds = time.perf_counter() - start
            first = model.initial[0]
            cells = (f"{name} {constant}={value}", f"{model.n_states:,}", f"{model.n_transitions:,}")
            numbers = (f"{model.build_seconds:.2f}", f"{seconds:.2f}", found.iterations)
            bounds = (f"{found.lower[first]:.9g}", f"{found.upper[first]:.9g}")
            print(layout.format(*cells, *numbers, *bounds, found.method), flush=True)


if __name__ == "__main__":
    main()
