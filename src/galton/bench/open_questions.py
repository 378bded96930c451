"""What the papers leave open, measured: one experiment for each question; ``docs/open-questions`` has the answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .child import measured
from .decisions import COIN, COLLIDE, CSMA, LEADER, shares
from .experiment import Cell, Experiment, Options, Row
from .families import FAMILIES
from .layouts import equations_of, formats_of
from .questions import Instance, ask, why_not

if TYPE_CHECKING:
    from ..model.values import Floats

__all__ = ["EXPERIMENTS"]

PROVED: dict[str, Any] = {"method": None, "max_iterations": None}  # the default method, which proves its answer
WARP = 32
SECTOR = 32  # bytes that the memory of a device delivers at once
SWEEPS = 100  # that are timed together
TIMES = 3  # of which the fastest counts


def _chosen(options: Options, small: dict[str, int], paper: dict[str, int]) -> list[Instance]:
    sizes = small if options.sizes == "small" else paper
    return [Instance(FAMILIES[family], size) for family, size in sizes.items()]


SOME = {"herman": 7, "tandem": 31, "polling": 8}
MEDIUM = {"herman": 13, "cluster": 122, "tandem": 255, "kanban": 4, "fms": 5, "polling": 15}


def _cells(found: dict[str, dict[str, Any]], column: str = "seconds") -> tuple[dict[str, Cell], str]:
    """A number of each answer by its name, and why there is none."""
    known = {name: one[column] for name, one in found.items() if "error" not in one}
    return known, "; ".join(f"{name}: {one['error']}" for name, one in found.items() if "error" in one)


# Jacobi or BiCGStab.

METHODS: dict[str, dict[str, Any]] = {
    "jacobi_cpu_s": {"device": "cpu"},
    "bicgstab_cpu_s": {"device": "cpu", "method": "bicgstab"},
    "components_jacobi_cpu_s": {"device": "cpu", "method": "topological:jacobi"},
    "components_bicgstab_cpu_s": {"device": "cpu", "method": "topological:bicgstab"},
    "proved_cpu_s": {"device": "cpu", **PROVED},
    "jacobi_cuda_s": {"device": "cuda"},
    "bicgstab_cuda_s": {"device": "cuda", "method": "bicgstab"},
    "proved_cuda_s": {"device": "cuda", **PROVED},
}


def _methods(options: Options) -> Iterator[Row]:
    """The time of the check alone, by method and place."""
    for instance in _chosen(options, {"herman": 7, "tandem": 31}, MEDIUM):
        one_component = instance.question.model not in ("herman", "polling")  # long-run averages: nothing to order
        asked = {at: how for at, how in METHODS.items() if not (one_component and at.startswith("components"))}
        found = {name: ask(instance, options, **choices) for name, choices in asked.items()}
        ours, skipped = _cells(found, "check_s")
        for name in ("jacobi_cpu_s", "bicgstab_cpu_s", "bicgstab_cuda_s"):
            if "error" not in found[name]:
                ours[name.replace("_s", "_sweeps")] = found[name]["iterations"]
        yield Row(instance=instance.name, measured=ours, skipped=skipped)


# Orders, and compact values.


def counted(path: str, constants: dict[str, int], orders: list[str]) -> dict[str, Any]:
    """What the threads of a warp ask for together, in CSR with a thread a row, in each order of the states.

    ``sectors`` of x that a load touches, and ``values``, how many different ones it finds: the means over all loads.
    """
    import numpy as np

    from ..programs import load

    model = load(Path(path), **constants).build(device="cpu")
    found: dict[str, Any] = {"seconds": 0.0}
    for order in orders:
        equations, _ = equations_of(model, FAMILIES[Path(path).stem], order)
        lengths = np.diff(equations.starts)
        row = np.repeat(np.arange(equations.size), lengths)
        place = np.arange(len(row)) - np.repeat(equations.starts[:-1], lengths)
        loads = (row // WARP) * np.int64(lengths.max()) + place
        values = np.unique(equations.values[:], return_inverse=True)[1]
        each: dict[str, Any] = {"sectors": equations.columns // (SECTOR // 8), "values": values}
        all_loads = len(np.unique(loads))
        found[order] = {
            name: len(np.unique(loads * np.int64(asked.max() + 1) + asked)) / all_loads for name, asked in each.items()
        }
    return found


ORDERS = ("canonical", "bfs")


def _orders(options: Options) -> Iterator[Row]:
    """Seconds of a sweep with plain and with compact values in two orders, and what explains them."""
    for instance in _chosen(options, SOME, MEDIUM):
        question = instance.question
        path = str(options.models / f"{question.model}.prism")
        one = measured(f"{__name__}:counted", options, path=path, constants=instance.constants, orders=list(ORDERS))
        ours: dict[str, Cell] = {}
        skipped = []
        if "error" in one:
            skipped.append(one["error"])
        else:
            ours = {f"{order}_{name}": one[order][name] for order in ORDERS for name in ("sectors", "values")}
        for compact in (False, True):
            held = formats_of(instance, options, ["csr"], list(ORDERS), compact=compact)
            if "error" in held:
                skipped.append(held["error"])
                continue
            for order in ORDERS:
                cell = held[f"csr {order}"]
                if "solve_s" in cell:
                    name = f"{order}_{'compact' if compact else 'plain'}_us"
                    ours[name] = 1e6 * cell["solve_s"] / cell["sweeps"]
        yield Row(instance=instance.name, measured=ours, skipped="; ".join(skipped))


# Zeros in vectors, and how large a matrix is.


def swept(path: str, constants: dict[str, int], device: str, forms: list[str], vectors: list[str]) -> dict[str, Any]:
    """Seconds of a sweep, by format and by what it reads, and the fewest bytes that it has to move on a device."""
    from dataclasses import replace
    from time import perf_counter

    from ..backend.protocol import Span, Stop
    from ..device.arrays import is_on_host, namespace
    from ..programs import load

    model = load(Path(path), **constants).build(device=device)
    equations, _ = equations_of(model, FAMILIES[Path(path).stem], "canonical")
    xp, size = namespace(equations.columns), equations.size
    found: dict[str, Any] = {"seconds": 0.0, "n": size, "placement": model.placement.backend}
    for form in forms:
        system: Any = equations.system if is_on_host(equations.columns) else replace(equations, format=form).system
        for name in vectors:
            numbers = xp.asarray(_vector(name, size))
            seconds = []
            for _ in range(TIMES):
                x, copy = numbers.copy(), xp.empty(size)
                start = perf_counter()
                system.jacobi(x, copy, None, Span(0, size, 1), Stop(SWEEPS, -1.0))
                seconds.append((perf_counter() - start) / SWEEPS)
            found[f"{form} {name}"] = min(seconds)
        if not is_on_host(equations.columns):
            found[f"{form} bytes"] = system.bytes_per_sweep
    return found


def _vector(name: str, size: int) -> Floats:
    """Numbers that stay what they are while sweeps go on: zero stays zero, and tiny stays tiny."""
    import numpy as np

    numbers = np.random.default_rng(1).uniform(0.5, 1.0, size)
    return numbers * {"numbers": 1.0, "zeros": 0.0, "subnormal": 1e-310}[name]


def _swept(instance: Instance, options: Options, forms: list[str], vectors: list[str]) -> dict[str, Any]:
    place = "cpu" if why_not(options) else "cuda"
    path = str(options.models / f"{instance.question.model}.prism")
    return measured(
        f"{__name__}:swept",
        options,
        path=path,
        constants=instance.constants,
        device=place,
        forms=forms if place != "cpu" else ["csr"],
        vectors=vectors,
    )


VECTORS = ("numbers", "zeros", "subnormal")


def _zeros(options: Options) -> Iterator[Row]:
    """Microseconds of a sweep over balance equations, which keep zeros, in CSR and by a segmented scan."""
    forms = ["csr", "segmented"]
    for instance in _chosen(options, {"tandem": 31, "kanban": 2}, {"tandem": 1023, "cluster": 320, "kanban": 5}):
        found = _swept(instance, options, forms, list(VECTORS))
        ours = {f"{at.replace(' ', '_')}_us": 1e6 * found[at] for at in found if at.split()[-1] in VECTORS}
        yield Row(instance=instance.name, measured=ours, skipped=found.get("error", ""))


LARGER = (63, 127, 255, 511, 1023, 2047, 4095, 8191)


def _sizes(options: Options) -> Iterator[Row]:
    """A sweep over one family from small to large."""
    for size in LARGER[:2] if options.sizes == "small" else LARGER:
        instance = Instance(FAMILIES["tandem"], size)
        found = _swept(instance, options, ["sliced"], ["numbers"])
        ours: dict[str, Cell] = {}
        if "error" not in found:
            form = "csr" if found["placement"] == "cpu" else "sliced"
            seconds = found[f"{form} numbers"]
            ours = {"n": found["n"], "sweep_us": 1e6 * seconds, "ns_per_state": 1e9 * seconds / found["n"]}
            if f"{form} bytes" in found:
                ours["tb_per_s"] = found[f"{form} bytes"] / seconds / 1e12
        yield Row(instance=instance.name, measured=ours, skipped=found.get("error", ""))


# A second device.


def halo(path: str, constants: dict[str, int]) -> dict[str, Any]:
    """How many numbers two halves of the equations need of each other, of how many, and the bytes of both halves."""
    import numpy as np

    from ..programs import load
    from .storage import bytes_needed

    model = load(Path(path), **constants).build(device="cpu")
    equations, _ = equations_of(model, FAMILIES[Path(path).stem], "canonical")
    cut = int(np.searchsorted(equations.starts, equations.starts[-1] // 2))
    middle = equations.starts[cut]
    low, high = equations.columns[:middle], equations.columns[middle:]
    exchanged = len(np.unique(low[low >= cut])) + len(np.unique(high[high < cut]))
    moved = bytes_needed(equations, "csr", compact=True) + 16 * equations.size
    return {"seconds": 0.0, "n": equations.size, "exchanged": exchanged, "moved": moved}


def _devices(options: Options) -> Iterator[Row]:
    """The exchange of two halves beside the bytes of a sweep, and the time of sweeps in two parts on one device."""
    larger = {"herman": 15, "cluster": 320, "tandem": 1023, "kanban": 5, "fms": 7, "polling": 17}
    for instance in _chosen(options, SOME, larger):
        path = str(options.models / f"{instance.question.model}.prism")
        parts = measured(f"{__name__}:halo", options, path=path, constants=instance.constants)
        one, two = (ask(instance, options, device=device) for device in ("cuda", "cuda:0,0"))
        ours: dict[str, Cell] = {}
        if "error" not in parts:
            share = 8 * parts["exchanged"] / parts["moved"]
            ours = {"n": parts["n"], "exchanged": parts["exchanged"], "exchanged_bytes_%": 100 * share}
        for name, found in (("one_part_us", one), ("two_parts_us", two)):
            if "error" not in found:
                ours[name] = 1e6 * found["solve_s"] / found["iterations"]
        skipped = {found["error"]: None for found in (parts, one, two) if "error" in found}
        yield Row(instance=instance.name, measured=ours, skipped="; ".join(skipped))


# Questions as users ask them: the default method.

COIN4 = Instance(COIN, 6, (("K", 4),), "coin6_4")
CSMA4 = Instance(CSMA, 3, (("K", 4),), "csma3_4")
LARGE = [
    Instance(FAMILIES["herman"], 15),
    Instance(FAMILIES["polling"], 17),
    COIN4,
    Instance(LEADER, 7, (), "leader7"),
    CSMA4,
    Instance(COLLIDE, 6, (("COL", 6),), "collide6_6"),
]
LITTLE = [Instance(FAMILIES["herman"], 9), Instance(COIN, 2, (("K", 2),), "coin2_2")]
LONG_RUN = [Instance(FAMILIES[family], size) for family, size in {"tandem": 1023, "fms": 7, "cluster": 320}.items()]


def _single(options: Options) -> Iterator[Row]:
    """Seconds of the check in double precision, and with sweeps in single precision before."""
    for instance in LITTLE if options.sizes == "small" else LARGE:
        found = {
            "double_s": ask(instance, options, device="cuda", **PROVED),
            "single_s": ask(instance, options, device="cuda", single=True, **PROVED),
        }
        ours, skipped = _cells(found, "check_s")
        yield Row(instance=instance.name, measured=ours, skipped=skipped)


def _shares(options: Options) -> Iterator[Row]:
    """Where the time goes, in per cent, from the program to the proved answer."""
    for instance in LITTLE if options.sizes == "small" else [*LARGE, *LONG_RUN]:
        for device in ("cpu", "cuda"):
            found = ask(instance, options, device=device, **PROVED)
            ours: dict[str, Cell] = {}
            if "error" not in found:
                ours = {"n": found["n"], "seconds": found["seconds"], **shares(found)}
            yield Row(instance=f"{instance.name}, {device}", measured=ours, skipped=found.get("error", ""))


def _crossing_members(options: Options) -> Iterator[Instance]:
    if options.sizes == "small":
        yield from LITTLE
        return
    sizes = {
        "herman": (9, 11, 13, 15, 17),
        "tandem": (63, 255, 511, 1023),
        "kanban": (3, 4, 5),
        "polling": (12, 15, 18),
    }
    for family, members in sizes.items():
        yield from (Instance(FAMILIES[family], size) for size in members)
    for backoff in (3, 4, 5, 6):
        yield Instance(COLLIDE, backoff, (("COL", backoff),), f"collide{backoff}_{backoff}")
    for coins in (2, 4, 6):
        yield Instance(COIN, coins, (("K", 4),), f"coin{coins}_4")


def _crossing(options: Options) -> Iterator[Row]:
    """Seconds of the whole process on each place, and which ``auto`` takes."""
    for instance in _crossing_members(options):
        found = {place: ask(instance, options, device=place, **PROVED) for place in ("cpu", "cuda", "auto")}
        ours, skipped = _cells(found, "process_s")
        known = next((one for one in found.values() if "error" not in one), {})
        ours = {"n": known.get("n"), **ours}
        if "error" not in found["auto"]:
            ours["auto_takes"] = found["auto"]["placement"]["backend"]
        yield Row(instance=instance.name, measured=ours, skipped=skipped)


ALONE = "Times are those of the check alone, after the model is built."

EXPERIMENTS = [
    Experiment(
        name="open-methods",
        title="Jacobi or BiCGStab: with dot products in parallel, and component by component",
        run=_methods,
        notes=(ALONE, "000 asks which wins where. proved: Galton's default, whose bounds are proved."),
    ),
    Experiment(
        name="open-orders",
        title="Why breadth-first numbering hurts compact values, and what herman gains by it",
        run=_orders,
        notes=(
            "003 leaves both open. sectors: of 32 bytes of x that a load of a warp touches; values: how many different "
            "numbers of the matrix it finds; the means over all loads, in CSR with a thread a row. us: of a sweep.",
        ),
    ),
    Experiment(
        name="open-zeros",
        title="Whether zeros in vectors favour the segmented scan",
        run=_zeros,
        notes=(
            "002 believes so. Balance equations have no constants, so that zeros stay zeros and what is below the "
            "normal numbers stays there. us: of a sweep.",
        ),
    ),
    Experiment(
        name="open-devices",
        title="When a second device pays: what two halves exchange",
        run=_devices,
        notes=(
            "exchanged: numbers that a half needs of the other, after each sweep; in per cent of the bytes that a "
            "sweep has to move. The parts lie on one device here, which tells what splitting costs, and not what a "
            "second device gains.",
        ),
    ),
    Experiment(
        name="open-sizes",
        title="What very large matrices lose: a sweep over tandem, from small to large",
        run=_sizes,
        notes=("002 sees a slight loss. tb per s: the fewest bytes that a sweep has to move, by its time.",),
    ),
    Experiment(
        name="open-single",
        title="Whether single precision pays where a proof makes it safe",
        run=_single,
        notes=(ALONE, "Answers are proved in double precision in both columns."),
    ),
    Experiment(
        name="open-shares",
        title="The solver's share when everything is on the device",
        run=_shares,
        notes=("Times are from the program that was read to the proved answer.",),
    ),
    Experiment(
        name="open-crossing",
        title="Where CPU and device cross, and whether auto finds it",
        run=_crossing,
        notes=("Seconds of a whole process, Python's start and the device's included; kernels are compiled once.",),
    ),
]
