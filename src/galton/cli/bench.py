"""``galton bench``: what documents print, run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from .ending import exit_code
from .options import OneDevice, Threads

app = typer.Typer(
    name="bench",
    help="Run what documents print figures for, and show both.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def top() -> None:
    """Run what documents print figures for, and show both."""


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
    from ..io.output import check_writable, replacing
    from ..lang import GaltonError
    from .synth import Progress

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
        progress = Progress()
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
