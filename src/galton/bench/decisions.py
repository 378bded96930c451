"""Document 004: value iteration for Markov decision processes, on a device and on the processor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .drawing import with_plain_numbers
from .experiment import Cell, Experiment, Found, Options, Row, printed
from .peers import peers_of
from .questions import Instance, Question, ask, disagreement

__all__ = ["EXPERIMENTS", "FAMILIES", "members"]

VALUE_ITERATION = "value-iteration"
COIN = Question("consensus", "N", 'Pmin=? [ F "finished" & "all_heads" ]', VALUE_ITERATION)
LEADER = Question("leader_async", "N", "Pmax=? [ F state1=4 ]", VALUE_ITERATION)
CSMA = Question("csma", "N", 'Pmin=? [ !"collision_max_backoff" U "all_delivered" ]', VALUE_ITERATION)
WLAN = Question("wlan", "MAX_BACKOFF", 'Pmin=? [ F "both_sent" ]', VALUE_ITERATION)
COLLIDE = Question("wlan", "MAX_BACKOFF", 'Pmax=? [ F "collided" ]', VALUE_ITERATION)


@dataclass(frozen=True)
class Family:
    """A case study: where it is printed, which question, and its members that are small or larger than those printed.

    Attributes
    ----------
    second
        The constant behind the underscore of a name, or one that is the same for all.
    sequential, standard
        The numbers of the figures with the tables; the plots come after them.
    """

    name: str
    question: Question
    second: str
    sequential: int
    standard: int
    small: tuple[str, ...]
    beyond: tuple[str, ...] = ()

    def instance(self, example: str) -> Instance:
        """A member by the name that the thesis gives it."""
        first, _, second = example.lstrip("abcdefghijklmnopqrstuvwxyz").partition("_")
        others = ((self.second, int(second or 0)),) if self.second else ()
        return Instance(
            self.question, int(first), others, example if example.startswith(self.name) else f"collide{example}"
        )


FAMILIES = (
    Family("coin", COIN, "K", 12, 14, ("coin2_2", "coin2_4", "coin2_6"), ("coin6_8", "coin8_4")),
    Family("leader", LEADER, "", 16, 18, ("leader3", "leader4", "leader5"), ("leader9",)),
    Family("csma", CSMA, "K", 20, 22, ("csma2_2", "csma2_4"), ("csma4_2", "csma3_6")),
    Family("wlan", WLAN, "COL", 24, 29, ("wlan2",)),
    Family("wlan_collide", COLLIDE, "COL", 26, 31, ("0_2", "1_4", "2_2"), ("6_8", "6_10")),
)


def members(family: Family, options: Options, figure: int) -> Iterator[tuple[Instance, dict[str, Cell]]]:
    """The instances to measure, with what is printed for each."""
    cells = {str(row["example"]): row for row in printed(f"004-figure-{figure}")}
    chosen = family.small if options.sizes == "small" else tuple(cells)
    for example in (*chosen, *(family.beyond if options.sizes == "beyond" else ())):
        row = cells.get(example, {})
        theirs: dict[str, Cell] = {at: cell for at, cell in row.items() if at != "example" and cell is not None}
        yield family.instance(example), theirs


def on_host(instance: Instance, options: Options, *, sequential: bool) -> dict[str, Any]:
    """Component by component on one core, or all unknowns together on all cores."""
    how = {"method": f"topological:{VALUE_ITERATION}", "threads": 1} if sequential else {}
    return ask(instance, options, device="cpu", **how)


def on_device(instance: Instance, options: Options) -> dict[str, Any]:
    """All of it on the device: building, analysing and solving."""
    return ask(instance, options, device=options.device if options.device.startswith("cuda") else "cuda")


def shares(found: dict[str, Any]) -> dict[str, Cell]:
    """The parts of the time, in per cent: building, the graph and the equations, and value iteration."""
    analysis = found["check_s"] - found["solve_s"]
    parts = {"build_%": found["build_s"], "graph_%": analysis, "solve_%": found["solve_s"]}
    return {name: 100 * seconds / found["seconds"] for name, seconds in parts.items()}


def _compared(family: Family, options: Options, *, sequential: bool) -> Iterator[Row]:
    """Times on the processor and on the device, and where the time goes."""
    for instance, theirs in members(family, options, family.sequential if sequential else family.standard):
        host, device = on_host(instance, options, sequential=sequential), on_device(instance, options)
        skipped = [
            f"{where}: {found['error']}" for where, found in (("cpu", host), ("cuda", device)) if "error" in found
        ]
        ours: dict[str, Cell] = {}
        known = next((found for found in (device, host) if "error" not in found), None)
        if known:
            ours |= {"states": known["n"], "transitions": known["transitions"]}
            ours["transitions_per_state"] = known["transitions"] / known["n"]
        if "error" not in host:
            ours["cpu_time_ms"] = 1000 * host["seconds"]
        if "error" not in device:
            ours["cuda_time_ms"] = 1000 * device["seconds"]
        if len(ours) == 5:
            ours["factor"] = host["seconds"] / device["seconds"]
        if known:
            ours |= shares(known) | {"shares_of": "device" if known is device else "processor"}
        peers, peers_wrong = peers_of(instance, options)
        ours |= peers
        wrong = "; ".join(filter(None, (disagreement(host, device), peers_wrong)))
        yield Row(instance=instance.name, printed=theirs, measured=ours, skipped="; ".join(skipped), wrong=wrong)


def _all_members(options: Options) -> Iterator[Row]:
    """Figure 28: the rows of all case studies, beside the standard method."""
    for family in FAMILIES:
        yield from _compared(family, options, sequential=False)


def _facts(options: Options) -> Iterator[Row]:
    """Numbers that the text of the thesis tells."""
    small = options.sizes == "small"
    largest_coin, largest_ring = ("coin2_6", "leader5") if small else ("coin8_2", "leader8")
    largest_lan, largest_csma = ("wlan2", "csma2_4") if small else ("wlan6", "csma3_4")
    coin, leader, csma, wlan, _ = FAMILIES
    facts: list[tuple[str, Family, str, float, Callable[[dict[str, Any]], float]]] = [
        ("part of the matrix that is not 0", coin, largest_coin, 1.0847e-7, lambda f: f["transitions"] / f["n"] ** 2),
        ("part of the time for components", coin, largest_coin, 0.2, _components),
        ("part of the time for components", leader, largest_ring, 0.2, _components),
        ("part of the time for solving", wlan, largest_lan, 0.004, lambda f: f["solve_s"] / f["seconds"]),
        ("part of the time for solving", csma, largest_csma, 0.0004, lambda f: f["solve_s"] / f["seconds"]),
    ]
    for what, family, example, theirs, number in facts:
        instance = family.instance(example)
        found = on_device(instance, options)
        if "error" in found:
            found = on_host(instance, options, sequential=True)
        name = f"{what}, {instance.name}"
        cells: dict[str, Cell] = {} if small else {"value": theirs}
        if "error" in found:
            yield Row(instance=name, printed=cells, skipped=found["error"])
        else:
            place = found["placement"]["backend"]
            yield Row(instance=name, printed=cells, measured={"value": number(found), "measured_on": place})
    factors = [row.measured["factor"] for row in _all_members(options) if "factor" in row.measured]
    best = max((factor for factor in factors if isinstance(factor, float)), default=None)
    yield Row(
        instance="largest gain over the standard method",
        printed={"factor": 3.859},
        measured={} if best is None else {"factor": best},
        skipped="" if factors else "no instance was measured on a device",
    )


def _components(found: dict[str, Any]) -> float:
    spent = sum(seconds for step, _, seconds in found["plan"] if step == "components")
    return float(spent / found["seconds"])


# Pictures.


def _numbers(rows: Iterable[Row], x: str, y: str) -> list[tuple[float, float]]:
    """The points that rows have for two columns, from left to right."""
    found = [(row.measured.get(x), row.measured.get(y)) for row in rows]
    return sorted((float(a), float(b)) for a, b in found if isinstance(a, int | float) and isinstance(b, int | float))


def _draw_curve(table: str, against: str, found: Found, path: Path) -> None:
    """Speed-up on the left, shares of the time on the right, over the number of transitions."""
    from ..plot.matrix import figure, save

    drawn = figure(8, 5)
    left = drawn.add_subplot()
    right = left.twinx()
    theirs = sorted((float(str(row["transitions"])), float(str(row["factor"]))) for row in printed(table))
    left.plot(*zip(*theirs, strict=True), "o--", color="0.55", label="speed-up, printed")
    ours = _numbers(found.rows, "transitions", "factor")
    if ours:
        left.plot(*zip(*ours, strict=True), "o-", color="tab:blue", label="speed-up, measured")
    else:
        left.set_title("no speed-up was measured", fontsize=9, color="0.4", loc="right")
    left.axhline(1, color="0.8", linewidth=1)
    where = next((row.measured["shares_of"] for row in found.rows if "shares_of" in row.measured), "")
    for column, name, colour in (
        ("build_%", "building", "tab:green"),
        ("graph_%", "graph and equations", "tab:orange"),
        ("solve_%", "value iteration", "tab:red"),
    ):
        if points := _numbers(found.rows, "transitions", column):
            right.plot(*zip(*points, strict=True), "s:", color=colour, markersize=4, label=f"{name}, {where}")
    left.set(xscale="log", yscale="log", xlabel="transitions", ylabel=f"speed-up over the {against}")
    with_plain_numbers(left.yaxis)
    right.set(ylim=(-2, 102), ylabel="share of the time (%)")
    drawn.suptitle(f"{found.experiment.name}: {found.experiment.title}", fontsize=10)
    handles = [axes.get_legend_handles_labels() for axes in (left, right)]
    drawn.legend(
        [*handles[0][0], *handles[1][0]], [*handles[0][1], *handles[1][1]], loc="outside lower center", ncols=3
    )
    save(drawn, path)


def _draw_sparseness(found: Found, path: Path) -> None:
    """Speed-up over transitions per state, a mark for each case study."""
    from ..plot.matrix import figure, save

    drawn = figure(8, 5)
    axes = drawn.add_subplot()
    marks = zip(FAMILIES, "osD^v", ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple"), strict=True)
    for family, mark, colour in marks:
        rows = printed(f"004-figure-{family.standard}")
        theirs = [(row["transitions_per_state"], row["factor"]) for row in rows]
        axes.plot(*zip(*theirs, strict=True), mark, color=colour, fillstyle="none", label=f"{family.name}, printed")
        prefix = "collide" if family.name == "wlan_collide" else family.name
        mine = [row for row in found.rows if row.instance.startswith(prefix)]
        if ours := _numbers(mine, "transitions_per_state", "factor"):
            axes.plot(*zip(*ours, strict=True), mark, color=colour, label=f"{family.name}, measured")
    axes.axhline(1, color="0.8", linewidth=1)
    axes.axvline(3, color="0.8", linewidth=1, linestyle="--")
    axes.set(yscale="log", xlabel="transitions per state", ylabel="speed-up over the standard method")
    with_plain_numbers(axes.yaxis)
    axes.set_title(f"{found.experiment.name}: {found.experiment.title}", fontsize=10)
    drawn.legend(loc="outside lower center", ncols=5, fontsize=8)
    save(drawn, path)


NOTES = {
    "coin": "The thesis names no property; here it is the least probability that all decide for heads.",
    "leader": "The thesis names no property. That a leader is elected is sure, which the graph tells alone; here it is "
    "the largest probability that the first process is elected.",
    "csma": "The thesis names no property; here it is the least probability that all messages get through before a "
    "collision with the longest range of waiting times.",
    "wlan": "The thesis names no property, but speaks of successful transfers; here it is the least probability that "
    "both packets get through. The graph tells it alone, so that nothing is left to iterate; the thesis has its solver "
    "at 0.4 % of the time in wlan6.",
    "wlan_collide": "An instance i_j has MAX_BACKOFF=i and COL=j, which gives the numbers of states and transitions "
    "that are printed; the question is the largest probability of COL collisions.",
}
TOTAL = "Times are from the program that was read to the answer; on a device the model is built and analysed there too."
BASELINES = {
    True: "The processor solves component by component on one core.",
    False: "The processor solves all unknowns together, on all cores, as the standard method of StoRM did.",
}
PLOT_ONLY = "The thesis prints no numbers for its shares; the dashed curve is the table before it."


def _of_family(family: Family) -> Iterator[Experiment]:
    for sequential in (True, False):
        number = family.sequential if sequential else family.standard
        against = "sequential topological method" if sequential else "standard method"
        run = partial(_compared, family, sequential=sequential)
        notes = (NOTES[family.name], TOTAL, BASELINES[sequential])
        table = f"004-figure-{number}"
        yield Experiment(name=table, title=f"{family.name}: a device beside the {against}", run=run, notes=notes)
        yield Experiment(
            name=f"004-figure-{number + 1}",
            title=f"{family.name}: speed-up over the {against}, and shares of the time",
            run=run,
            draw=partial(_draw_curve, table, against),
            notes=(*notes, PLOT_ONLY),
        )


EXPERIMENTS = [
    *(experiment for family in FAMILIES for experiment in _of_family(family)),
    Experiment(
        name="004-figure-28",
        title="Transitions per state against the speed-up over the standard method",
        run=_all_members,
        draw=_draw_sparseness,
        notes=(TOTAL, BASELINES[False], "The thesis sees gains from about three transitions per state on."),
    ),
    Experiment(
        name="004-facts",
        title="Numbers in the text",
        run=_facts,
        notes=(
            "Value iteration stops at a relative change of 1e-6, as in the thesis.",
            "The text claims a gain of more than three; the largest in its tables is 3.859.",
            "Components were looked for only where a model did not fit on the device; here they order the unknowns.",
        ),
    ),
]
