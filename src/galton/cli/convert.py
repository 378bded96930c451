"""``galton convert``: a model from one format to others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .options import Constants, FixDeadlocks, MaxStates, Memory, Threads

if TYPE_CHECKING:
    from ..lang.program import Program

PRISM = ".prism"
PROGRAM_WRITERS: dict[str, Callable[[Program, Path], None]] = {}
"""Formats of programs: they keep the commands of a model, not its states. A suffix and who writes it."""


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A model in the PRISM language, a network in SBML, or in an explicit format: .tra with the .lab, .sta "
            "and .srew files beside it (or .all), .drn, .umb, .npz, .mtx, .mat.",
            show_default=False,
        ),
    ],
    targets: Annotated[
        list[Path],
        typer.Argument(
            metavar="TARGET…",
            help="Files to write, by suffix: .prism (of SBML), .all or .tra .sta .lab .srew .trew (PRISM), .drn "
            "(Storm), .umb (both), .npz (NumPy), .mtx (Matrix Market), .mat .m (MATLAB), .dot (Graphviz).",
            show_default=False,
        ),
    ],
    const: Constants = None,
    compress: Annotated[
        str | None,
        typer.Option("--compress", metavar="HOW", help="Compress .umb files: gzip or xz.", show_default=False),
    ] = None,
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
) -> None:
    """Convert a model from one format to others, and say what they leave out.

    A program is built first. Numbers are written with all their digits.

    \b
    Examples:
      galton convert models/die.prism die.all
      galton convert models/die.prism die.drn die.umb
      galton convert die.tra die.npz
      galton convert models/enzyme.xml enzyme.prism
    """
    from ..io import COMPRESSIONS, check_suffixes, left_out, write_model
    from ..io.formats import FORMATS, expanded
    from ..io.output import check_writable
    from ..lang import GaltonError

    if texts := [path for path in targets if path.suffix == PRISM]:
        _write_text(source, texts)
        targets = [path for path in targets if path not in texts]
        if not targets:
            return
    programs = [path for path in targets if path.suffix in PROGRAM_WRITERS]
    models = [path for path in targets if path.suffix not in PROGRAM_WRITERS]
    files = check_suffixes(expanded(models))  # before the work, not after it
    for path in [*programs, *files]:
        check_writable(path)
    if compress is not None and (compress not in COMPRESSIONS or not any(path.suffix == ".umb" for path in files)):
        raise GaltonError(f"--compress is for .umb files, and {' or '.join(COMPRESSIONS)}")
    if programs:
        from .given import refuse_given

        refuse_given(source, programs[0].name)
    program = options.load_program(source, const)
    results = [options.kept(lambda path: _write_program(program, path), path) for path in programs]
    if models:
        model = options.build_model(
            program,
            threads=threads,
            max_states=max_states,
            memory=memory,
            fix_deadlocks=fix_deadlocks,
            transition_rewards=any("transition" in FORMATS[path.suffix].holds for path in files),
        )
        files = expanded(models, model)
        lost = left_out(model, files)

        def write(path: Path) -> None:
            for written in write_model(model, path, exact=True, compression=compress):
                _tell(written)
            for what in lost.get(path, ()):
                typer.echo(f"  leaves out {what}")

        results += [options.kept(write, path) for path in files]
    if not all(results):
        raise typer.Exit(2)


def _write_text(source: Path, targets: list[Path]) -> None:
    """Write the program that a reaction network comes to, as a text to read and to change."""
    from ..io.output import check_writable, replacing
    from ..lang import GaltonError
    from ..lang.sbml import SUFFIXES
    from ..lang.source import read_source

    if source.suffix not in SUFFIXES:
        raise GaltonError(f"{targets[0]}: only a network in SBML becomes a program in the PRISM language, not {source}")
    for path in targets:
        check_writable(path)
    text = read_source(source).text
    for path in targets:
        with replacing(path) as file:
            file.write(text)
        _tell(path)


def _write_program(program: Program, path: Path) -> None:
    PROGRAM_WRITERS[path.suffix](program, path)
    _tell(path)


def _tell(path: Path) -> None:
    typer.echo(f"{path}  {path.stat().st_size:,} bytes")
