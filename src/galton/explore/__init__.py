"""From a checked program to a sparse model."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from ..backend.failures import DeadlockError, LimitError, SemanticError
from ..backend.limits import Limits
from ..device.arrays import how_many, namespace
from ..device.threads import check_threads
from ..lang.depth import DeepRecursion
from ..lang.program import Program
from ..lang.source import GaltonError

if TYPE_CHECKING:
    from ..backend.cpu.explorer import Watch
    from ..lang.expressions import Expression
    from ..lower.reader import Reader
    from ..lower.slicing import Slice
    from ..lower.symmetry import Symmetry
    from ..model.sparse import Model

MOST_ACTIONS = 1 << 16  # an action has two bytes per choice

__all__ = ["DeadlockError", "LimitError", "Limits", "SemanticError", "build"]


def build(
    program: Program,
    *,
    device: str = "cpu",
    threads: int | None = None,
    max_states: int | None = None,
    memory_mb: float | None = None,
    fix_deadlocks: bool = True,
    transition_rewards: bool = False,
    terminal: Expression | None = None,
    reader: Reader | None = None,
    slice: Slice | None = None,
    symmetry: Symmetry | None = None,
    watch: Watch | None = None,
) -> Model:
    """Explore all reachable states of a program.

    Parameters
    ----------
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:0,1"`` for several devices, which share the rows of matrices, or ``"auto"``: a
        CUDA device where there is one and the model is large enough. Arrays of a model built on a device stay there.
        Where the device cannot build it, the CPU does; where it is too large for the first of several devices, its
        arrays are on the host. The model's ``placement`` says where it lies, and why.
    threads
        How many to use; all cores by default. The result is the same for any number.
    max_states, memory_mb
        Where to stop with an error; by default most of the free memory may be used.
    fix_deadlocks
        Give states without a transition a self-loop; otherwise they are an error.
    transition_rewards
        Keep the reward of every single transition of a chain, which only its export needs.
    terminal
        A condition on states, with formulas expanded, where nobody asks what follows: they get a self-loop and no
        successor, and count as no deadlock.
    reader
        An automaton that reads the states: the model is its product with the program, its labels are the automaton's
        propositions.
    slice
        What is needed of the program: the rest is left out.
    symmetry
        Of the program or, where one is given, of its slice, as a question leaves it: of states that are alike, one is
        explored.
    watch
        Called ten times a second with the states, transitions and finished rows so far.
    """
    from ..lower.lowering import lower
    from .placing import explore

    if program.open_constants:
        names = ", ".join(program.open_constants)
        raise GaltonError(f"constants without a value: {names}; give them with --const")
    check_threads(threads)
    limits = Limits.choose(max_states, memory_mb)
    with DeepRecursion(program.source):
        reduced = slice if symmetry is None else symmetry
        if reduced is None:
            lowered = lower(program, terminal, reader)
        else:
            assert symmetry is None or slice is None or symmetry.symmetries.lowering is slice.lowering
            lowered = reduced.lowered(terminal, reader, rewards=bool(program.rewards))
    if len(lowered.actions) > MOST_ACTIONS:
        raise GaltonError(f"the model has {len(lowered.actions):,} actions; at most {MOST_ACTIONS:,} are supported")
    model = explore(
        lowered,
        device,
        threads=threads or len(os.sched_getaffinity(0)),
        limits=limits,
        transition_rewards=transition_rewards,
        watch=watch,
    )
    if lowered.terminal is not None:
        model = replace(model, info={**model.info, "cut": True})
    if slice is not None:
        model = replace(model, info={**model.info, **slice.info})
        if slice.commands:  # who cannot move here may be able to there
            unknown = namespace(model.columns).zeros_like(model.labels["deadlock"])
            model = replace(model, labels={**model.labels, "deadlock": unknown})
    if symmetry is not None:
        model = replace(model, info={**model.info, "symmetry": symmetry.note})
    deadlocks = model.labels["deadlock"]
    if not fix_deadlocks and how_many(deadlocks):
        first = model.first_of(deadlocks)
        many = model.stands_for(deadlocks)
        which = "1 state has" if many == 1 else f"{many:,} states have"
        raise DeadlockError(
            f"{which} no transition, the first is {first}; without --no-fix-deadlocks they get a self-loop"
        )
    return model
