"""What methods chosen by hand have in common: the unknowns at work, when to stop, and what to say if that never comes.

A method solves a range of unknowns in place, given the values of earlier ones; so each can be used on everything at
once or on one component after the other (:mod:`.topological`). It declares what it requires of the equations, which
the planner sees to (``reduce/plan.py``), and what it guarantees.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...backend.protocol import Span, Stop, System
from ...device.arrays import namespace
from ...model.errors import NumericError
from ...model.values import Floats
from ..equations import Equations, Segment
from ..proposal import ENTRIES_PER_CALL
from ..requirements import Requirement, insist
from ..settings import Settings
from ..solution import Solution, Work

__all__ = ["TAKE_DEFAULT", "Job", "Method"]

MAX_ITERATIONS = 1_000_000  # sweeps over a range, unless the settings say otherwise
TAKE_DEFAULT = "leave --method away: the default proves its answer"


@dataclass(frozen=True)
class Method:
    """A method and its terms.

    Attributes
    ----------
    balances
        How it finds stationary distributions, whose equations x = Ax leave a factor open: from any start, or only where
        the value of one state is fixed. None for a method that is not for them.
    in_single
        Whether it only sweeps: on a device it may then do so with vectors in single precision.
    in_formats
        Whether it reads the matrix in the format of a device, and not row after row, as proofs do.
    """

    name: str
    run: Callable[[Job, Segment], None]
    literature: str
    requires: frozenset[Requirement]
    guarantees: str
    proves: bool = False
    balances: Literal["from any start", "with one state fixed"] | None = None
    in_single: bool = False
    in_formats: bool = True

    def solve(self, equations: Equations, settings: Settings) -> Solution:
        """Solve for all unknowns at once."""
        job = Job(equations, settings, self)
        job.run(Segment(0, equations.size, False))
        return job.solution()


@dataclass(eq=False)
class Job:
    """Equations, and what is known of their solution so far.

    Attributes
    ----------
    x
        ``(unknowns,)`` the values; a method that proves keeps ``lower`` and ``upper`` as well.
    allowed
        The half-width, relative or not, that bounds may have where the method is at work.
    chosen
        The rows taken, where a method keeps them; in the end those that are not the best are replaced.
    sweeps
        Sweeps over a range so far, all ranges together.
    """

    equations: Equations
    settings: Settings
    method: Method
    name: str = ""
    allowed: float = 0.0
    chosen: npt.NDArray[np.int32] | None = None
    sweeps: int = 0
    detail: str = ""
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        choices = self.equations.groups is not None
        insist(self.method.name, self.method.requires & {Requirement.CHAIN}, () if choices else {Requirement.CHAIN})
        self.name = self.name or self.method.name
        self.allowed = self.allowed or self.settings.eps
        self.system: System = self.equations.system
        size = self.equations.size
        self.xp = xp = namespace(self.equations.columns)
        single = self.settings.single and self.method.in_single and xp is not np
        real = np.float32 if single else np.float64
        self.x: Floats = xp.zeros(size, dtype=real)
        self.copy: Floats = xp.empty(size, dtype=real)
        self.lower = xp.zeros(size) if self.method.proves else self.x
        self.upper = xp.full(size, np.inf) if self.method.proves else self.x

    @property
    def threads(self) -> int:
        return self.settings.n_threads

    def run(self, segment: Segment) -> None:
        """Let the method solve a range."""
        self._end = self.sweeps + (self.settings.max_iterations or MAX_ITERATIONS)
        self.method.run(self, segment)

    @property
    def left(self) -> int:
        """Sweeps until the method has to give up."""
        return max(self._end - self.sweeps, 0)

    def batch(self, segment: Segment) -> int:
        """Sweeps to do in one call."""
        work = self.equations.entries(segment) + segment.last - segment.first
        most = ENTRIES_PER_CALL if self.xp is np else 1000 * ENTRIES_PER_CALL
        return int(min(max(most / max(work, 1), 1), self.left, 2**31 - 1))

    def repeat(self, segment: Segment, sweep: Callable[[Span, Stop], tuple[int, float]], tolerance: float) -> None:
        """Call ``sweep(span, stop)``, which works on x, until nothing changes by more than the tolerance."""
        span = segment.span(self.threads)
        part, change = slice(segment.first, segment.last), np.inf
        while self.left:
            done, change = sweep(span, Stop(self.batch(segment), tolerance, self.settings.relative))
            self.spend(done, change)
            if not self.xp.isfinite(self.x[part]).all():
                raise NumericError(
                    f"{self.name} diverges: after {self.sweeps:,} sweeps its values are beyond all bounds; "
                    f"try an --omega of at most 1, or {TAKE_DEFAULT}"
                )
            if change <= tolerance:
                return
        of_itself = " of itself" if self.settings.relative else ""
        raise self.not_converged(f"a value still changed by {change:.2g}{of_itself} in the last one")

    def tell_bounds(self) -> None:
        """Report the bounds of the initial states, where they are among the unknowns."""
        origin = self.equations.origin
        initial = origin.number[origin.model.initial]
        if (initial >= 0).all():
            low, high = float(self.lower[initial].min()), float(self.upper[initial].max())
            self.settings.tell(method=self.name, sweeps=self.sweeps, lower=low, upper=high)

    def spend(self, sweeps: int, residual: float) -> None:
        """Count sweeps, and tell who is watching."""
        self.sweeps += sweeps
        self.settings.tell(method=self.name, sweeps=self.sweeps, residual=residual)

    def not_converged(self, why: str) -> NumericError:
        """The error of a method that did not get there."""
        return NumericError(
            f"{self.name} did not converge: after {self.sweeps:,} sweeps {why}; raise --max-iterations, "
            f"or {TAKE_DEFAULT}"
        )

    def residual(self, segment: Segment) -> Floats:
        """F(x) - x of a chain."""
        values: Floats = self.xp.empty(segment.last - segment.first)
        self.system.row_values(self.x, values, segment.span(self.threads))
        return values - self.x[segment.first : segment.last]

    def is_small(self, residual: Floats, x: Floats) -> bool:
        """Whether a sweep would change no unknown by more than eps."""
        return bool((abs(residual) <= self.settings.eps * (abs(x) if self.settings.relative else 1.0)).all())

    def solution(self) -> Solution:
        """What was found."""
        lower, upper = (bound.astype(np.float64, copy=False) for bound in (self.lower, self.upper))
        if self.equations.groups is not None:
            if self.chosen is None:
                self.chosen = self.equations.progress.copy()
            scratch = self.x.astype(np.float64)
            self.system.improve(scratch, scratch.copy(), self.chosen, Span(0, self.equations.size, self.threads))
            self.sweeps += 1
        work = Work(self.name, self.detail, self.sweeps, time.perf_counter() - self.started)
        return Solution(lower, upper, self.name, (work,), self.chosen, self.method.proves)
