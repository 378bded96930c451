"""``galton lump``: a smaller model with the same answers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, telling
from .options import AsJson, Constants, Device, FixDeadlocks, MaxStates, Memory, ModelFile, Threads
from .setting_up import set_up

if TYPE_CHECKING:
    from ..model.sparse import Model
    from ..reduce.lumping import Lumped


def lump(
    model: ModelFile,
    const: Constants = None,
    prop: Annotated[
        list[str] | None,
        typer.Option(
            "--prop",
            "-p",
            metavar="PROPERTY",
            help="A property whose answer has to stay the same. Without any, all labels and all rewards are kept.",
            show_default=False,
        ),
    ] = None,
    props: Annotated[
        Path | None, typer.Option("--props", metavar="FILE", help="A file of such properties.", show_default=False)
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the smaller model, by suffix: .all or .tra .sta .lab .srew (PRISM), .drn (Storm), .umb (both), "
            ".npz (NumPy), .mtx (Matrix Market), .mat .m (MATLAB), .dot (Graphviz). May be given several times.",
            show_default=False,
        ),
    ] = None,
    actions: Annotated[
        bool,
        typer.Option("--actions", help="Keep choices with different actions apart; otherwise equal choices are one."),
    ] = False,
    device: Device = "auto",
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
    as_json: AsJson = False,
) -> None:
    """Make one state of all that behave alike, and say how many are left.

    Two states behave alike if they are labelled alike, earn the same rewards, and lead with the same probabilities (or
    rates, or choices of these) to states that behave alike: strong bisimulation. The smaller model has the same
    answers. The fewer things are asked about, the fewer states are needed: name the properties with --prop or --props.
    Numbers are compared exactly: states whose probabilities differ in the last digit stay apart.

    \b
    Examples:
      galton lump models/herman.prism -c N=11
      galton lump models/cluster.prism -c N=8 -p 'S=? [ "premium" ]' -o small.drn
      galton lump models/consensus.prism -c N=4,K=2 -p 'Pmin=? [ F "finished" & "all_heads" ]' -o coin.all
    """
    set_up(device)
    from ..checking.quotients import Wanted
    from ..io import check_suffixes, left_out, write_model
    from ..io.formats import expanded
    from ..io.output import check_writable
    from ..model.sparse import Model
    from ..solve.settings import Settings

    files = check_suffixes(expanded(output or []))  # before the work, not after it
    for path in files:
        check_writable(path)
    asked: list[str | Path] = [*([] if props is None else [props]), *(prop or [])]
    given = options.read_constants(const or [])
    wanted = Wanted.of(model, asked or None, given, Settings(threads=threads), actions=actions, typed=options.TYPED)
    if isinstance(wanted.subject, Model):
        whole = wanted.subject.to_device() if device.startswith("cuda") else wanted.subject
    else:
        building = {"threads": threads, "max_states": max_states, "memory": memory, "fix_deadlocks": fix_deadlocks}
        whole = options.build_model(wanted.subject, device=device, **building)  # type: ignore[arg-type]
    start = time.perf_counter()
    found = wanted.lumped(whole)
    seconds = time.perf_counter() - start
    if as_json:
        telling.say(json.dumps(_record(whole, found, seconds)))
    else:
        _tell(whole, found, seconds)
    small = found.model.to_host()
    files = expanded(output or [], small)
    lost = left_out(small, files)

    def write(path: Path) -> None:
        for written in write_model(small, path, exact=True):
            if not as_json:
                telling.say(f"{written}  {written.stat().st_size:,} bytes")
        for what in () if as_json else lost.get(path, ()):
            telling.say(f"  leaves out {what}")

    results = [options.kept(write, path) for path in files]  # all of them, whatever becomes of one
    if not all(results):
        raise typer.Exit(2)


def _record(whole: Model, found: Lumped, seconds: float) -> dict[str, object]:
    """The facts as one JSON object."""
    from ..checking.reports import sizes

    before = {f"{name}_before": size for name, size in sizes(whole).items()}
    times = {"build_s": round(whole.build_seconds or 0.0, 6), "lump_s": round(seconds, 6)}
    return {"type": whole.type, **sizes(found.model), **before, "rounds": found.rounds, **times}


def _tell(whole: Model, found: Lumped, seconds: float) -> None:
    """The facts for a person."""
    from ..checking.reports import states

    small = found.model
    telling.say(f"{whole.type}: {states(small)}")
    choices = f"{small.n_choices:,} of {whole.n_choices:,} choices, " if whole.has_choices else ""
    transitions = f"{small.n_transitions:,} of {whole.n_transitions:,} transitions"
    telling.say(f"  {choices}{transitions}; {found.rounds:,} rounds, {seconds:.3f} s")
    for what in ("labels", "rewards"):
        lost = [name or "(unnamed)" for name in getattr(whole, what) if name not in getattr(small, what)]
        if lost:
            telling.say(f"  leaves out {what} that were not asked about: {', '.join(lost)}")
