"""Answers as people and as programs read them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import telling

if TYPE_CHECKING:
    from ..checking.result import Result
    from ..model.sparse import Model


WIDEST = 28  # characters of a column in plain lines, beyond which the next one gives way


def as_json(value: Any) -> Any:
    """A value for JSON, which has no infinity."""
    if isinstance(value, tuple):
        return [as_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def record(result: Result) -> dict[str, Any]:
    """What a result says, for JSON; bounds only where they are proved. A Pareto set is a list of its points.

    What is known around the points of a set comes beside them.
    """
    from ..checking.result import ParetoSet

    value = result.value.points if isinstance(result.value, ParetoSet) else result.value
    lower, upper = (result.lower, result.upper) if result.proved else (None, None)
    found = {"value": as_json(value), "lower": as_json(lower), "upper": as_json(upper)}
    if isinstance(result.value, ParetoSet):
        found |= {name: as_json(getattr(result.value, name)) for name in ("objectives", "bounds", "half_spaces", "gap")}
    if result.behind is not None:
        found["behind"] = record(result.behind)
    return found if result.exact is None else {**found, "exact": exact_json(result.exact)}


def exact_json(value: Any) -> Any:
    """A fraction as text with all its digits, ``"1/6"``; a list of two for a pair."""
    from ..checking.result import full_fraction

    if isinstance(value, tuple):
        return [exact_json(part) for part in value]
    return as_json(value) if isinstance(value, float) else full_fraction(value)


def sizes(model: Model) -> dict[str, Any]:
    """How large a model is, and what was left out of it, for JSON."""
    found: dict[str, Any] = {"states": model.n_states, "choices": model.n_choices, "transitions": model.n_transitions}
    if model.is_reduced:
        found["standing_for"] = model.stands_for()
    return found | ({"left_out": model.info["left_out"]} if "left_out" in model.info else {})


def plan(result: Result) -> list[dict[str, Any]]:
    """The plan that led to a result, for JSON."""
    return [
        {
            "formula": solved.formula,
            "step": w.step,
            "detail": w.detail,
            "iterations": w.iterations,
            "seconds": w.seconds,
        }
        for solved in result.steps
        for w in solved.work
    ]


def states(model: Model) -> str:
    """How many states a model has, how many of the program they stand for, and what was left out of that."""
    if model.sizes is not None:
        told = f"{model.n_states:,} blocks standing for {model.stands_for():,} states"
    else:
        told = f"{model.n_states:,} states" + (f" standing for {model.stands_for():,}" if model.is_reduced else "")
    without = model.info.get("without", "")
    return f"{told} {without}" if without else told


def model_line(model: Model, seconds: float, cut: bool, what: str = "", how: str = "built") -> str:
    """A model in a line; ``what`` it is, if it is not that of the program alone, and ``how`` it was made."""
    choices = f", {model.n_choices:,} choices" if model.has_choices else ""
    size = f"{states(model)}{choices}, {model.n_transitions:,} transitions"
    head = f"{model.type}, {what}" if what else model.type
    return f"{head}: {size}{', not explored past the targets' if cut else ''}, {how} in {seconds:.3f} s"


def print_result(result: Result) -> None:
    """A result for a person."""
    several = isinstance(result.value, tuple)
    name = f"{result.name}: " if result.name else ""
    over = f", over {result.about}" if several else ""
    telling.say(f"{name}{result.formula}  =  {telling.bold(telling.verdict(result.text))}{over}")
    if telling.quiet():
        return print_lines(result.listing)
    if result.behind is not None:
        margin = f", {result.behind.margin.strip()}" if result.behind.margin else ""
        telling.say(f"  because {result.behind.about} is {result.behind.text}{margin}")
    about = [result.margin.strip()] if result.margin else []
    if not result.proved:
        about.append("without a guarantee")
    if not several:
        about.append(f"for {result.about}")
    how = [result.method] + ([f"{result.iterations:,} sweeps"] if result.iterations else [])
    telling.say(f"  {'; '.join(', '.join(part) for part in (about, [*how, f'{result.seconds:.3f} s']) if part)}")
    print_lines(result.listing)


def print_table(rows: Sequence[Sequence[str]], right: Sequence[int] = (), indent: int = 2) -> None:
    """Cells in columns: by Rich on a terminal, which wraps the last of them; plain lines elsewhere."""
    if not sys.stdout.isatty():
        widths = [min(max(map(len, column)), WIDEST) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = [c.rjust(w) if k in right else c.ljust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))]
            telling.say(f"{' ' * indent}{'  '.join(cells)}".rstrip())
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for column in range(len(rows[0])):
        last = column == len(rows[0]) - 1
        look = {"justify": "right" if column in right else "left", "no_wrap": not last}
        grid.add_column(style="" if last else "cyan" if column == 0 else "dim", **look)  # type: ignore[arg-type]
    for row in rows:
        grid.add_row(*map(Text, row))
    telling.hide_progress()
    Console().print(Padding(grid, (0, 0, 0, indent)))


def print_lines(lines: Iterable[str]) -> None:
    """Lines below an answer."""
    for line in lines:
        telling.say(f"  {line}")


def print_plan(model: Model, result: Result, build_s: float, lumping: str = "") -> None:
    """What was done for a result, step by step."""
    found = model.info.get("discover_s"), model.info.get("assemble_s")
    detail = ", ".join(f"{what} {s:.3f} s" for what, s in zip(("states", "rows"), found, strict=True) if s is not None)
    rows = [("build", f"{states(model)}, {model.n_transitions:,} transitions: {detail}", 0, build_s)]
    if "slice" in model.info:
        used = "" if "left_out" in model.info else "nothing left out: "
        rows.append(("slice", f"{used}{model.info['slice']}", 0, 0.0))
    if "symmetry" in model.info:
        used = "" if model.orbits is not None else "not used: "
        rows.append(("symmetry", f"{used}{model.info['symmetry']}", 0, 0.0))
    if lumping:
        rows.append(("lumping", f"{'' if model.sizes is not None else 'not used: '}{lumping}", 0, 0.0))
    rows.append(("placement", str(result.placement), 0, 0.0))
    for solved in result.steps:
        if len(result.steps) > 1:
            rows.append((solved.formula, "", 0, 0.0))
        rows += [(work.step, work.detail, work.iterations, work.seconds) for work in solved.work]
    cells = []
    for step, detail, iterations, seconds in rows:
        sweeps = f"{iterations:,} sweeps" if iterations else ""
        known = ", ".join(part for part in (detail, sweeps) if part)
        cells.append((step, f"{seconds:.3f} s" if seconds or known else "", known))
    print_table(cells, right=(1,), indent=4)
