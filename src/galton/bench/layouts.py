"""Document 003: the formats of a matrix on a device, the numbering of its states, and compact or plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .child import measured
from .experiment import Cell, Experiment, Options, Row
from .families import FAMILIES, by_size, members, states_and_sweeps
from .questions import MOST, Instance, Question, why_no_device, why_not

if TYPE_CHECKING:
    from ..backend.protocol import Span
    from ..model.sparse import Model
    from ..model.values import Floats
    from ..solve.equations import Equations
    from ..solve.settings import Settings

__all__ = ["EXPERIMENTS", "equations_of", "formats_of", "laid_out", "megabytes"]

ORDERS = {"orig": "canonical", "bfs": "bfs"}
STANDARD = {"": "csr"}
SEGMENTS = {"wl": "sliced", "hwl": "half-sliced"}
MB = 2**20  # as in the paper
LEFT = 1e-4  # of an unknown: what a solution may violate its equation by


# What is measured, in a process of its own.


def laid_out(
    path: str, constants: dict[str, int], compact: bool, formats: list[str], orders: list[str], device: str, times: int
) -> dict[str, Any]:
    """The bytes of every format in each order, and the seconds of the method in it: the fastest of so many times.

    On the CPU only CSR is solved in; how many bytes the others would take on a device is counted all the same.
    """
    from ..device.arrays import is_on_host
    from ..model.values import Values
    from ..programs import load

    question = FAMILIES[Path(path).stem]
    model = load(Path(path), **constants).build(device=device)
    if not compact:
        model = replace(model, values=Values(plain=model.values.array()))
    placement = {"placement": model.placement.backend, "reason": model.placement.reason}
    found: dict[str, Any] = {"seconds": 0.0, "n": model.n_states, **placement}
    for order in orders:
        equations, start = equations_of(model, question, order)
        measure = _on_host if is_on_host(equations.columns) else _on_device
        for form in formats:
            cell = measure(equations, start, question, form, compact, times)
            found[f"{form} {order}"] = {**cell, "size": equations.size}
            found["seconds"] += cell.get("solve_s", 0.0)
    return found


def equations_of(model: Model, question: Question, order: str) -> tuple[Equations, Floats | None]:
    """The equations of a question in an order of their unknowns; and where to start, if that is not at 0."""
    import numpy as np

    from ..checking.unbounded.rewards import rewards_by_row
    from ..device.arrays import is_on_host, namespace
    from ..graph import bottom_components, zero_and_one
    from ..reduce.balance import balance
    from ..reduce.restriction import restrict_on_device

    reward = None
    if question.model == "herman":
        goal = model.labels["stable"]
        known, reward = namespace(goal).zeros(model.n_states), rewards_by_row(model, model.rewards["steps"])
        open_states = ~goal
    elif question.model == "polling":
        no, yes = zero_and_one(model, ~model.labels["served2"], model.labels["served1"], None)
        known, open_states = yes.astype(np.float64), ~(no | yes)
    else:
        rows = balance(model, bottom_components(model), _settings(question, order))
        return rows.equations, rows.start
    if is_on_host(model.columns):
        return _open_on_host(model, open_states, known, reward, order), None
    return restrict_on_device(model, open_states, known, reward=reward, order=order), None


def _open_on_host(model: Model, open_states: Any, known: Floats, reward: Floats | None, order: str) -> Equations:
    """As a device numbers them: all open states together, by the values of their variables or breadth first."""
    import numpy as np

    from ..reduce.renumbering import places
    from ..reduce.restriction import restrict

    members = np.flatnonzero(open_states).astype(np.int32)
    equations = restrict(model, members, known, reward=reward)
    if order == "canonical":
        return equations
    roots = equations.origin.number[model.initial]
    new = places(order, None, equations.starts, equations.columns, roots[roots >= 0])
    return restrict(model, members[np.argsort(new)], known, reward=reward)


def _settings(question: Question, order: str) -> Settings:
    from ..solve.settings import Settings

    return Settings(method=question.method, max_iterations=MOST, order=order)


def _on_host(
    equations: Equations, start: Floats | None, question: Question, form: str, compact: bool, times: int
) -> dict[str, Any]:
    from .storage import bytes_needed

    found: dict[str, Any] = {"bytes": bytes_needed(equations, form, compact=compact)}
    if form == "csr":
        found |= _solved(equations, start, question, equations.system, times)
    return found


def _on_device(
    equations: Equations, start: Floats | None, question: Question, form: str, compact: bool, times: int
) -> dict[str, Any]:
    from ..backend.cuda.layout import csr, lay_out
    from ..backend.cuda.system import System

    values, scale, constant = equations.values, equations.scale, equations.constant
    codes = values.plain if values.dictionary is None else values.index
    rows = csr(None, equations.starts, equations.columns, codes, values.dictionary)
    layout = lay_out(rows, form, scale=scale, constant=constant, compact=compact)
    # Numbers of rows are plain where those of the matrix are; slices have them inside.
    system = System(layout, scale, constant, 0, compact=compact or layout.source is not None)
    return {"bytes": system.nbytes, **_solved(equations, start, question, system, times)}


def _solved(
    equations: Equations, start: Floats | None, question: Question, system: Any, times: int
) -> dict[str, float | int]:
    """Seconds and sweeps of the method alone: the matrix is where it belongs, and kernels are compiled."""
    from ..backend.protocol import Span, Stop
    from ..model.errors import NumericError
    from ..solve.equations import Segment
    from ..solve.methods import method
    from ..solve.methods.base import Job

    best: dict[str, float | int] = {}
    for _ in range(times):
        job = Job(replace(equations, format="csr"), _settings(question, "canonical"), method(question.method))
        job.system = system
        if start is not None:
            job.x[:] = start
        system.jacobi(job.x.copy(), job.copy, None, Span(0, equations.size, job.threads), Stop(2, 0.0), omega=1.0)
        begin = perf_counter()
        job.run(Segment(0, equations.size, False))
        seconds = perf_counter() - begin
        # By the rows as they were made, whatever format was swept over.
        left = _largest_defect(equations, job.x, Span(0, equations.size, job.threads))
        if not left <= LEFT:
            raise NumericError(f"after {job.sweeps:,} sweeps an equation is off by {left:.2g} of its unknown")
        if not best or seconds < best["solve_s"]:
            best = {"solve_s": seconds, "sweeps": job.sweeps}
    return best


def _largest_defect(equations: Equations, x: Floats, span: Span) -> float:
    """The largest |F(x) - x| / x of a chain, where x has all its digits: tandem's rarest states are below 1e-308."""
    from ..device.arrays import greatest, namespace
    from ..model.rounding import FAINT

    values = namespace(x).empty_like(x)
    equations.prover.row_values(x, values, span)
    clear = x > FAINT
    return greatest(abs(values[clear] - x[clear]) / x[clear])


