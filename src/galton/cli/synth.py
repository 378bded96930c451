"""``galton synth``: the parameters for which a property holds, or a number is best."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import telling
from .ending import exit_code
from .options import (
    Constants,
    OneDevice,
    Threads,
    enough_memory,
    kept,
    read_constants,
    typed_property,
)
from .workers import Workers, device_for_workers, opened

if TYPE_CHECKING:
    from ..synth.regions import Regions


def synth(
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL]",
            help="A model in the PRISM language, in JANI (.jani) or SBML (.xml, .sbml).",
            show_default=False,
        ),
    ] = None,
    properties: Annotated[
        Path | None,
        typer.Argument(metavar="[PROPERTIES]", help="A file of properties, as --props.", show_default=False),
    ] = None,
    prop: Annotated[
        list[str] | None,
        typer.Option(
            "--prop",
            "-p",
            metavar="PROPERTY",
            help="One P or R operator; for a CTMC with a time bound.",
            show_default=False,
        ),
    ] = None,
    props: Annotated[
        Path | None, typer.Option("--props", metavar="FILE", help="A file of properties.", show_default=False)
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="Of the file, the property of this name, or of this number, counted from 1.",
            show_default=False,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="NAME=LOW:HIGH", help="A parameter and its range; once for each.", show_default=False
        ),
    ] = None,
    const: Constants = None,
    maximize: Annotated[
        bool, typer.Option("--maximize", "--maximise", help="Find where the number is greatest.")
    ] = False,
    minimize: Annotated[bool, typer.Option("--minimize", "--minimise", help="Find where it is least.")] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            help="When to stop. For a threshold: the part of the space that may stay undecided. For an optimum: how "
            "far apart the numbers may be at points that may be the best. 0.01 if not given.",
            show_default=False,
        ),
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(
            "--accuracy",
            help="Divide the space into boxes over which the number varies by no more.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="HOW",
            help="Halve boxes along the best parameter, which is the default, or along all at once as PRISM-PSY does.",
            show_default=False,
        ),
    ] = None,
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
            help="Go on from a file that --json wrote, perhaps with a smaller tolerance. It knows all the rest.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print where boxes were looked at, and why, and of how many states.")
    ] = False,
    device: OneDevice = "auto",
    direction: Annotated[
        str | None,
        typer.Option(
            "--direction",
            metavar="WAY",
            help="For a CTMC: bounds backward from the goal, or forward from the initial state; auto, the default, is "
            "backward.",
            show_default=False,
        ),
    ] = None,
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
    workers: Workers = None,
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
      galton synth models/sir.prism -c S0=9,I0=1,R0=0,kr=1 --param ki=0.1:1 -p 'P>=0.5 [ F<=9 ill=0 ]' --json ill.json
      galton synth --resume ill.json --tolerance 0.001 --json ill.json
    """
    from .setting_up import set_up

    device = device_for_workers(workers, device)
    set_up(device)
    from ..checking.watching import Synthesizing
    from ..io.output import check_writable
    from ..lang import GaltonError
    from ..lang.source import read_source
    from ..synth.api import Synthesis, inquire
    from ..synth.parameters import parse_range
    from ..synth.regions import Regions
    from .given import refuse_given

    if model is not None:
        refuse_given(model, "synthesis")
    ranges = dict(map(parse_range, param or []))
    if len(ranges) < len(param or []):
        raise GaltonError("a parameter is given twice; give each of them one range")
    if properties is not None and props is not None:
        raise GaltonError(f"properties come from one file, and here are two: {properties} and {props}")
    props = props or properties
    if prop and props is not None:
        raise GaltonError("one property is asked for: give --prop or --props, not both")
    if prop and len(prop) > 1:
        raise GaltonError(f"synth answers one property, and here are {len(prop)}; ask each in a run of its own")
    earlier = Regions.from_json(resume) if resume else None
    inquiry = inquire(
        model,
        read_source(props) if props is not None else typed_property(prop[0]) if prop else None,
        ranges,
        read_constants(const or []),
        earlier,
        chosen=name,
        maximize=maximize,
        minimize=minimize,
        tolerance=tolerance,
        accuracy=accuracy,
        split=split,  # type: ignore[arg-type]
        direction=direction,  # type: ignore[arg-type]
    )
    for path in (json_file, csv, plot):
        if path is not None:
            check_writable(path)
    if plot is not None:
        from ..plot.regions import check_plot

        check_plot(plot, len(inquiry.ranges))
    if model is None and inquiry.changed:
        told = f"{inquiry.model.name} has changed since {resume} was written, which goes on with the text of that time"
        telling.warn(told)
    with opened(workers) as executor:
        synthesis = Synthesis.of(inquiry, device=device, format=format, threads=threads, executor=executor)
        progress = Synthesizing(inquiry.tolerance if synthesis.problem == "threshold" else None)
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
        raise typer.Exit(exit_code() if synthesis.lost is None else 2)
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
