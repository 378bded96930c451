"""How long a step of uniformisation over boxes of parameters takes, and how many bytes go by in it.

    python bench/gpu_regions.py [--only "GFS 1" cluster] [--boxes 8 32 1024] [--steps 400] [--json FILE]

The chains are those of ``galton bench synth``, whole: neither lumped nor cut to a window. A step is one of all boxes.
The bytes are the fewest it has to read and write: where each box has a block, its vectors are in the block's own
memory, and every box reads the matrix, 16 bytes an entry; where boxes are interleaved, the matrix is read once for all
of them and each state has 16 bytes a box to be read and 16 to be written. Both lie in the second-level cache as far as
they fit, so that more than the memory delivers may go by. After so many steps the bounds of the first boxes have to be
those of the CPU, or the program ends with an error; ``times the CPU`` is beside one of its cores, box for box.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from galton.backend import CPU, CUDA, Backend
from galton.backend.cpu.regions import LANES
from galton.bench.synth_cases import CASES, Case
from galton.device.arrays import on_host
from galton.lang import parse_constants, parse_model
from galton.lang.source import read_source
from galton.synth.parameters import open_parameters
from galton.synth.parametric_ctmc import ParametricModel, parametric_model
from galton.synth.transient import PhaseRows, uniformised

MODELS = Path(__file__).resolve().parent.parent / "models"
CHAINS = ("SIR (100,120)", "approximate majority", "GFS 1", "cluster", "signalling")
SAME = 1e-11
ENTRY, PAIR = 16, 16  # bytes: an entry of the matrix, the two bounds of a state
REPEATS = 3


@dataclass(frozen=True)
class Record:
    """One chain with so many boxes in one format."""

    name: str
    states: int
    entries: int
    boxes: int
    way: str
    us: float
    megabytes: float
    cpu_us: float  # of a box, on one core

    def __str__(self) -> str:
        per_box = 1e3 * self.us / self.boxes
        return (
            f"{self.name:<20} {self.boxes:>5} {self.way:<15} {self.us:>9.2f} us  {per_box:>8.1f} ns a box  "
            f"{self.megabytes:>8.2f} MB  {self.megabytes / self.us:>6.2f} TB/s  "
            f"{self.boxes * self.cpu_us / self.us:>8.1f} times the CPU"
        )


def whole_chain(case: Case) -> ParametricModel:
    """The parametric chain of a case."""
    file = parse_model(read_source(MODELS / f"{case.model}.prism"))
    return parametric_model(open_parameters(file, parse_constants(case.constants), case.ranges))


class Steps:
    """Steps of some boxes, from a vector that is not smooth."""

    def __init__(
        self, model: ParametricModel, boxes: int, steps: int, backend: Backend, format: str | None = None
    ) -> None:
        self.rows = PhaseRows(model, np.ones(model.n_states, dtype=bool), backend.regions, format)
        self.steps, kernel_of = steps, self.rows.kernel
        low, high = model.space
        lower, upper = model.terms.bounds(*_boxes(low, high, boxes))
        ranges = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
        q = self.rows.rates(ranges[1])
        _, weights, padded, table = uniformised(self.rows, q, ranges, 4 * steps / q.max(), over=False)
        self.width, self.kernel = len(padded), kernel_of.steps(table, weights)
        start = np.random.default_rng(1).random(model.n_states)
        vectors = np.broadcast_to(start[:, None, None], (model.n_states, 2, self.width))
        self.x, self.other = kernel_of.array(vectors), kernel_of.array(vectors)
        self.watched = model.initial
        self.sums = kernel_of.array(np.zeros((len(self.watched), 2, self.width)))
        self.changes = np.zeros(2 * self.width)

    def seconds(self) -> float:
        """Of all steps; they go on from where they were."""
        begin = time.perf_counter()
        if self.kernel.run(0, self.steps, self.x, self.other, self.watched, self.sums, self.changes, 1):
            self.x, self.other = self.other, self.x
        return time.perf_counter() - begin

    def bounds(self, boxes: int) -> Any:
        """``(states, 2, boxes)`` of the first boxes."""
        return on_host(self.rows.kernel.view(self.x, self.width))[:, :, :boxes]


def _boxes(low: Any, high: Any, count: int) -> tuple[Any, Any]:
    """Small boxes all over the space."""
    places = np.random.default_rng(2).random((count, len(low)))
    corner = low + 0.9 * (high - low) * places
    return corner, corner + 0.1 * (high - low)


def measured(case: Case, counts: list[int], steps: int) -> list[Record]:
    """All ways and numbers of boxes of one case."""
    model = whole_chain(case)
    on_cpu = Steps(model, LANES, steps, CPU)
    cpu_us = 1e6 * on_cpu.seconds() / steps / LANES
    found = []
    for count in counts:
        for form in ("csr", "ell"):
            on_device = Steps(model, count, steps, CUDA, form)
            on_device.seconds()
            few = min(count, LANES)
            apart = float(np.abs(on_device.bounds(few) - on_cpu.bounds(few)).max())
            if not apart <= SAME:
                raise SystemExit(f"{case.name}, {count} boxes in {form}: {apart:.1e} away from the CPU")
            seconds = min(on_device.seconds() for _ in range(REPEATS)) / steps
            one_each = on_device.rows.kernel.one_each
            entries = len(model.columns) * (count if one_each else 1)
            moved = ENTRY * entries + (0 if one_each else 2 * PAIR * model.n_states * on_device.width)
            way = f"{form}, {'a block each' if one_each else 'interleaved'}"
            sizes = (model.n_states, len(model.columns), count)
            found.append(Record(case.name, *sizes, way, 1e6 * seconds, moved / 1e6, cpu_us))
            print(found[-1], flush=True)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [case.name for case in CASES]
    parser.add_argument("--only", nargs="+", default=CHAINS, choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--boxes", type=int, nargs="+", default=[8, 32, 1024])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    records: list[Record] = []
    for case in CASES:
        if case.name not in given.only:
            continue
        records += measured(case, given.boxes, given.steps)
        if given.json:
            given.json.write_text(json.dumps([asdict(record) for record in records], indent=1))


if __name__ == "__main__":
    main()
