"""The reachable states of a program alone, for whoever finds the transitions by other means."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..backend.cpu import explorer
from ..backend.limits import Limits
from ..device.threads import check_threads
from ..lang.depth import DeepRecursion
from ..lang.program import Program
from ..lower.lowering import Lowered, lower
from ..model.sparse import Int32s
from ..model.states import PackedStates

__all__ = ["StateSpace", "discover"]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """The reachable states of a program, in canonical order, and the program as it was lowered to find them."""

    lowered: Lowered
    states: PackedStates
    initial_words: np.ndarray

    @cached_property
    def initial(self) -> Int32s:
        """The numbers of the initial states."""
        found = [np.flatnonzero((self.states.words == words).all(axis=1))[0] for words in self.initial_words]
        return np.array(found, dtype=np.int32)


def discover(program: Program, *, threads: int | None = None) -> StateSpace:
    """Look for all reachable states, on the CPU; limits are those of :func:`galton.explore.build`."""
    check_threads(threads)
    with DeepRecursion(program.source):
        lowered = lower(program)
    limits = Limits.choose(None, None)
    found = explorer.discover(lowered, threads=threads or len(os.sched_getaffinity(0)), limits=limits)
    return StateSpace(lowered, *found)
