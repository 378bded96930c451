"""How long a sweep over equations takes on a CUDA device in each format, beside how fast the device copies.

    python bench/gpu_sweeps.py [--only tandem,kanban] [--formats csr,sliced] [--orders canonical,rcm]
                               [--values compact,plain] [--sweeps 50] [--variants] [--json FILE]

The equations are those of the probability to come to the first initial state, from all states that can be left. Sweeps
are in place, as the solver makes them, and for an MDP take the greatest. The bytes are the fewest that the format has
to move; a format that moves fewer may be the faster one at a smaller share of the copy. Every format has to come to the
same vector, or the program ends with an error. ``chosen`` says what Galton would take, and what it takes to find out.
With ``--variants`` all is read in several ways: so many entries at a time x threads of a block, slices cached or not.
The last column is the same sweep with vectors in single precision.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import galton
from galton.backend.formats import FORMATS, ORDERS

MODELS = Path(__file__).resolve().parent.parent / "models"
CASES: list[tuple[str, dict[str, int]]] = [
    ("tandem", {"c": 2047}),
    ("cluster", {"N": 320}),
    ("kanban", {"t": 5}),
    ("fms", {"n": 7}),
    ("polling", {"N": 17}),
    ("consensus", {"N": 6, "K": 4}),
    ("consensus", {"N": 8, "K": 2}),
    ("herman", {"N": 15}),
    ("wlan", {"MAX_BACKOFF": 6, "COL": 0}),
]
COPIED = 1 << 30  # bytes
SAME = 1e-12  # how far vectors may be apart, relatively, after a sweep
VARIANTS = tuple(product((2, 4, 8), (128, 256, 512), (False, True)))  # lines at a time, threads of a block, cached


def equations_of(model: Any, order: str) -> Any:
    """Equations of all states that have a row which leads elsewhere, but the first initial one, whose value is 1."""
    import cupy as cp

    from galton.solve.equations import restrict_on_device

    rows = cp.arange(model.n_choices, dtype=np.int32)
    groups = model.choice_starts
    owner = rows if groups is None else cp.searchsorted(groups, rows, side="right") - 1
    stays = (model.row_starts[1:] - model.row_starts[:-1] == 1) & (model.columns[model.row_starts[:-1]] == owner)
    leaves = cp.zeros(model.n_states, dtype=np.bool_)
    leaves[owner[~stays]] = True
    leaves[model.initial[:1]] = False
    known = cp.zeros(model.n_states)
    known[model.initial[:1]] = 1.0
    optimum = "max" if model.type == "mdp" else None
    return restrict_on_device(model, leaves, known, optimum=optimum, keep=~stays, order=order)


def seconds_of(work: Any) -> float:
    """The device's time for what ``work`` starts, the best of three."""
    import cupy as cp

    best = np.inf
    for _ in range(3):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        best = min(best, cp.cuda.get_elapsed_time(begin, end) / 1e3)
    return float(best)