# The tables.


def formats_of(
    instance: Instance, options: Options, formats: list[str], orders: list[str], *, compact: bool
) -> dict[str, Any]:
    """What :func:`laid_out` finds for an instance."""
    question = instance.question
    place = "cpu" if why_not(options) else "cuda" if options.device == "auto" else options.device  # small models too
    # On a CPU the bytes of the paper's instances are soon counted, and an hour is not enough to solve all of them.
    times = options.repeat if place != "cpu" or options.sizes == "small" else 0
    return measured(
        f"{__name__}:laid_out",
        replace(options, repeat=1),
        path=str(options.models / f"{question.model}.prism"),
        constants={question.constant: instance.size},
        compact=compact,
        formats=formats,
        orders=orders,
        device=place,
        times=times,
    )


def megabytes(cell: dict[str, Any]) -> float:
    """As the paper counts: with the two vectors of Jacobi's method."""
    return float((cell["bytes"] + 16 * cell["size"]) / MB)


def _table(name: str, shapes: dict[str, str], *, compact: bool) -> Callable[[Options], Iterator[Row]]:
    """A row for each order and format. Factors are beside the standard format in the original order."""

    def run(options: Options) -> Iterator[Row]:
        for family in FAMILIES:
            for instance, theirs in members(family, by_size(name, model=family), options):
                formats = [*STANDARD.values(), *SEGMENTS.values()]
                found = formats_of(instance, options, formats, list(ORDERS.values()), compact=compact)
                for order, numbering in ORDERS.items():
                    for shape, form in shapes.items():
                        words = [instance.name, shape.upper(), "" if order == "orig" else "BFS"]
                        yield _row(
                            " ".join(word for word in words if word),
                            _of_paper(theirs, order, shape),
                            found,
                            f"{form} {numbering}",
                        )

    return run


