"""The graph analysis on a CUDA device beside that on the CPU, in milliseconds, on the same models.

    python bench/gpu_graph.py [--only consensus,tandem] [--repeat 5] [--launches]
    python bench/gpu_graph.py --torus 8192

Models are built on the CPU and moved to the device. Each operation is called once to warm up and to compare its answer
with the CPU's, which is timed; then the best of some repetitions counts, the device waited for. The torus, an MDP of so
many states squared that walks along one axis or the other, is made on the device and not compared.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
import numpy.typing as npt

import galton
import galton.graph as graph
from galton.backend.cuda.graph.pattern import COMPONENTS, SEARCH, TOGETHER, graph_kernels
from galton.device.cuda.kernels import Kernels
from galton.model.sparse import Model, Values

MODELS = Path(__file__).resolve().parent.parent / "models"
INSTANCES = [  # model, constants, label of the goal
    ("consensus", {"N": 6, "K": 4}, "all_heads"),
    ("tandem", {"c": 2047}, "init"),
    ("csma", {"N": 3, "K": 4}, "all_delivered"),
    ("kanban", {"t": 5}, "init"),
    ("wlan", {"MAX_BACKOFF": 6, "COL": 0}, "both_sent"),
    ("crowds", {"TotalRuns": 5, "CrowdSize": 15}, "sender_seen_twice"),
]
N_LINE = 100_000


def line(name: str, place: npt.NDArray[np.int64]) -> tuple[str, Model, npt.NDArray[np.bool_]]:
    """States one after the other; each goes on or, every other one, waits. The goal is the last one."""
    n = len(place)
    position, states = np.argsort(place), np.arange(n)
    following = place[np.minimum(position + 1, n - 1)]
    columns = np.sort(np.stack([following, np.where(position % 2, following, states)], axis=1), axis=1)
    kept = np.stack([np.ones(n, dtype=bool), columns[:, 0] != columns[:, 1]], axis=1)
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    model = Model(
        type="dtmc",
        row_starts=starts,
        columns=columns[kept].astype(np.int32),
        values=Values(plain=np.ones(starts[-1])),
        initial=place[:1].astype(np.int32),
    )
    return name, model, states == place[-1]


def instances(only: str | None) -> Iterator[tuple[str, Model, npt.NDArray[np.bool_]]]:
    """Names, models and goals."""
    wanted = only.split(",") if only else [*(name for name, _, _ in INSTANCES), "line"]
    for name, constants, goal in INSTANCES:
        if name in wanted:
            model = galton.load(MODELS / f"{name}.prism", **constants).build()
            yield f"{name} {' '.join(f'{k}={v}' for k, v in constants.items())}", model, model.labels[goal]
    if "line" in wanted:
        yield line("line upwards", np.arange(N_LINE))
        yield line("line downwards", np.arange(N_LINE)[::-1].copy())
        yield line("line in no order", np.random.default_rng(1).permutation(N_LINE))


def torus(side: int) -> tuple[str, Model, Any]:
    """Each state may walk up or down, or left or right; the goal is one state."""
    n = side * side
    states = cp.arange(n, dtype=cp.int64)
    column = states % side
    wide = 4 * n >= 1 << 31
    columns = cp.empty((n, 4), dtype=cp.int32)
    columns[:, 0] = (states - side) % n
    columns[:, 1] = (states + side) % n
    columns[:, 2] = states - column + (column - 1) % side
    columns[:, 3] = states - column + (column + 1) % side
    model = Model(
        type="mdp",
        choice_starts=cp.arange(0, 2 * n + 1, 2, dtype=cp.int32),
        row_starts=cp.arange(0, 4 * n + 1, 2, dtype=cp.int64 if wide else cp.int32),
        columns=columns.ravel(),
        values=Values(plain=np.ones(0)),
        initial=np.zeros(1, dtype=np.int32),
        labels={"init": states == n // 2, "deadlock": states < 0},
    )
    return f"torus {side}", model, states == n // 3


def on_device(model: Model) -> Model:
    """The same model with the arrays of its graph on the device."""
    starts = None if model.choice_starts is None else cp.asarray(model.choice_starts)
    return replace(
        model, choice_starts=starts, row_starts=cp.asarray(model.row_starts), columns=cp.asarray(model.columns)
    )


def operations(model: Model, goal: Any, init: Any) -> dict[str, Callable[[], Any]]:
    """What is timed."""
    everywhere = goal | True
    return {
        "can reach": lambda: graph.can_reach(model, everywhere, goal),
        "can avoid": lambda: graph.can_avoid(model, everywhere, goal),
        "0, 1 min": lambda: graph.zero_and_one(model, everywhere, goal, "min"),
        "0, 1 max": lambda: graph.zero_and_one(model, everywhere, goal, "max"),
        "attractor": lambda: graph.attractor(model, everywhere, goal),
        "forward": lambda: graph.forward_reachable(model, init),
        "SCC": lambda: graph.strongly_connected_components(model),
        "BSCC": lambda: graph.bottom_components(model),
        "MEC": lambda: graph.maximal_end_components(model),
    }


def same(mine: Any, theirs: Any) -> bool:
    """Whether an answer of the device is the CPU's; components may have other numbers."""
    if isinstance(theirs, tuple):
        return all(map(same, mine, theirs))
    if isinstance(theirs, graph.EndComponents):
        return same(mine.component, theirs.component) and same(mine.staying, theirs.staying)
    if isinstance(theirs, graph.Components):
        if mine.count != theirs.count or not same(mine.component < 0, theirs.component < 0):
            return False
        order, starts = cp.asnumpy(mine.order), cp.asnumpy(mine.starts)
        numbers = np.append(theirs.component[order[starts[:-1]]], -1)
        classes = same(cp.asarray(numbers)[mine.component], theirs.component)
        flags = same(mine.trivial, theirs.trivial[numbers[:-1]]) and same(mine.bottom, theirs.bottom[numbers[:-1]])
        return classes and flags
    return np.array_equal(cp.asnumpy(mine), theirs)


