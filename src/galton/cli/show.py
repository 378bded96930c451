"""Answers as people read them on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from . import telling

if TYPE_CHECKING:
    from ..checking.result import Result
    from ..model.sparse import Model


WIDEST = 28  # characters of a column in plain lines, beyond which the next one gives way


def print_result(result: Result, *, lists: bool = False) -> None:
    """A result for a person; ``lists`` says that it is the states that it lists."""
    several = isinstance(result.value, tuple)
    name = f"{result.name}: " if result.name else ""
    over = f", over {result.about}" if several else ""
    value = "the states below" if lists else telling.verdict(result.text)
    telling.say(f"{name}{result.formula}  =  {telling.bold(value)}{over}")
    if telling.quiet():
        return print_lines(result.listing)
    if result.behind is not None:
        margin = f", {result.behind.margin.strip()}" if result.behind.margin else ""
        telling.say(f"  because {result.behind.about} is {result.behind.text}{margin}")
    about = [result.margin.strip()] if result.margin else []
    if not result.proved:
        about.append("without a guarantee")
    if not several and not lists:
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
    from ..checking.reports import plan_lines

    print_table(plan_lines(model, result, build_s, lumping), right=(1,), indent=4)


def print_work(result: Result) -> None:
    """Where a result comes from, and the steps that led to it."""
    from ..checking.reports import work_lines

    print_table(work_lines(result), right=(1,), indent=4)
