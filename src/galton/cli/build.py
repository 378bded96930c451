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
            help="Files to write, by suffix: .tra .sta .lab .srew .trew (PRISM; .all for all of them), .drn (Storm), "
            ".umb (both), .mtx (Matrix Market), .npz (NumPy), .mat .m (MATLAB), .dot (Graphviz).",
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

    \b
    Examples:
      galton build models/die.prism --export die.all
      galton build models/tandem.prism --const c=255 --export tandem.tra,tandem.sta,tandem.lab
    """
    from ..io import check_suffixes, write_model
    from ..io.formats import FORMATS, expanded
    from ..io.output import check_writable
    from ..lang import GaltonError

    paths = [Path(name) for text in export for name in text.split(",") if name]
    if not paths:
        raise GaltonError("nothing to write; name at least one file with --export")
    files = check_suffixes(expanded(paths))  # before the work, not after it
    for path in files:
        check_writable(path)
    built = options.build_model(
        options.load_program(model, const),
        threads=threads,
        max_states=max_states,
        memory=memory,
        fix_deadlocks=fix_deadlocks,
        transition_rewards=any("transition" in FORMATS[path.suffix].holds for path in files),
    )

    def write(path: Path) -> None:
        for written in write_model(built, [path]):
            typer.echo(f"{written}  {written.stat().st_size:,} bytes")

    # What can be written is, whatever becomes of the others.
    results = [options.kept(write, path) for path in expanded(paths, built)]
    if not all(results):
        raise typer.Exit(2)
