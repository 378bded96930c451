"""``galton info``: what a model is, and how large."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, telling
from .options import AsJson, Constants, Device, FixDeadlocks, MaxStates, Memory, ModelFile, Threads
from .setting_up import set_up
from .show import print_table

if TYPE_CHECKING:
    from ..lang.program import Program, Variable
    from ..model.sparse import Model


def info(
    model: ModelFile,
    const: Constants = None,
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
    device: Device = "auto",
    slice: Annotated[
        bool,
        typer.Option(
            "--slice", help="Leave out variables that no guard, probability, assignment, label or reward depends on."
        ),
    ] = False,
    symmetry: Annotated[
        bool,
        typer.Option(
            "--symmetry",
            help="Explore one state of several that are alike, and count what they stand for. Labels that tell such "
            "states apart are left out, and so are rewards.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build a model and tell its size: states, choices, transitions, labels, time and memory.

    \b
    Examples:
      galton info models/herman.prism --const N=15
      galton info models/consensus.prism --const N=10,K=2 --symmetry
      galton info models/brp.prism --const N=16,MAX=2 --slice
    """
    set_up(device)
    program = options.load_program(model, const)
    needed, kept = None, None
    if slice:
        from ..lower.slicing import Slices
        from .given import refuse_given

        refuse_given(model, "--slice")
        needed = Slices(program).keeping(list(program.labels.values()), range(len(program.rewards)))
    if symmetry:
        from ..lower.symmetry import Symmetries
        from .given import refuse_given

        refuse_given(model, "--symmetry")
        kept = Symmetries(program, None if needed is None else needed.lowering).keeping((), ())
    built = options.build_model(
        program,
        threads=threads,
        max_states=max_states,
        memory=memory,
        fix_deadlocks=fix_deadlocks,
        device=device,
        slice=needed,
        symmetry=kept,
    )
    if as_json:
        telling.say(json.dumps(summary(built)))
    else:
        show(program, built)


def summary(built: Model) -> dict[str, object]:
    """The facts as one JSON object."""
    from ..checking.reports import sizes

    return {
        "type": built.type,
        **sizes(built),
        "initial_states": built.stands_for(built.initial),
        "deadlocks": built.stands_for(built.labels["deadlock"]),
        "build_s": round(built.build_seconds or 0.0, 6),
        "memory_mb": round(options.peak_memory_mb(), 1),
        "placement": str(built.placement),
    }


def show(program: Program, built: Model) -> None:
    """The facts for a person."""
    rows = [
        ("type", built.type),
        ("constants", _listed([f"{name}={_text(value)}" for name, value in program.constants.items()])),
        ("variables", _listed([_variable(v.name, v.type, *_range(v, program, built)) for v in program.variables])),
        ("states", f"{built.n_states:,}" + _standing(built) + _initial(built)),
        ("slice", built.info.get("slice", "")),
        ("symmetry", built.info.get("symmetry", "")),
        ("choices", f"{built.n_choices:,}" if built.has_choices else ""),
        ("transitions", f"{built.n_transitions:,}"),
        ("deadlocks", f"{built.stands_for(built.labels['deadlock']):,}"),
        ("labels", _listed([f"{name} ({built.stands_for(mask):,})" for name, mask in built.labels.items()])),
        ("rewards", _listed([name or "(unnamed)" for name in built.rewards])),
        ("placement", str(built.placement)),
        ("build time", f"{built.build_seconds or 0:.3f} s"),
        ("memory", f"{built.memory / 2**20:,.1f} MB for the model, {options.peak_memory_mb():,.0f} MB at the peak"),
    ]
    print_table([row for row in rows if row[1]], indent=0)


def _range(variable: Variable, program: Program, built: Model) -> tuple[int, int]:
    """The range that a program declares; of a file of states, which declares none, the values that there are."""
    if program.modules or built.states is None or not built.n_states:
        return variable.low, variable.high
    column = built.states.column(variable.name)
    return int(column.min()), int(column.max())


def _standing(built: Model) -> str:
    return "" if not built.is_reduced else f" standing for {built.stands_for():,}"


def _initial(built: Model) -> str:
    many = built.stands_for(built.initial)
    return "" if many == 1 else f" ({many:,} initial)"


def _listed(items: list[str], most: int = 12) -> str:
    """A list that stays readable where a model has dozens of them."""
    return ", ".join(items) if len(items) <= most else f"{', '.join(items[: most - 2])}, … ({len(items)} in all)"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def _variable(name: str, type: str, low: int, high: int) -> str:
    if type == "bool":
        return f"{name} bool"
    return f"{name} int" if (low, high) == (-(2**31), 2**31 - 1) else f"{name} [{low}..{high}]"
