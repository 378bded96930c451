"""``galton simulate``: random paths of a model, as a table, a CSV file, a picture, or step by step."""

from __future__ import annotations

import csv as csv_files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, telling
from .options import AsJson, Constants, ModelFile
from .workers import Workers, opened

if TYPE_CHECKING:
    from ..model.traces import Traces

SHOWN = 1000  # rows on the terminal
MOST_LINES = 200  # of a picture

Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same paths.")]


def simulate(
    model: ModelFile,
    const: Constants = None,
    steps: Annotated[
        float | None,
        typer.Option("--steps", "-n", min=0, help="Steps of a path; 100 if nothing is said.", show_default=False),
    ] = None,
    time: Annotated[
        float | None, typer.Option("--time", min=0, help="When a path of a CTMC ends.", show_default=False)
    ] = None,
    paths: Annotated[int, typer.Option("--paths", min=1, help="How many paths to follow.")] = 1,
    seed: Seed = 0,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            "--apply",
            metavar="FILE",
            help="Who chooses in an MDP: the file of a strategy that galton check --strategy wrote. Without it, or "
            "with 'uniform', each choice of a state is as likely as the others.",
            show_default=False,
        ),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Step by step: choose each step, or have it drawn.")
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the paths to a CSV file.", show_default=False),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the variables over time (.png, .pdf, .svg or .html).",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="NAME,…", help="Draw only these columns, e.g. x,y.", show_default=False),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Follow random paths of a model. The state space is not built, so it may be of any size, or without an end.

    \b
    Examples:
      galton simulate models/die.prism
      galton simulate models/sir.prism -c S0=95,I0=5,R0=0,ki=0.002,kr=0.05 --time 50 --paths 5 --plot sir.png
      galton simulate models/consensus.prism -c N=8,K=8 --steps 20 --csv coin.csv
      galton simulate models/die.prism --interactive
    """
    from ..lang import GaltonError
    from .given import GivenModel

    program = options.load_program(model, const)
    subject = options.tell_warnings(program.placed()) if isinstance(program, GivenModel) else program
    if interactive:
        refused = {"--csv": csv, "--plot": plot, "--strategy": strategy, "--time": time, "--json": as_json or None}
        refused["--workers"] = workers
        if given := [option for option, value in refused.items() if value is not None]:
            raise GaltonError(f"step by step, {given[0]} does nothing: leave it away")
        from .stepping import Stepping

        Stepping(subject, seed).run()
        return
    if plot is not None:
        from ..plot.files import check_kind

        check_kind(plot)
    elif only is not None:
        raise GaltonError("--only says what to draw: it needs --plot FILE")
    from ..io.output import check_writable
    from ..simulation import simulate as follow

    for path in (csv, plot):
        if path is not None:
            check_writable(path)
    with opened(workers) as executor:
        found = follow(subject, paths=paths, steps=steps, time=time, seed=seed, strategy=strategy, executor=executor)
    if as_json:
        import json

        for row in found.rows():
            typer.echo(json.dumps(row))
    elif csv is None and plot is None:  # who asks for a file is not shown a thousand rows
        _print(found)
    if subject.nature.has_choices and strategy is None:
        telling.note("choices are taken at random, each as likely as the others; --strategy FILE takes those of a file")
    fine = options.kept(lambda path: _write(path, found), csv)
    fine &= options.kept(lambda path: _draw(path, found, model.stem, only, time), plot)
    if not fine:
        raise typer.Exit(2)
    for path in (csv, plot):
        if path is not None and not as_json:
            telling.say(f"{path}  {path.stat().st_size:,} bytes, {repr(found)[9:-1]}")


def _print(found: Traces) -> None:
    """The table, as far as people read; a file has all of it."""
    from ..model.traces import shown

    table = found.table()
    kept = {name: values for name, values in table.items() if not _tells_nothing(name, values, table)}
    if len(set(found.path.tolist())) == 1:
        kept.pop("path")
    if not any(found.actions):
        kept.pop("action")
    rows = [[shown(value) for value in values[:SHOWN].tolist()] for values in kept.values()]
    widths = [max(len(name), *map(len, column)) for name, column in zip(kept, rows, strict=True)]
    telling.say(telling.bold("  ".join(f"{name:>{w}}" for name, w in zip(kept, widths, strict=True))))
    before = None
    for number in range(min(len(found), SHOWN)):
        if before not in (None, found.path[number]):
            telling.say()
        before = found.path[number]
        telling.say("  ".join(f"{column[number]:>{w}}" for column, w in zip(rows, widths, strict=True)))
    if len(found) > SHOWN:
        telling.say(f"… and {len(found) - SHOWN:,} rows more; --csv has all")


def _tells_nothing(name: str, values: Any, table: dict[str, Any]) -> bool:
    """Whether a reward is always zero, or the value of the variable after which it is called."""
    kind, earned, structure = name.partition(" reward")
    if not earned or kind not in ("state", "step"):
        return False
    named = [table[known] for known in (structure.strip(), f"{structure.strip()}_") if known in table]
    return not values.any() or any(kind == "state" and (values == column).all() for column in named)


def _write(path: Path, found: Traces) -> None:
    from ..io.output import replacing

    table = {name: values.tolist() for name, values in found.table().items()}
    with replacing(path) as file:
        writer = csv_files.writer(file, lineterminator="\n")
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            writer.writerow(str(value).lower() if isinstance(value, bool) else value for value in row)


def _draw(path: Path, found: Traces, name: str, only: str | None, end: float | None) -> None:
    import numpy as np

    from ..lang import GaltonError
    from ..lang.stream import nearest
    from ..plot.traces import Line, plot_traces

    table = found.table()
    drawn = list(found.variables)
    if only is not None:
        wanted = [part.strip() for part in only.split(",")]
        for part in wanted:
            if part not in table:
                hint = nearest(part, drawn) or f"there are {', '.join(drawn)}"
                raise GaltonError(f"there is no '{part}' to draw; {hint}")
        drawn = wanted
    numbers = np.unique(found.path)
    if len(numbers) * len(drawn) > MOST_LINES:
        raise GaltonError(f"{len(numbers):,} paths of {len(drawn)} quantities are too many lines; use --only, or --csv")
    lines = []
    for quantity in drawn:
        for number in numbers.tolist():
            mine = found.path == number
            values = np.asarray(table[quantity][mine], dtype=float).tolist()
            times = found.time[mine].tolist()
            if end is not None:  # the last state stays until then
                times, values = [*times, end], [*values, values[-1]]
            lines.append(Line(quantity, number, times, values))
    title = f"{name}: {len(numbers)} random path{'s' * (len(numbers) != 1)}, seed {found.seed}"
    plot_traces(lines, path, title, "time" if found.continuous else "step")
