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
    from ..lang import GaltonError

    paths = [Path(name) for text in export for name in text.split(",") if name]
    if not paths:
        raise GaltonError("nothing to write; name at least one file with --export")
    check_suffixes(paths)  # before the work, not after it
    for path in paths:
        if not path.parent.is_dir():
            raise GaltonError(f"{path}: there is no folder {path.parent}")
    built = options.build_model(
        options.load_program(model, const),
        threads=threads,
        max_states=max_states,
        memory=memory,
        fix_deadlocks=fix_deadlocks,
        transition_rewards=any(path.suffix == ".trew" for path in paths),
    )
    for path in write_model(built, paths):
        typer.echo(f"{path}  {path.stat().st_size:,} bytes")