def _of_paper(row: dict[str, Cell], order: str, shape: str) -> dict[str, Cell]:
    """What the paper prints for an order and a format; its largest factor belongs to the faster format."""
    if not row:
        return {}
    if not shape:
        return {"mem_mb": row["mem_mb"], "time_s": row[f"{order}_time_s"], **_factor(row["factor"], order == "bfs")}
    times = {other: float(str(row[f"{order}_{other}_time_s"])) for other in SEGMENTS}
    return {
        "mem_mb": row[f"{order}_{shape}_mem_mb"],
        "time_s": row[f"{order}_{shape}_time_s"],
        **_factor(row[f"{order}_factor_max"], times[shape] == min(times.values())),
    }


def _factor(factor: Cell, is_of_this_row: bool) -> dict[str, Cell]:
    return {"factor": factor} if is_of_this_row else {}


def _row(name: str, theirs: dict[str, Cell], found: dict[str, Any], key: str) -> Row:
    if "error" in found:
        return Row(instance=name, printed=theirs, skipped=found["error"])
    cell = found[key]
    ours: dict[str, Cell] = {"bytes": cell["bytes"], "mem_mb": megabytes(cell)}
    on_device = found["placement"] != "cpu"
    if "solve_s" in cell:
        ours["time_s" if on_device else "cpu_time_s"] = cell["solve_s"]
        ours["our_factor" if on_device else "our_cpu_factor"] = found["csr canonical"]["solve_s"] / max(
            cell["solve_s"], 1e-9
        )
    skipped = "" if on_device else why_no_device() or found["reason"]
    return Row(instance=name, printed=theirs, measured=ours, skipped=skipped)


MEMORY = (
    "bytes: the matrix in its format with all numbers of rows, exactly. Memory: the same with the two vectors, in "
    "2^20 bytes. What is printed comes to that as well, but for 8 bytes a row: in CSR ours have a constant more, in "
    "slices no diagonal beside them."
)
SOLVER = (
    "Seconds are those of the method alone, on a device: the matrix is there, kernels are compiled. Factors are beside "
    "the standard format in the original order."
)
SLICES = (
    "Slices also have the scale and the constant of each row in them, and the last one is padded; the CSR that they "
    "were made from is kept beside them for other questions, and is not counted."
)
COMPACT = (
    "Compact values are codes of one or two bytes beside the four of a column; what is printed comes to four bytes "
    "for both."
)
CPU = "On a CPU there is CSR alone: its seconds are told at small sizes, and bytes are those that a device would need."
POLLING = (
    "polling and herman have rows for the states alone that graph analysis leaves open; the printed ones have all."
)
KANBAN = "kanban is solved by JOR with 0.9: Jacobi's method swings for ever."

EXPERIMENTS = [
    Experiment(
        name="003-table-1",
        title="States and sweeps of Jacobi's method",
        run=states_and_sweeps("003-table-1", "model"),
        notes=(KANBAN,),
    ),
    Experiment(
        name="003-table-2",
        title="Standard format, plain values: original and breadth-first numbering",
        run=_table("003-table-2", STANDARD, compact=False),
        notes=(MEMORY, SOLVER, CPU, KANBAN, POLLING),
    ),
    Experiment(
        name="003-table-3",
        title="Full-warp and half-warp formats, plain values, both numberings",
        run=_table("003-table-3", SEGMENTS, compact=False),
        notes=(MEMORY, SOLVER, SLICES, CPU, KANBAN, POLLING),
    ),
    Experiment(
        name="003-table-4",
        title="Standard format, compact values: original and breadth-first numbering",
        run=_table("003-table-4", STANDARD, compact=True),
        notes=(MEMORY, SOLVER, COMPACT, CPU, KANBAN, POLLING),
    ),
    Experiment(
        name="003-table-5",
        title="Full-warp and half-warp formats, compact values, both numberings",
        run=_table("003-table-5", SEGMENTS, compact=True),
        notes=(MEMORY, SOLVER, SLICES, COMPACT, CPU, KANBAN, POLLING),
    ),
]
