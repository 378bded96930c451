"""``galton bench``: what documents print, run again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..lang.source import GaltonError
from .commands import Commands
from .ending import exit_code, unhurried
from .options import Device, OneDevice, Threads

RUN = "run"
MEASURED = "measured.jsonl"  # in the folder of --out


class Experiments(TyperGroup):
    """Commands, and names of experiments in the place of ``run``."""

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        """A word that is no command is the name of an experiment."""
        if arguments and arguments[0] not in self.commands and not arguments[0].startswith("-"):
            arguments = [RUN, *arguments]
        return super().resolve_command(context, arguments)


app = Commands(
    name="bench",
    cls=Experiments,
    help="Run the experiments of the papers again, and show both figures.",
    no_args_is_help=True,
)


@app.callback()
def top() -> None:
    """Run the experiments of the papers again, and show both figures.

    \b
    Examples:
      galton bench list
      galton bench 002-table-1
      galton bench 002-table-4 --sizes paper --device cuda --out figures
      galton bench all --sizes small --out figures
    """


@app.command(name="list")
def list_experiments() -> None:
    """List all experiments: every table and figure of the papers."""
    from shutil import get_terminal_size
    from textwrap import wrap

    from ..bench.experiment import PAPERS
    from ..bench.registry import all_experiments

    width = get_terminal_size((100, 0)).columns
    for paper, title in PAPERS.items():
        typer.echo("\n".join(wrap(title, width, initial_indent=f"{paper}  ", subsequent_indent=" " * 5)))
        for name, experiment in all_experiments().items():
            if name.startswith(paper):
                typer.echo(
                    "\n".join(wrap(experiment.title, width, initial_indent=f"  {name:15}", subsequent_indent=" " * 17))
                )
        typer.echo()
    typer.echo("galton bench NAME runs one, galton bench 002 those of a paper, galton bench all all of them.")


@app.command(name=RUN)
def run_experiments(
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help="Experiments, papers (002), or all.")],
    sizes: Annotated[
        str, typer.Option("--sizes", metavar="small|paper|beyond", help="Which instances: seconds, printed, or larger.")
    ] = "small",
    against: Annotated[
        str, typer.Option("--against", metavar="storm,prism", help="Peers that are asked too.", show_default=False)
    ] = "",
    prism: Annotated[
        Path | None, typer.Option("--prism", metavar="PATH", help="PRISM's program.", show_default=False)
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="The fastest of so many runs counts.")] = 1,
    limit: Annotated[
        float, typer.Option("--limit", metavar="SECONDS", min=0.0, help="A single run is stopped after that time.")
    ] = 300.0,
    jobs: Annotated[
        int,
        typer.Option("--jobs", min=1, help="Measure so many at a time, one of them on a device; more cost precision."),
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="For JSON, pictures and HTML pages.", show_default=False),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where a run with the same --out was interrupted.")
    ] = False,
    models: Annotated[
        Path | None,
        typer.Option("--models", metavar="FOLDER", help="Where the gallery is; models by default.", show_default=False),
    ] = None,
    device: Device = "auto",
) -> None:
    """Run experiments of the papers, and print each as a table: ours, what is printed, and how many times faster.

    Times are seconds. A ratio above 1 says that the paper needed more. What was skipped says why. A run that takes
    longer than --limit, or nearly all memory of the machine, is stopped alone, and its row says so. With --jobs the
    processor's cells are measured beside each other and beside those of the device; pages say so.

    \b
    Examples:
      galton bench 002-table-4 --sizes paper --device cuda --out figures
      galton bench all --sizes paper --limit 60 --out figures --resume
      galton bench 004 --against storm,prism --prism /opt/prism/bin/prism
    """
    from ..bench.child import Measurements
    from ..bench.experiment import Options
    from ..bench.registry import find
    from ..bench.running import finished, machine, run_all, write
    from ..bench.tables import table_of

    if resume and not out:
        raise GaltonError("--resume goes on from what --out FOLDER has; name the folder")
    chosen = find(names)
    options = Options(
        device=device,
        sizes=_one_of(sizes, ("small", "paper", "beyond"), "--sizes"),
        against=tuple(_one_of(peer, ("storm", "prism"), "--against") for peer in against.split(",") if peer),
        prism=prism,
        repeat=repeat,
        limit=limit,
        jobs=jobs,
        models=models or _gallery(),
        measurements=Measurements(jobs=jobs),
    )
    if out:
        out.mkdir(parents=True, exist_ok=True)
        kept = Measurements(out / MEASURED, by=machine(), resume=resume, jobs=jobs)
        options = replace(options, measurements=kept)
    records = {one.name: finished(one, options, out) if resume and out else None for one in chosen}
    missing = [one for one in chosen if records[one.name] is None]
    coming = run_all(missing, options, lambda one, row: typer.echo(f"  {one.name}: {row.instance}", err=True))
    wrong = 0
    for experiment in chosen:
        record = records[experiment.name]
        if record is None:
            found = next(coming)
            record = found.to_json()
            if out:
                with unhurried():
                    write(found, out)
        typer.echo(f"\n{experiment.name}: {experiment.title} ({record['seconds']:.1f} s)\n{table_of(record)}")
        for note in experiment.notes:
            typer.echo(f"  {note}")
        wrong += sum("wrong" in row for row in record["rows"])
    if out:
        typer.echo(f"\npages: {out / 'index.html'}")
    if wrong:
        typer.echo(f"error: {wrong} rows are wrong, as they say themselves: their times are worth nothing", err=True)
        raise typer.Exit(1)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where galton bench --out has written.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="An .html or .md file; both, in the folder, by default."),
    ] = None,
) -> None:
    """Make one page of all experiments in a folder: tables, pictures, machine, versions, commands.

    \b
    Examples:
      galton bench all --out figures && galton bench report figures
      galton bench report figures --out docs/report.md
    """
    from ..bench.report import html, markdown, read
    from ..io.output import replacing

    records = read(folder)
    for path in [out] if out else [folder / "report.html", folder / "report.md"]:
        kind = _one_of(path.suffix, (".html", ".md"), "--out")
        with replacing(path) as file:
            file.write(html(records, folder) if kind == ".html" else markdown(records, folder, path.parent))
        typer.echo(f"{len(records)} experiments in {path}")


def _one_of(word: str, known: tuple[str, ...], option: str) -> Any:
    if word not in known:
        raise GaltonError(f"{option} is {' or '.join(known)}, and not {word}")
    return word


@app.command()
def synth(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="A part of the name of a problem; may be repeated.", show_default=False),
    ] = None,
    table: Annotated[
        list[int] | None,
        typer.Option("--table", help="A table of the paper, 1 to 5; may be repeated.", show_default=False),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option("--models", metavar="FOLDER", help="Where the gallery is; models by default.", show_default=False),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all figures.", show_default=False)
    ] = None,
    device: OneDevice = "auto",
    threads: Threads = None,
) -> None:
    """Parameter synthesis: the problems of PRISM-PSY's paper (Tables 1 to 5).

    For each problem the boxes at the end, those looked at on the way, the steps of uniformisation summed over all of
    them, and the seconds from the file to the answer; on the right what the paper prints: regions, and the seconds of
    its best program on a graphics card and of its sequential one, on machines of about 2010.

    \b
    Examples:
      galton bench synth --table 2
      galton bench synth --only majority --only gfs --device cuda --json synth.json
    """
    from ..bench.synth import cells, chosen, run
    from ..bench.synth import table as table_of
    from ..checking.watching import Synthesizing
    from ..io.output import check_writable, replacing

    folder = models or _gallery()
    cases = chosen(only or [""], table or ())
    if not cases:
        raise GaltonError("no problem has such a name; galton bench synth --help shows how they are chosen")
    if not (folder / f"{cases[0].model}.prism").exists():
        raise GaltonError(f"the gallery's models are not in {folder}; name their folder with --models")
    if json_file:
        check_writable(json_file)
    found = []
    for case in cases:
        progress = Synthesizing()
        found.append(run(case, folder, device=device, threads=threads, watch=progress))
        progress.clear()
        typer.echo(table_of([cells(found[-1])]).splitlines()[1], err=True)
        if json_file:
            with replacing(json_file) as file:
                file.write(json.dumps([one.to_json() for one in found], indent=1))
        if found[-1].regions.interrupted:
            break
    typer.echo(table_of([cells(one) for one in found]))
    if found[-1].regions.interrupted:
        raise typer.Exit(exit_code())


def _gallery() -> Path:
    """The gallery: here, or in the repository that this is run from."""
    here = Path("models")
    return here if here.is_dir() else Path(__file__).resolve().parents[3] / "models"
