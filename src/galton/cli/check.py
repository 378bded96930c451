"""``galton check``: answers about a model."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .options import AsJson, Constants, FixDeadlocks, MaxStates, Memory, ModelFile, Threads


def check(
    model: ModelFile,
    const: Constants = None,
    prop: Annotated[
        list[str] | None, typer.Option("--prop", "-p", metavar="PROPERTY", help="A property, e.g. 'P=? [ F d=6 ]'.")
    ] = None,
    props: Annotated[Path | None, typer.Option(metavar="FILE", help="A file of properties.")] = None,
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
    as_json: AsJson = False,
) -> None:
    """Check properties of a model. The exit code is 1 when a property is false or could not be checked.

    Example: galton check models/die.prism --prop 'P=? [ F d=6 ]'
    """
    from ..check import check as check_property
    from ..check import resolve
    from ..lang import GaltonError, Source, parse_properties
    from ..programs import read_source

    sources = [read_source(props)] if props else []
    sources += [Source("--prop", text) for text in prop or []]
    files = [parse_properties(source) for source in sources]
    if not any(file.properties for file in files):
        raise GaltonError("nothing to check; give a property with --prop or a file with --props")
    declared = {constant.name.name for file in files for constant in file.constants}
    program, given = options.load_program(model, const, declared)
    asked = []
    for file in files:
        names = {constant.name.name for constant in file.constants}
        resolved, questions = resolve(file, program, {k: v for k, v in given.items() if k in names})
        asked += [(resolved, question) for question in questions]
    built = options.build_model(
        program, threads=threads, max_states=max_states, memory=memory, fix_deadlocks=fix_deadlocks
    )
    failed = False
    for index, (context, question) in enumerate(asked):
        entry = question.prop
        start = time.perf_counter()
        answer: dict[str, object] = {"model": str(model), "index": index, "name": entry.name, "property": entry.text}
        answer["constants"] = dict(context.constants)
        try:
            result = check_property(context, built, question)
        except GaltonError as error:
            failed = True
            answer["error"] = {"kind": error.kind, "message": str(error)}
            if not as_json:
                typer.echo(options.told(error), err=True)
        else:
            failed |= result.value is False
            answer |= {"value": result.value, "method": "policy-iteration", "iterations": result.strategies}
            answer |= {"states": built.n_states, "transitions": built.n_transitions}
            answer |= {"build_s": built.build_seconds, "check_s": time.perf_counter() - start}
            if not as_json:
                shown = str(result.value).lower() if isinstance(result.value, bool) else f"{result.value:.12g}"
                typer.echo(f"{entry.text}  =  {typer.style(shown, bold=True)}")
                if result.lowest != result.highest:
                    typer.echo(f"  from {result.lowest:.12g} to {result.highest:.12g} over the initial states")
        if as_json:
            typer.echo(json.dumps(answer))
    if failed:
        raise typer.Exit(1)
