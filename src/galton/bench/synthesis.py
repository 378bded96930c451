"""Document 001: parameter synthesis, sequentially and on a device with one or many regions at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from .experiment import Cell, Experiment, Found, Options, Row, Sizes, printed
from .questions import ask_there, import_all
from .synth_cases import CASES, SEQUENTIAL, Case

__all__ = ["EXPERIMENTS", "member"]

# Constants of a member of each family that takes a second, and of one that is larger than those of the paper.
OTHER_MEMBERS: dict[str, dict[str, str]] = {
    "small": {
        "GFS 1": "M=36,copies=3",
        "GFS 2, maximum": "M=36,copies=3",
        "GFS 2, threshold": "M=36,copies=3",
        "SIR (100,120)": "S0=38,I0=2,R0=0",
        "SIR (100,200)": "S0=47,I0=3,R0=0",
        "signalling": "least=27,most=33,usual=30,steep=4,signal=15,helped=true",
        "signalling, larger": "least=26,most=34,usual=30,steep=4,signal=15,helped=true",
        "approximate majority": "A0=6,B0=2,joined=false",
        "cluster": "N=8",
    },
    "beyond": {
        "GFS 1": "M=120,copies=3",
        "GFS 2, maximum": "M=120,copies=3",
        "GFS 2, threshold": "M=120,copies=3",
        "SIR (100,200)": "S0=395,I0=5,R0=0",
        "signalling, larger": "least=15,most=45,usual=30,steep=4,signal=15,helped=true",
        "approximate majority": "A0=40,B0=16,joined=false",
        "cluster": "N=96",
    },
}
LOOSER = 2  # times the tolerance, for the small members


def member(name: str, sizes: Sizes) -> Case | None:
    """A problem as it is printed, or about a smaller or a larger model; None where there is no larger one."""
    (case,) = (case for case in CASES if case.name == name)
    if sizes == "paper":
        return case
    constants = OTHER_MEMBERS[sizes].get(name)
    if constants is None:
        return None
    tolerance = case.tolerance * (LOOSER if sizes == "small" else 1)
    return replace(case, constants=constants, tolerance=tolerance)


def solve(
    name: str,
    sizes: Sizes,
    models: str,
    device: str,
    threads: int | None = None,
    format: str | None = None,
    together: int | None = None,
) -> dict[str, Any]:
    """One problem in this process, from the file to the regions."""
    from .synth import run

    case = member(name, sizes)
    assert case is not None
    import_all(device)
    found = run(case, Path(models), device=device, format=format, together=together, threads=threads)
    regions = found.regions
    return {
        "seconds": found.seconds,
        "regions": len(regions.boxes),
        "looked_at": found.looked_at,
        "steps": int(regions.statistics["steps"]),
        "lumped": found.lumped,
        "complete": regions.complete,
        "placement": asdict(regions.placement) if regions.placement else None,
        "boxes": [(box.low, box.high, box.lower, box.upper, box.verdict) for box in regions.boxes],
    }


def ask(name: str, sizes: Sizes, options: Options, device: str, **choices: Any) -> dict[str, Any]:
    """One problem in a process of its own; ``error`` where it was not answered there."""
    return ask_there(
        f"{__name__}:solve", options, device, name=name, sizes=sizes, models=str(options.models), **choices
    )


def implementation(name: str, options: Options) -> dict[str, Any]:
    """What stands for a program of the paper: ``Java`` on one core, ``Csr4`` with four regions at a time, …"""
    if name == SEQUENTIAL:
        return {"device": "cpu", "threads": 1}
    parts = re.fullmatch(r"(Csr|Ell)(\d+)", name)
    assert parts, name
    device = options.device if options.device.startswith("cuda") else "cuda"
    return {"device": device, "format": parts[1].lower(), "together": int(parts[2])}


def _times(table: int, options: Options) -> Iterator[Row]:
    """A row for each program of the paper, and one for what Galton does by itself."""
    cells: dict[str, list[dict[str, Cell]]] = {}
    for row in printed(f"001-table-{table}"):
        cells.setdefault(str(row["experiment"]), []).append(row)
    cases = [case for case in CASES if case.table == table]
    runs: tuple[Sizes, ...] = ("paper", "beyond") if options.sizes == "beyond" else (options.sizes,)
    for sizes in runs:
        for case, rows in zip(cases, cells.values(), strict=True):
            if member(case.name, sizes):
                yield from _programs(case, sizes, rows, options)


def _programs(case: Case, sizes: Sizes, rows: list[dict[str, Cell]], options: Options) -> Iterator[Row]:
    sequential = 0.0
    title = case.name if sizes == "paper" else f"{case.name}, {sizes}"
    own: dict[str, Cell] = {"impl": "by itself"}
    for row in (*rows, own):
        name = str(row["impl"])
        how = {"device": options.device} if row is own else implementation(name, options)
        found = ask(case.name, sizes, options, **how)
        theirs: dict[str, Cell] = {}
        if sizes == "paper" and row is not own:
            theirs = {"time_s": row["time_s"], "speedup": row["speedup"], "regions": case.regions}
        instance = f"{title}: {'one core' if name == SEQUENTIAL else name}"
        if "error" in found:
            yield Row(instance=instance, printed=theirs, skipped=found["error"])
            continue
        if name == SEQUENTIAL:
            sequential = found["seconds"]
        ours: dict[str, Cell] = {"time_s": found["seconds"]}
        if sequential:
            ours["speedup"] = sequential / found["seconds"]
        ours |= {at: found[at] for at in ("regions", "looked_at", "steps")}
        ours["device"] = found["placement"]["backend"]
        yield Row(
            instance=instance, printed=theirs, measured=ours, skipped="" if found["complete"] else "stopped early"
        )


# Figure 3.

PANELS = ("GFS 1", "GFS 2, maximum", "GFS 2, threshold")
STATED: dict[str, dict[str, Cell]] = {
    "GFS 1": {"regions": 8, "true_from": 1.0},
    "GFS 2, maximum": {"regions": 24, "best_from": 1.2, "best_to": 1.23},
    "GFS 2, threshold": {"regions": 136},
}


def _panels(options: Options) -> Iterator[Row]:
    """The three problems of the figure: how many regions, and where they are true or best."""
    sizes: Sizes = "small" if options.sizes == "small" else "paper"
    for name in PANELS:
        case = member(name, sizes)
        assert case is not None
        theirs = STATED[name] if sizes == "paper" else {}
        found = ask(name, sizes, options, options.device)
        if "error" in found:
            yield Row(instance=name, printed=theirs, skipped=found["error"])
            continue
        boxes = found["boxes"]
        ours: dict[str, Cell] = {"regions": len(boxes), "time_s": found["seconds"]}
        if len(case.ranges) == 1:
            ours |= where(boxes)
        yield Row(instance=name, printed=theirs, measured=ours, data={"boxes": boxes, "property": case.prop})


def where(boxes: list[Any]) -> dict[str, Cell]:
    """Over one parameter: from where on all boxes are true, and from where to where the best ones are."""
    best = [(low[0], high[0]) for low, high, _, _, verdict in boxes if verdict == "optimal"]
    if best:
        return {"best_from": min(low for low, _ in best), "best_to": max(high for _, high in best)}
    doubtful = [high[0] for _, high, _, _, verdict in boxes if verdict != "true"]
    end = max(high[0] for _, high, _, _, _ in boxes)
    start = max(doubtful, default=min(low[0] for low, _, _, _, _ in boxes))
    return {"true_from": start if start < end else None}


def _draw_panels(found: Found, path: Path) -> None:
    """Each box: its parameters, its bounds as height, and what they say as colour."""
    from ..plot.matrix import figure, save
    from ..plot.regions import COLOURS

    drawn = figure(15, 5)  # which says what is missing where Matplotlib is
    from matplotlib.patches import Rectangle

    used: set[str] = set()
    for place, row in enumerate(found.rows):
        boxes = row.data.get("boxes", [])
        used |= {verdict for *_, verdict in boxes}
        panel = {"xlabel": "c_hard_re", "title": f"({'abc'[place]}) {row.instance}: {len(boxes)} regions"}
        if boxes and len(boxes[0][0]) == 2:
            space: Any = drawn.add_subplot(1, 3, place + 1, projection="3d")
            for low, high, lower, upper, verdict in boxes:
                corner, size = (*low, lower), (high[0] - low[0], high[1] - low[1], upper - lower)
                space.bar3d(*corner, *size, color=COLOURS[verdict], alpha=0.7, edgecolor="0.3", linewidth=0.2)
            space.set(**panel, ylabel="c_fail", zlabel="probability", zlim=(0, 1))
            space.locator_params(nbins=4)
            space.view_init(25, -120)
            continue
        axes = drawn.add_subplot(1, 3, place + 1)
        for (low,), (high,), lower, upper, verdict in boxes:
            patch = Rectangle((low, lower), high - low, max(upper - lower, 0.002))
            patch.set(facecolor=COLOURS[verdict], edgecolor="0.2", linewidth=0.4)
            axes.add_patch(patch)
        if ">=0.5" in row.data.get("property", ""):
            axes.axhline(0.5, color="0.3", linestyle="--", linewidth=1)
        axes.set(**panel, ylabel="probability", xlim=(0.5, 2), ylim=(-0.01, 1.02))
    labels: dict[str, list[str]] = {}  # true and optimal have one colour, and so have undecided and excluded
    for name in COLOURS:
        if name in used:
            labels.setdefault(COLOURS[name], []).append(name)
    keys = [Rectangle((0, 0), 1, 1, facecolor=colour, label=" or ".join(names)) for colour, names in labels.items()]
    drawn.suptitle(f"{found.experiment.name}: {found.experiment.title}", fontsize=11)
    drawn.legend(handles=keys, loc="outside lower center", ncols=max(1, len(keys)))
    save(drawn, path)


TITLES = {
    1: "the Google file system",
    2: "the epidemic",
    3: "signalling in cells",
    4: "approximate majority",
    5: "a cluster of workstations",
}
NOTES = (
    "One core stands for the sequential program in Java; Csr4 is the matrix in CSR with four regions at a time.",
    "By itself: all cores or a device, with a layout and a number of regions that Galton chooses.",
    "Galton splits a region along the parameter that matters most, and makes states one that behave alike: for one "
    "tolerance it has other regions, and often fewer states, than the paper.",
    "On a device, models whose vectors do not fit into a multiprocessor have room for eight regions at least; with "
    "fewer the rest of it is idle.",
    "Neither Storm nor PRISM synthesises parameters of time-bounded properties of CTMCs, so that there is no peer.",
)


def _notes(table: int) -> tuple[str, ...]:
    """What holds for all, and what the paper leaves open in the problems of a table."""
    own = dict.fromkeys(f"{case.name}: {case.note}." for case in CASES if case.table == table and case.note)
    return (*NOTES, *own)


EXPERIMENTS = [
    Experiment(
        name="001-figure-3",
        title="Regions of the Google file system with their bounds",
        run=_panels,
        draw=_draw_panels,
        notes=("The paper tells in words where the property holds and where it is best; so do the last columns.",),
    ),
    *(
        Experiment(
            name=f"001-table-{table}",
            title=f"Parameter synthesis: {title}",
            run=partial(_times, table),
            notes=_notes(table),
        )
        for table, title in TITLES.items()
    ),
]
