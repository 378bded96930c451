"""Options that several commands share, and what they have in common: read a model, build it, show progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..device.threads import MOST_THREADS
from . import telling
from .ending import memory_advice, unhurried

if TYPE_CHECKING:
    from ..lang import Source
    from ..lang.expressions import Expression
    from ..lang.program import Program
    from ..lang.syntax import ConstantDeclaration
    from ..lang.syntax import ModelFile as ModelFileSyntax
    from ..lower.reader import Reader
    from ..lower.slicing import Slice
    from ..lower.symmetry import Symmetry
    from ..model.sparse import Model


TYPED = "--prop"  # the source of properties from the command line


def at_least_one(value: float | None) -> float | None:
    """Refuse limits below 1, and ``nan``, which slips through ``min=1``."""
    if value is not None and not value >= 1:
        raise typer.BadParameter(f"{value:g} is not 1 or more")
    return value


ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A model in the PRISM language, in JANI (.jani) or SBML (.xml, .sbml), or in an explicit format: .tra "
        "with the .lab, .sta and .srew files beside it, .drn, .umb, .npz, .mtx, .mat.",
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
        help="Where to compute: cpu, cuda, cuda:0,1 (several devices, which share the work and the memory), auto: a "
        "CUDA device where there is one and it is worth it, or for check, started by mpirun, mpi.",
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


def load_program(path: Path, constants: list[str] | None) -> Program:
    """The checked program of a file with the constants of the command line; or the model that it holds."""
    from ..checking.inquiring import read_text
    from ..io.formats import is_model_file
    from ..lang import check_program, parse_model

    values = read_constants(constants or [])
    if is_model_file(path):
        from .given import read_given

        warn_of_strangers(path, values, ())
        return read_given(path)
    file = parse_model(read_text(path))
    tell_type(path, file)
    own = {constant.name.name for constant in file.constants}
    program = check_program(file, {name: value for name, value in values.items() if name in own})
    warn_of_strangers(path, values, file.constants)
    return program


def typed_property(text: str) -> Source:
    """A property of the command line; the name of a file of properties is an error that says where it belongs."""
    from ..checking.inquiring import is_path
    from ..lang import GaltonError, Source

    if is_path(text):
        raise GaltonError(f"--prop takes a property, and '{text}' is the name of a file: give it with --props {text}")
    return Source(TYPED, text)


def tell_type(path: Path, file: ModelFileSyntax) -> None:
    """Say how a model without a type is read, as PRISM does it too."""
    if file.type is None:
        telling.note(f"{path} does not say what it is, and is read as an MDP; begin it with dtmc, ctmc or mdp")


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
    """Say which constants a model does not declare.

    Where no property is asked that is worth a warning, not an error: the same constants are often given with and
    without a property file that uses them.
    """
    for stranger in _strangers(path, given, declared):
        telling.warn(stranger)


def refuse_strangers(path: Path, given: Collection[str], declared: Sequence[ConstantDeclaration]) -> None:
    """Refuse constants that neither the model nor any of the properties declares: the answer would be without them."""
    from ..lang import GaltonError

    for stranger in _strangers(path, given, declared):
        raise GaltonError(stranger)


def _strangers(path: Path, given: Collection[str], declared: Sequence[ConstantDeclaration]) -> Iterator[str]:
    from ..lang.constants import to_give
    from ..lang.stream import nearest

    names = [constant.name.name for constant in declared]
    for name in given:
        if name not in names:
            yield f"{path} has no constant '{name}'; {nearest(name, names) or to_give(declared, given)}"


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
    slice: Slice | None = None,
    symmetry: Symmetry | None = None,
) -> Model:
    """Build with progress on standard error, and say there what was mended; a model that is given is taken as it is."""
    from ..checking.watching import Exploring
    from ..explore import build
    from .given import GivenModel

    if isinstance(program, GivenModel):
        return tell_warnings(program.placed(device, max_states, memory, fix_deadlocks=fix_deadlocks, reader=reader))
    with Exploring() as watch, enough_memory("for the model"):
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
            slice=slice,
            symmetry=symmetry,
            watch=watch,
        )
    return tell_warnings(model)


def tell_warnings(model: Model) -> Model:
    """Say on standard error what a person should know about a model."""
    for trouble in model.placement.trouble:
        telling.warn(f"{trouble}")
    for warning in model.warnings:
        telling.warn(f"{warning}")
    warn_of_deadlocks(model)
    return model


def warn_of_deadlocks(model: Model) -> None:
    """Say which states had no transition."""
    from ..lower.reader import READER
    from ..model.states import State

    mask = model.labels["deadlock"]
    if count := model.stands_for(mask):
        named = model.first_of(mask)
        if isinstance(named, State):
            named = State({name: value for name, value in named.items() if name != READER})
        which = f"the state {named} has" if count == 1 else f"{count:,} states have"
        rest = "" if count == 1 else f", the first of them {named}"
        telling.warn(f"{which} no transition and got a self-loop{rest}")


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
        telling.complain(told(error))
        return False
    return True


def told(error: Exception) -> str:
    """An error in the words of the command line; those about a text or a file already begin with its place."""
    return str(error) if ": error: " in str(error) else f"error: {error}"


def peak_memory_mb() -> float:
    """The most memory this process has held, in megabytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
