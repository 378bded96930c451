"""``galton synth``: the parameters for which a property holds, or a number is best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import telling
from .ending import exit_code
from .options import (
    Constants,
    ModelFile,
    OneDevice,
    Threads,
    enough_memory,
    kept,
    read_constants,
)

if TYPE_CHECKING:
    from ..synth.regions import Regions


def synth(
    model: ModelFile,
    prop: Annotated[
        str,
        typer.Option(
            "--prop",
            "-p",
            metavar="PROPERTY",
            help="One P or R operator; for a CTMC with a time bound.",
            show_default=False,
        ),
    ],
    param: Annotated[
        list[str],
        typer.Option(
            "--param", metavar="NAME=LOW:HIGH", help="A parameter and its range; once for each.", show_default=False
        ),
    ],
    const: Constants = None,
    maximize: Annotated[bool, typer.Option("--maximize", help="Find where the number is greatest.")] = False,
    minimize: Annotated[bool, typer.Option("--minimize", help="Find where it is least.")] = False,
    tolerance: Annotated[
        float,
        typer.Option(
            "--tolerance",
            help="When to stop. For a threshold: the part of the space that may stay undecided. For an optimum: how "
            "far apart the numbers may be at points that may be the best.",
        ),
    ] = 0.01,
    accuracy: Annotated[
        float | None,
        typer.Option(
            "--accuracy",
            help="Divide the space into boxes over which the number varies by no more.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            "--split",
            metavar="HOW",
            help="Halve boxes along the best parameter, or along all at once as PRISM-PSY does.",
        ),
    ] = "best",
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write all boxes, to be read by programs and by --resume.",
            show_default=False,
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write a table of all boxes.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the boxes: .html to explore, .png, .pdf or .svg to print.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="FILE",
            help="Go on from a file that --json wrote, perhaps with a smaller tolerance.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print where boxes were looked at, and why, and of how many states.")
    ] = False,
    device: OneDevice = "auto",
    direction: Annotated[
        str,
        typer.Option(
            "--direction",
            metavar="WAY",
            help="For a CTMC: bounds backward from the goal, or forward from the initial state; auto is backward.",
        ),
    ] = "auto",
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="On a device, the format of the matrix, csr or ell, where the one that suits it is not wanted.",
            show_default=False,
        ),
    ] = None,
    threads: Threads = None,
) -> None:
    """Find the parameters for which a model has a property.

    Constants become parameters with --param; what the model derives from them follows. The space of their values is
    divided into boxes with proved bounds: the property's number lies between them at every point of a box.

    With a threshold, as in P>=0.9 [ … ], boxes are true, false or, up to --tolerance, undecided. With P=? ask for an
    optimum (--maximize, --minimize) or for all values (--accuracy). Ctrl-C stops with the boxes so far; --json keeps
    them and --resume goes on.

    \b
    Examples:
      galton synth models/sir.prism -c S0=9,I0=1,R0=0,kr=0.1 --param ki=0.01:0.1 -p 'P>=0.5 [ F<=20 ill=0 ]'
      galton synth models/sir.prism -c S0=9,I0=1,R0=0,kr=0.1 --param ki=0.01:0.1 -p 'R{"ill"}=? [ I=9 ]' --maximize
      galton synth models/tandem.prism -c c=2 --param stage1=1:4 --param service=1:4 -p 'P>=0.7 [ F<=1 second=2 ]'
    """
    from .warm_up import warm_up

    warm_up(device)
    from ..io.output import check_writable
    from ..lang import GaltonError
    from ..synth.api import Synthesis
    from ..synth.parameters import parse_range
    from ..synth.regions import Regions
    from .watch import Synthesizing

    ranges = dict(map(parse_range, param))
    if len(ranges) < len(param):
        raise GaltonError("a parameter is given twice; give each of them one range")
    earlier = Regions.from_json(resume) if resume else None
    for path in (json_file, csv, plot):
        if path is not None:
            check_writable(path)
    if plot is not None:
        from ..plot.regions import check_plot

        check_plot(plot, len(ranges))
    synthesis = Synthesis.prepare(
        model,
        prop,
        ranges,
        read_constants(const or []),
        maximize=maximize,
        minimize=minimize,
        tolerance=tolerance,
        accuracy=accuracy,
        split=split,  # type: ignore[arg-type]
        device=device,
        direction=direction,  # type: ignore[arg-type]
        format=format,
        threads=threads,
    )
    progress = Synthesizing(tolerance if synthesis.problem == "threshold" else None)
    try:
        with enough_memory("for the synthesis"):
            regions = synthesis.run(earlier, progress)
    finally:
        progress.clear()
    all_kept = kept(regions.to_json, json_file)  # first, because it is what --resume goes on from
    for warning in regions.warnings:
        telling.warn(f"{warning}")
    show(regions, "steps" if synthesis.opened.program.nature.is_continuous else "solves")
    if explain or telling.verbose():
        telling.say(f"    placement  {regions.placement}")
        telling.say(f"    model      {synthesis.evaluator.model}")
    all_kept &= kept(regions.to_csv, csv)
    all_kept &= kept(regions.plot, plot)
    if regions.interrupted:
        raise typer.Exit(exit_code())
    if not all_kept:
        raise typer.Exit(2)


def show(regions: Regions, unit: str) -> None:
    """The answer for a person; ``unit`` is what its work is counted in."""
    telling.say(telling.bold(regions.formula))
    if regions.problem == "threshold":
        for verdict, boxes in (("true", regions.true), ("false", regions.false), ("undecided", regions.undecided)):
            telling.say(f"  {verdict:<10} {regions.volume(boxes):>8.2%} of the space, {_counted(boxes)}")
    elif regions.optimum:
        low, high = regions.optimum
        telling.say(f"  {regions.problem[:3]}imum between {low!r} and {high!r}")
        least, most = regions.spread
        telling.say(
            f"  {regions.volume(regions.optimal):.3%} of the space may hold it, {_counted(regions.optimal)}; values "
            f"there from {least:.6g} to {most:.6g}"
        )
        if regions.best:
            point = ", ".join(f"{n}={v:.6g}" for n, v in zip(regions.parameters, regions.best.point, strict=True))
            telling.say(f"  best point tried: {point}, {regions.best.lower:.6g}")
    else:
        least, most = regions.spread
        telling.say(f"  {_counted(regions.boxes)}, values from {least:.6g} to {most:.6g}")
    if telling.quiet():
        return
    statistics = regions.statistics
    telling.say(
        f"  {int(statistics['boxes']):,} boxes and {int(statistics['points']):,} points looked at, "
        f"{int(statistics['steps']):,} {unit}, {statistics['seconds']:.2f} s"
    )
    if regions.interrupted:
        telling.say("  stopped before the tolerance was reached; --resume goes on from the file of --json")
    elif not regions.complete:
        telling.say(
            "  the tolerance was not reached: splitting some boxes brings their bounds no closer; the number jumps "
            "there, or is the threshold itself, or they are as small as numbers allow"
        )


def _counted(boxes: tuple[Any, ...]) -> str:
    return "1 box" if len(boxes) == 1 else f"{len(boxes):,} boxes"
