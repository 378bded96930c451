"""How long a step takes on a CUDA device, and how much of what the memory can deliver it needs.

    python bench/gpu_steps.py [--only tandem] [--steps 200] [--formats sliced,ell] [--json FILE]

The bytes of a step are what it has to read and write at least in CSR: every entry and row of the matrix, the vector,
what stays, half of the sum, the new vector. ``together`` makes all steps in one launch, ``apart`` each in its own, both
in CSR; other formats are measured apart, and their bandwidth is that of the bytes of CSR.
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

MODELS = Path(__file__).resolve().parent.parent / "models"
HOW = {"together": (1 << 62, None), "apart": (0, None)}  # from which size on steps are apart, and the format
OTHERS = ("sliced", "half-sliced", "ell")
CASES: list[tuple[str, dict[str, int]]] = [
    ("cluster", {"N": 4}),
    ("tandem", {"c": 63}),
    ("cluster", {"N": 64}),
    ("tandem", {"c": 1023}),
    ("polling", {"N": 15}),
    ("tandem", {"c": 4095}),
    ("polling", {"N": 19}),
    ("herman", {"N": 13}),
    ("consensus", {"N": 6, "K": 2}),
]


def bytes_of(model: Any, timed: bool) -> int:
    """What one step has to move."""
    codes = model.values.plain if model.values.index is None else model.values.index
    entries = model.n_transitions * (4 + codes.itemsize)
    rows = model.n_choices * model.row_starts.itemsize
    return int(entries + rows + model.n_states * (16 + (16 if timed else 4 if model.type == "mdp" else 8)))


def seconds_per_step(step: Any, steps: int, *weights: Any) -> float:
    """The best of three calls, after one."""
    step.advance(3, *weights[:1])
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        step.advance(steps, *weights)
        best = min(best, (time.perf_counter() - start) / steps)
    return float(best)


def main() -> None:
    import cupy as cp

    from galton.backend.cuda import steps as device
    from galton.backend.steps import Bellman, Chain, part_of

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--formats", default=",".join(OTHERS), help=f"of {', '.join(OTHERS)}")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    ways: dict[str, tuple[int, str | None]] = {**HOW, **{form: (0, form) for form in given.formats.split(",") if form}}
    records = []
    for name, constants in CASES:
        if given.only not in name:
            continue
        program = galton.load(MODELS / f"{name}.prism", **constants)
        model = program.build(device="cuda")
        timed, whole = model.type == "ctmc", part_of(model, None, 1)
        moved = bytes_of(model, timed)
        record: dict[str, Any] = {"model": name, **constants, "states": model.n_states, "entries": model.n_transitions}
        csr = "csr" if whole.matrix.csr.lanes == 1 else "csr-vector"
        for how, (limit, form) in ways.items():
            device.TOGETHER = limit
            part = replace(whole, matrix=replace(whole.matrix, format=form or csr))
            x = cp.full(model.n_states, 0.5)
            if model.type == "mdp":
                seconds = seconds_per_step(Bellman(part, x, None, True), given.steps)
            else:
                stay = cp.full(model.n_states, 0.5) if timed else None
                chain = Chain(part, x, 1e-3 if timed else 1.0, stay)
                seconds = seconds_per_step(chain, given.steps, np.ones(given.steps))
            record[how] = {"us": seconds * 1e6, "TB/s": moved / seconds / 1e12}
        records.append(record)
        print(
            f"{name} {constants}: {model.n_states:,} states, {model.n_transitions:,} entries, {moved / 1e6:.1f} MB; "
            + ", ".join(f"{how} {record[how]['us']:.2f} us, {record[how]['TB/s']:.2f} TB/s" for how in ways)
        )
        del model, part, whole
        cp.get_default_memory_pool().free_all_blocks()
    if given.json:
        given.json.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