def in_order(model: Model, component: Any) -> bool:
    """Whether successors come first."""
    rows = np.diff(model.row_starts)
    row_component = component if model.choice_starts is None else np.repeat(component, np.diff(model.choice_starts))
    return bool((component[model.columns] <= np.repeat(row_component, rows)).all())


def best(call: Callable[[], object], repeat: int) -> float:
    """Milliseconds of the quickest call, until the device is done."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def alone(name: str, model: Model, goal: Any, repeat: int, launches: Counter[str]) -> None:
    """Times of a model that is only on the device, and the memory it takes."""
    print(f"{name}: {model}")
    pool = cp.get_default_memory_pool()
    for what, call in operations(model, goal, model.labels["init"]).items():
        pool.free_all_blocks()
        launches.clear()
        call()
        counts, peak = dict(launches), pool.total_bytes()
        print(f"   {what:10} {best(call, repeat):9.2f}  {peak / 1e9:6.1f} GB  {counts or ''}", flush=True)


def count_launches() -> Counter[str]:
    """Kernels started from now on, by name."""
    launches: Counter[str] = Counter()
    launch = Kernels.launch

    def counted(self: Kernels, kernel: str, *arguments: Any, **options: Any) -> None:
        launches[kernel] += 1
        launch(self, kernel, *arguments, **options)

    Kernels.launch = counted  # type: ignore[method-assign]
    return launches


def main() -> None:
    """Print a table for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of models, separated by commas; the long lines are 'line'")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--torus", type=int, metavar="SIDE", help="this model alone, on the device")
    parser.add_argument("--launches", action="store_true", help="count the kernels of each call")
    arguments = parser.parse_args()
    start = time.perf_counter()
    for file in (SEARCH, TOGETHER, COMPONENTS):
        graph_kernels(file, np.empty(0, dtype=np.int32))
    print(f"kernels compiled or loaded in {time.perf_counter() - start:.2f} s")
    launches = count_launches() if arguments.launches else Counter()
    if arguments.torus:
        alone(*torus(arguments.torus), arguments.repeat, launches)
        return
    for name, model, goal in instances(arguments.only):
        there = on_device(model)
        print(f"{name}: {model}")
        here_calls = operations(model, goal, model.labels["init"])
        there_calls = operations(there, cp.asarray(goal), cp.asarray(model.labels["init"]))
        for what, call in there_calls.items():
            launches.clear()
            found = call()
            counts = dict(launches)
            start = time.perf_counter()
            expected = here_calls[what]()
            cpu = 1000 * (time.perf_counter() - start)
            # Any choice that leads closer makes an attractor; components may be in any order with successors first.
            verdict = "" if what == "attractor" else "same" if same(found, expected) else "DIFFERENT"
            if what == "SCC" and not in_order(model, cp.asnumpy(found.component)):
                verdict = "NOT IN ORDER"
            del found
            device = best(call, arguments.repeat)
            print(f"   {what:10} {cpu:9.2f} {device:9.2f}  x{cpu / device:6.1f}  {verdict}  {counts or ''}", flush=True)


if __name__ == "__main__":
    main()