def bytes_copied_per_second() -> float:
    """What a copy on the device reads and writes in a second."""
    import cupy as cp

    source, target = cp.zeros(COPIED // 8), cp.empty(COPIED // 8)

    def copy() -> None:
        for _ in range(10):
            cp.copyto(target, source)

    copy()
    return 2 * COPIED * 10 / seconds_of(copy)


def laid_out(equations: Any, matrix: Any, name: str, variants: bool) -> Iterator[tuple[str, Any, float]]:
    """The matrix in one format, with a label and the seconds that took; then in all variants, if so asked."""
    import cupy as cp

    from galton.backend.cuda.layout import Variant, lay_out

    start = time.perf_counter()
    layout = lay_out(matrix, name, scale=equations.scale, constant=equations.constant)
    cp.cuda.get_current_stream().synchronize()
    seconds = time.perf_counter() - start
    yield name, layout, seconds
    for variant in (Variant(*how) for how in VARIANTS) if variants else ():
        if layout.source is not None or not variant.cached:  # only slices are streamed
            yield f"{name} {variant}", replace(layout, variant=variant), seconds


def measure(equations: Any, layout: Any, sweeps: int, speed: float, known: Any) -> tuple[dict[str, Any], Any]:
    """Sweeps in one format; also x after one Jacobi sweep, and how far that is from the one that is known."""
    import cupy as cp

    from galton.backend.cuda.system import System
    from galton.backend.protocol import Span, Stop
    from galton.solve.equations import OPTIMA

    system = System(layout, equations.scale, equations.constant, OPTIMA[equations.optimum], compact=True)
    span = Span(0, equations.size)
    x = cp.linspace(0.1, 0.9, equations.size)
    system.jacobi(x, cp.empty_like(x), None, span, Stop(1))
    after = x.copy()

    def work() -> None:
        system.gauss_seidel(x, None, None, span, Stop(sweeps))

    work()
    seconds = seconds_of(work) / sweeps
    moved = system.bytes_per_sweep
    record = {"us": seconds * 1e6, "MB": moved / 1e6, "TB/s": moved / seconds / 1e12, "share": moved / seconds / speed}
    x = after.astype(np.float32)
    work()
    record["single us"] = seconds_of(work) / sweeps * 1e6
    if known is not None:
        record["apart"] = float(cp.max(cp.abs(after - known) / cp.maximum(cp.abs(known), 1e-300)))
    return record, after


def with_values(equations: Any, kind: str) -> Any:
    """The matrix in CSR, with its values as codes or as numbers."""
    from galton.backend.cuda.layout import csr

    values = equations.values
    pattern = (equations.groups, equations.starts, equations.columns)
    if values.dictionary is None:
        return csr(*pattern, values.plain, None)
    if kind == "plain":
        return csr(*pattern, values.dictionary[values.index], None)
    return csr(*pattern, values.index, values.dictionary)


def case(model: Any, given: argparse.Namespace, speed: float, name: str) -> list[dict[str, Any]]:
    """All that is measured of one model."""
    import cupy as cp

    from galton.backend.cuda.formats import in_format

    records, width = [], 32 if given.variants else 12
    for order in given.orders:
        equations = equations_of(model, order)
        for kind in given.values:
            matrix = with_values(equations, kind)
            start = time.perf_counter()
            chosen = in_format(matrix, scale=equations.scale, constant=equations.constant)
            record: dict[str, Any] = {"model": name, "order": order, "values": kind, "unknowns": equations.size}
            record |= {"rows": matrix.rows, "entries": len(matrix.columns), "chosen": chosen.name}
            record |= {"reason": chosen.reason, "choosing s": time.perf_counter() - start, "formats": {}}
            del chosen
            print(
                f"\n{name}, {order}, {kind}: {equations.size:,} unknowns, {matrix.rows:,} rows, "
                f"{record['entries']:,} entries; chosen in {record['choosing s']:.3f} s: {record['chosen']} "
                f"({record['reason']})"
            )
            known = None
            for form in given.formats:
                try:
                    for label, layout, seconds in laid_out(equations, matrix, form, given.variants):
                        found, after = measure(equations, layout, given.sweeps, speed, known)
                        known = after if known is None else known
                        record["formats"][label] = found | {"laid out s": seconds}
                        wrong = "" if found.get("apart", 0.0) <= SAME else f"  WRONG by {found['apart']:.1e}"
                        print(
                            f"  {label:<{width}} {found['us']:10.1f} us  {found['MB']:9.1f} MB  "
                            f"{found['TB/s']:6.2f} TB/s  {100 * found['share']:5.1f} % of a copy  "
                            f"laid out in {seconds:.3f} s  {found['single us']:10.1f} us with floats{wrong}"
                        )
                except cp.cuda.memory.OutOfMemoryError:
                    print(f"  {form:<{width}} does not fit")
                cp.get_default_memory_pool().free_all_blocks()
            records.append(record)
    return records


def names(known: Any) -> Any:
    """A parser of names, separated by commas."""

    def parse(text: str) -> list[str]:
        found = text.split(",")
        if wrong := [name for name in found if name not in known]:
            raise argparse.ArgumentTypeError(f"there is no '{wrong[0]}' (there are {', '.join(known)})")
        return found

    return parse


def main() -> None:
    import cupy as cp

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of names of models, separated by commas")
    parser.add_argument("--formats", type=names(FORMATS), default=list(FORMATS))
    parser.add_argument("--orders", type=names(ORDERS), default=["canonical"])
    parser.add_argument("--values", type=names(("compact", "plain")), default=["compact"])
    parser.add_argument("--sweeps", type=int, default=50)
    parser.add_argument("--variants", action="store_true", help="every format is also read in other ways")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    speed = bytes_copied_per_second()
    print(f"a copy: {speed / 1e12:.2f} TB/s")
    records: list[dict[str, Any]] = []
    for name, constants in CASES:
        label = f"{name} {' '.join(f'{key}={value}' for key, value in constants.items())}"
        if not any(part in label for part in given.only.split(",")):
            continue
        model = galton.load(MODELS / f"{name}.prism", **constants).build(device="cuda")
        records += case(model, given, speed, label)
        del model
        cp.get_default_memory_pool().free_all_blocks()
        if given.json:  # after each model: whatever ends the program later, this is kept
            given.json.write_text(json.dumps({"copy": speed, "cases": records}, indent=1))
    found = [one for record in records for one in record["formats"].values()]
    sys.exit(any(not one.get("apart", 0.0) <= SAME for one in found))


if __name__ == "__main__":
    main()
