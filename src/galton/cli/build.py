"""``galton build``: the model as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .options import Constants, FixDeadlocks, MaxStates, Memory, ModelFile, Threads


def build(
    model: ModelFile,
    export: Annotated[
        list[str],
        typer.Option(
            "--export",
            metavar="FILE,…",
            help="Files to write, by suffix: .tra .sta .lab .srew .trew (PRISM), .mtx (Matrix Market), .npz (all).",
            show_default=False,
        ),
    ],
    const: Constants = None,
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
) -> None:
    """Build a model and write it to files that PRISM, Storm, SciPy and others read.

    Example: galton build models/tandem.prism --const c=255 --export tandem.tra,tandem.sta,tandem.lab
    """
    from ..io import check_suffixes, write_model
    from ..io.output import check_writable
    from ..lang import GaltonError

    paths = [Path(name) for text in export for name in text.split(",") if name]
    if not paths:
        raise GaltonError("nothing to write; name at least one file with --export")
    check_suffixes(paths)  # before the work, not after it
    for path in paths:
        check_writable(path)
    built = options.build_model(
        options.load_program(model, const),
        threads=threads,
        max_states=max_states,
        memory=memory,
        fix_deadlocks=fix_deadlocks,
        transition_rewards=any(path.suffix == ".trew" for path in paths),
    )

    def write(path: Path) -> None:
        for written in write_model(built, [path]):
            typer.echo(f"{written}  {written.stat().st_size:,} bytes")

    results = [options.kept(write, path) for path in paths]  # what can be written is, whatever becomes of the others
    if not all(results):
        raise typer.Exit(2)
