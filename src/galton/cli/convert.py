"""``galton convert``: a model from one format to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .options import Constants, FixDeadlocks, MaxStates, Memory, Threads


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A model in the PRISM language or in JANI, a network in SBML, or in an explicit format: .tra with the "
            ".lab, .sta and .srew files beside it (or .all), .drn, .umb, .npz, .mtx, .mat.",
            show_default=False,
        ),
    ],
    targets: Annotated[
        list[Path],
        typer.Argument(
            metavar="TARGET…",
            help="Files to write, by suffix: .jani (of a program), .prism (of SBML), .all or .tra .sta .lab .srew "
            ".trew (PRISM), .drn (Storm), .umb (both), .npz (NumPy), .mtx (Matrix Market), .mat .m (MATLAB), .dot "
            "(Graphviz).",
            show_default=False,
        ),
    ],
    const: Constants = None,
    props: Annotated[
        Path | None,
        typer.Option("--props", metavar="FILE", help="Properties that go into .jani files.", show_default=False),
    ] = None,
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

    A program is built first, but for .jani and .prism, which keep its commands; there constants without a value stay
    open. Numbers are written with all their digits.

    \b
    Examples:
      galton convert models/die.prism die.all
      galton convert models/die.prism die.drn die.umb
      galton convert die.tra die.npz
      galton convert models/die.prism die.jani --props models/die.props
      galton convert models/enzyme.xml enzyme.prism
    """
    from ..io import COMPRESSIONS, check_suffixes, left_out, write_model
    from ..io.formats import FORMATS, expanded
    from ..io.output import check_writable
    from ..lang import GaltonError

    texts = [path for path in targets if path.suffix in TEXT_WRITERS]
    models = [path for path in targets if path.suffix not in TEXT_WRITERS]
    if props is not None and not any(path.suffix == JANI for path in texts):
        raise GaltonError("--props is for .jani files, which hold properties; other formats do not")
    files = check_suffixes(expanded(models), PROGRAMS)  # before the work, not after it
    for path in [*texts, *files]:
        check_writable(path)
    if compress is not None and (compress not in COMPRESSIONS or not any(path.suffix == ".umb" for path in files)):
        raise GaltonError(f"--compress is for .umb files, and {' or '.join(COMPRESSIONS)}")
    results = []
    if texts:
        from .given import refuse_given

        refuse_given(source, texts[0].name)
        asked = Text(source, const, props)
        results = [options.kept(lambda path: TEXT_WRITERS[path.suffix](asked, path), path) for path in texts]
    if models:
        model = options.build_model(
            options.load_program(source, const),
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


@dataclass(frozen=True)
class Text:
    """What the text of a program is made of: a file, values of constants, properties."""

    source: Path
    const: list[str] | None
    props: Path | None


def _write_prism(text: Text, path: Path) -> None:
    """The program that a reaction network comes to, as a text to read and to change."""
    from ..io.output import replacing
    from ..lang import GaltonError
    from ..lang.sbml import SUFFIXES
    from ..lang.source import read_source

    if text.source.suffix not in SUFFIXES:
        raise GaltonError(f"{path}: only a network in SBML becomes a program in the PRISM language, not {text.source}")
    if text.const:
        raise GaltonError(f"{path}: constants stay open in a program; --const is for those who read it")
    program = read_source(text.source).text
    with replacing(path) as file:
        file.write(program)
    _tell(path)


def _write_jani(text: Text, path: Path) -> None:
    """The program with its properties, and what JANI has no words for."""
    from ..io.jani import write_jani
    from ..lang import parse_model, parse_properties
    from ..lang.source import read_source

    properties = [] if text.props is None else [parse_properties(read_source(text.props))]
    if text.const:
        left_out = write_jani(options.load_program(text.source, text.const), path, properties)
    else:
        left_out = write_jani(parse_model(read_source(text.source)), path, properties)
    _tell(path)
    for prop, why in left_out:
        typer.echo(f"  leaves out {' '.join(prop.text.split())}: {why.message}")


JANI = ".jani"
TEXT_WRITERS: dict[str, Callable[[Text, Path], None]] = {".prism": _write_prism, JANI: _write_jani}
"""Formats that keep the commands of a program, not its states. A suffix and who writes it."""
PROGRAMS = {JANI: "a program in JANI", ".prism": "a network in SBML as a program"}
"""What they write, in a few words."""


def _tell(path: Path) -> None:
    typer.echo(f"{path}  {path.stat().st_size:,} bytes")
