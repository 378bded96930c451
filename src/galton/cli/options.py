"""Options that several commands share, and what they have in common: read a model, build it, show progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..device.threads import MOST_THREADS
from .ending import memory_advice, unhurried

if TYPE_CHECKING:
    from ..backend.cpu.explorer import Watch
    from ..lang.expressions import Expression
    from ..lang.program import Program
    from ..lang.syntax import ConstantDeclaration
    from ..lower.reader import Reader
    from ..model.sparse import Model


def at_least_one(value: float | None) -> float | None:
    """Refuse limits below 1, and ``nan``, which slips through ``min=1``."""
    if value is not None and not value >= 1:
        raise typer.BadParameter(f"{value:g} is not 1 or more")
    return value


ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A model in the PRISM language, or in an explicit format: .tra with the .lab, .sta and .srew files beside "
        "it, .drn, .umb, .npz, .mtx, .mat.",
        show_default=False,
    ),
]
Constants = Annotated[
    list[str] | None,
    typer.Option(
        "--const", "-c", metavar="NAME=VALUE,…", help="Values of constants, e.g. N=15,p=0.5.", show_default=False
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        "-t",
        min=1,
        max=MOST_THREADS,
        help="Threads to compute with; all cores if not given.",
        show_default=False,
    ),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="NAME",
        help="Where to compute: cpu, cuda, cuda:0,1 (several devices, which share the work and the memory), or "
        "auto: a CUDA device where there is one and it is worth it.",
    ),
]
OneDevice = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="NAME",
        help="Where to compute: cpu, or for CTMCs cuda, or cuda:1 for the second device; auto begins on the CPU and "
        "moves to a device, if there is one, when that would take longer than a second or two.",
    ),
]
MaxStates = Annotated[
    float | None,
    typer.Option(
        "--max-states", callback=at_least_one, help="Stop when there are more states, e.g. 1e8.", show_default=False
    ),
]
Memory = Annotated[
    float | None,
    typer.Option(
        "--memory",
        callback=at_least_one,
        metavar="MB",
        help="Memory for the states; most of what is free if not given.",
        show_default=False,
    ),
]
FixDeadlocks = Annotated[
    bool,
    typer.Option(
        "--fix-deadlocks/--no-fix-deadlocks", help="Give states without transitions a self-loop, or refuse them."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output and nothing else there.")]

QUIET_SECONDS = 1.0  # before progress is shown
REFRESH_SECONDS = 0.1


def load_program(path: Path, constants: list[str] | None) -> Program:
    """The checked program of a file with the constants of the command line; or the model that it holds."""
    from ..io.formats import is_model_file
    from ..lang import check_program, parse_model
    from ..lang.source import read_source

    values = read_constants(constants or [])
    if is_model_file(path):
        from .given import read_given

        warn_of_strangers(path, values, ())
        return read_given(path)
    file = parse_model(read_source(path))
    own = {constant.name.name for constant in file.constants}
    program = check_program(file, {name: value for name, value in values.items() if name in own})
    warn_of_strangers(path, values, file.constants)
    return program


def read_constants(texts: list[str]) -> dict[str, str]:
    """All constants of the command line, name to text."""
    from ..lang import GaltonError, parse_constants

    values: dict[str, str] = {}
    for text in texts:
        more = parse_constants(text)
        if twice := sorted(values.keys() & more.keys()):
            raise GaltonError(f"the constant '{twice[0]}' is given twice")
        values |= more
    return values


def warn_of_strangers(path: Path, given: Collection[str], declared: Sequence[ConstantDeclaration]) -> None:
    """Say which constants nobody declares.

    It is worth a warning, not an error: the same constants are often given to models with and without a property file
    that uses them.
    """
    from ..lang.constants import to_give
    from ..lang.stream import nearest

    names = [constant.name.name for constant in declared]
    for name in given:
        if name not in names:
            hint = nearest(name, names) or to_give(declared)
            typer.echo(f"warning: {path} has no constant '{name}'; {hint}", err=True)


def build_model(
    program: Program,
    *,
    threads: int | None,
    max_states: float | None,
    memory: float | None,
    fix_deadlocks: bool,
    device: str = "cpu",
    transition_rewards: bool = False,
    terminal: Expression | None = None,
    reader: Reader | None = None,
) -> Model:
    """Build with progress on standard error, and say there what was mended; a model that is given is taken as it is."""
    from ..explore import build
    from .given import GivenModel

    if isinstance(program, GivenModel):
        return tell_warnings(program.placed(device, max_states, memory, fix_deadlocks=fix_deadlocks, reader=reader))
    with progress() as watch, enough_memory("for the model"):
        model = build(
            program,
            device=device,
            threads=threads,
            max_states=None if max_states is None else int(min(max_states, sys.maxsize)),
            memory_mb=memory,
            fix_deadlocks=fix_deadlocks,
            transition_rewards=transition_rewards,
            terminal=terminal,
            reader=reader,
            watch=watch,
        )
    return tell_warnings(model)


def tell_warnings(model: Model) -> Model:
    """Say on standard error what a person should know about a model."""
    for trouble in model.placement.trouble:
        typer.echo(f"warning: {trouble}", err=True)
    for warning in model.warnings:
        typer.echo(f"warning: {warning}", err=True)
    deadlocks = int(model.labels["deadlock"].sum())
    if deadlocks:
        which = "1 state has" if deadlocks == 1 else f"{deadlocks:,} states have"
        typer.echo(f"warning: {which} no transition and got a self-loop", err=True)
    return model


@contextmanager
def enough_memory(what: str) -> Iterator[None]:
    """Say what there was too little memory for."""
    try:
        yield
    except MemoryError as error:
        from ..backend.failures import LimitError

        raise LimitError(memory_advice(error, what)) from None


def kept(write: Callable[[Path], object], path: Path | None) -> bool:
    """Write a result where one is to be kept, and say what went wrong; the answer itself is not lost by it."""
    from ..lang import GaltonError

    if path is None:
        return True
    try:
        with unhurried(), enough_memory(f"to write {path}"):
            write(path)
    except GaltonError as error:
        typer.echo(told(error), err=True)
        return False
    return True


@contextmanager
def progress() -> Iterator[Watch | None]:
    """A callback that keeps one line up to date, where somebody is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    start = time.monotonic()
    shown = False

    def watch(states: int, transitions: int, rows: int) -> None:
        nonlocal shown
        took = time.monotonic() - start
        if took < QUIET_SECONDS:
            return
        shown = True
        if rows:
            line = f"{states:,} states found, writing rows {rows / states:.0%}, {took:.0f} s"
        else:
            line = f"{states:,} states, {transitions:,} transitions, {states / took / 1e6:.1f} M states/s, {took:.0f} s"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    try:
        yield watch
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def told(error: Exception) -> str:
    """An error in the words of the command line; those about a text or a file already begin with its place."""
    return str(error) if ": error: " in str(error) else f"error: {error}"


def peak_memory_mb() -> float:
    """The most memory this process has held, in megabytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
