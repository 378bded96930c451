"""The default: propose, then prove; segment by segment.

The proof needs nothing but one sweep with directed rounding: ``u >= F(u)`` is above the solution, ``l <= F(l)`` below
it. What is tried as u and l is (1 ± δ)x ± εw around a proposal x. Here w = x + Aw, roughly: w/x is the number of steps
that remain, along the paths that matter, and εx is what x may violate its own equation by in each of them. δ passes on
the widths of the unknowns solved before, and does the work of w where a row has a constant that is not tiny. All of
this is relative to x, so that tiny probabilities keep their digits. A rough w will do: w - Aw >= x/2.

Where a component is so badly conditioned that no proposal can be proved, it is solved directly (:mod:`.direct`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from .. import _core
from ..backend.protocol import Span, System
from ..device.arrays import how_many, namespace
from ..model.errors import NumericError
from ..model.rounding import SPACING
from ..model.values import Floats
from .absorbing import AbsorbingChains
from .device_proposal import ParallelProposer
from .direct.fallback import solve_directly
from .equations import Equations, Int32s, Segment
from .proposal import SMALL, Proposer
from .settings import Settings
from .solution import Solution, Work
from .streaming import Device, StreamingProposer, device_for
from .support import extend
from .tolerance import TINY

__all__ = ["Start", "solve"]

SHARES = (1e-3, 1e-6)  # of x: a row with a larger constant is left to δ
# A row whose value is farther than this from the best, relatively, has room to spare. Rows that are not may lead round
# in circles when they count as the best; then fewer are looked at.
NEAR = (1e-3, 1e-5, 1e-7)
FEW = 2_000  # unknowns with choices up to which longer numbers are faster than another look with more room
MORE = 8  # times as much room, when one has to be found
CLOSE = 1e-8  # changes at which the rows of a strategy are told from others

BEGIN = 1e-4  # how closely a strategy to begin with is evaluated


@dataclass(frozen=True, eq=False)
class Start:
    """Where to begin: what was found for equations that differ little.

    Attributes
    ----------
    x
        ``(unknowns,)`` their solution.
    chosen
        ``(unknowns,)`` their rows, which must leave with probability 1; None for a chain.
    w
        ``(unknowns,)`` what x was shifted by to be proved; None if that is not known.
    """

    x: Floats
    chosen: Int32s | None = None
    w: Floats | None = None


def solve(equations: Equations, settings: Settings, start: Start | None = None) -> Solution:
    """Bounds on all unknowns; a ``start`` that is close to the solution makes it faster.

    Requires: every strategy leaves the unknowns with probability 1, or has an infinite value; x >= 0.
    Guarantees: the bounds hold; their relative distance is at most 2·eps, unless :class:`NumericError` is raised.
    """
    stream = settings.stream and not equations.on_device
    return _Solver(equations, settings, device_for(equations) if stream else None, start).run()


class _Solver:
    def __init__(self, equations: Equations, settings: Settings, device: Device | None, start: Start | None) -> None:
        self.start = start
        self.equations, self.settings, self.device = equations, settings, device
        self.system = equations.system
        size, xp = equations.size, namespace(equations.columns)
        self.lower, self.upper = xp.zeros(size), xp.zeros(size)
        groups = equations.groups
        chosen = None if groups is None else equations.progress.copy()
        x = xp.zeros(size)
        if start is not None:
            x, chosen = start.x.copy(), None if start.chosen is None else start.chosen.copy()
        room = xp.empty(size)
        self.absorbing = AbsorbingChains(equations, settings) if groups is None else None
        self.x = self._proposer(self.system, x, room, chosen)
        # The equations of w: the constants are x, and where there is a choice the longest way counts.
        self.w_constant = xp.zeros(len(equations.rows))
        weighing = equations.system_with(self.w_constant, None if groups is None else "max")
        self.w = self._proposer(weighing, xp.zeros(size), room, None if chosen is None else chosen.copy(), weighs=True)
        self.shift = xp.zeros(size)  # w of all segments
        self.seen = xp.zeros(size)  # 1 where x is not 0; kept where something costs nothing
        self.sees = equations.optimum == "min" and equations.origin.reward is not None
        self.width = 0.0  # the largest half-width so far, relative
        self.passed_on = 0.0  # δ/ε
        self.directly: dict[str, int] = {}  # segments that could not be proved otherwise, by what did
        self.proofs = 0

    def _proposer(self, system: System, x: Floats, room: Floats, chosen: Any, *, weighs: bool = False) -> Proposer:
        """On a device, on the host, or on the host with a device for the large segments."""
        if self.equations.on_device:
            return ParallelProposer(system, x, room, chosen, self.settings)
        given = (system, x, room, chosen, self.settings)
        if self.device is None:
            return Proposer(*given, absorbing=self.absorbing)
        return StreamingProposer(*given, absorbing=self.absorbing, device=self.device, weighs=weighs)

    def run(self) -> Solution:
        start = time.perf_counter()
        cyclic = sum(not segment.acyclic for segment in self.equations.segments)
        allowed = 0.8 * self.settings.eps
        budget = allowed / max(cyclic, 1)
        choose = self.x.chosen is not None and self.settings.strategy
        for segment, begun in self._in_order():
            if self.equations.faint:
                self._solve_directly(segment)
                continue
            if segment.acyclic:
                self.system.propagate(self.lower, self.upper, self._span(segment), self.equations.slack)
                self.proofs += 1
                if cyclic or choose:
                    self._keep(segment)
                continue
            # Most segments widen the bounds by less than their part; one that needs more gets half of what is left.
            spare = (allowed - self.width) / 2
            if not self._iterate(segment, budget, begun=begun):
                self._persist(segment, budget, spare)
        if choose:
            self._choose_acyclic()
        work = self._work(time.perf_counter() - start)
        return Solution(self.lower, self.upper, "sound", work, self.x.chosen if choose else None, shift=self.shift)

    def _persist(self, segment: Segment, budget: float, spare: float) -> None:
        """Once more with more room, or directly; what is likely to be faster comes first."""
        failure: NumericError | None = None
        if segment.last - segment.first <= (SMALL if self.x.chosen is None else FEW):
            try:
                self._solve_directly(segment)
                return
            except NumericError as error:
                if self.equations.on_device:
                    raise  # the CPU has what a device lacks
                failure = error
        while budget != spare:
            budget = min(MORE * budget, spare)
            if self._iterate(segment, budget):
                return
        if failure is not None:
            raise failure
        self._solve_directly(segment)

    def _in_order(self) -> Iterator[tuple[Segment, bool]]:
        """The segments, and whether there is a proposal for each already, by a device that had several together."""
        if self.device is None:
            yield from ((segment, False) for segment in self.equations.segments)
            return
        for whole, members in self.device.groups():
            begun = len(members) > 1 and self._begins_easily(whole) and self._begin(whole)
            yield from ((member, begun) for member in members)

    def _begin(self, whole: Segment) -> bool:
        return isinstance(self.x, StreamingProposer) and self.x.begin(whole, CLOSE)

    def _begins_easily(self, whole: Segment) -> bool:
        """Whether sweeps do without a look at what costs nothing; see :meth:`_begin_for_nothing`."""
        equations = self.equations
        pays = equations.optimum != "min" or equations.origin.reward is None
        return pays or not how_many(equations.constant[equations.rows_of(whole)] == 0)

    def _work(self, seconds: float) -> tuple[Work, ...]:
        segments = self.equations.segments
        acyclic = sum(segment.acyclic for segment in segments)
        detail = f"{len(segments):,} segments, {acyclic:,} of them without a cycle"
        if self.device is not None and self.device.visits:
            detail += f", proposed in {self.device.visits:,} parts on the device"
        if self.device is not None and self.device.trouble:
            detail += f", where something went wrong ({self.device.trouble})"
        for name, count in self.directly.items():
            detail += f", {count:,} by {name}"
        detail += f"; {self.x.sweeps:,} sweeps to propose, {self.w.sweeps:,} to weigh, {self.proofs:,} to prove"
        return (Work("propose and prove", detail, self.x.sweeps + self.w.sweeps + self.proofs, seconds),)

    def _keep(self, segment: Segment) -> None:
        """Later segments read this one's middles, and widen their bounds by its width."""
        last = segment.last == self.equations.size
        if last and (self.equations.on_device or not self.settings.strategy):  # a device has one segment
            return
        part = slice(segment.first, segment.last)
        width = _core.middles(self.lower, self.upper, self.x.x, self._span(segment), TINY)
        self.width = max(self.width, width)
        if self.sees:
            self.seen[part] = self.x.x[part] > 0
        if not segment.acyclic:
            self.w.x[part] = 0.0  # steps are counted within a segment

    def _iterate(self, segment: Segment, budget: float, *, begun: bool = False) -> bool:
        """Bounds by proposal and proof, from a proposal where one was begun; False when they cannot be proved."""
        entries = self.equations.entries(segment) + segment.last - segment.first
        if self.start is not None and self.x.chosen is not None:
            self.x.evaluate(segment, BEGIN)
        elif self.equations.optimum == "min" and not begun:
            self._begin_for_nothing(segment)
            self.x.evaluate(segment, 1e-2)
        # Which rows are nearly the best shows only when x is good.
        close = 1e-3 if self.x.chosen is None else CLOSE
        if self.x.solve(segment, close, entries) > close and segment.last - segment.first <= SMALL:
            return False  # this is faster done directly
        for near, share in product(NEAR if self.x.chosen is not None else NEAR[:1], SHARES):
            goal = budget
            for _ in range(4):
                steps = self._weigh(segment, entries, near, share, goal / (32 * SPACING))
                aim = goal / (16 * steps)
                if aim < 2 * SPACING:
                    break
                residual = self.x.solve(segment, aim, entries)
                if self._prove(segment, budget):
                    self.shift[segment.first : segment.last] = self.w.x[segment.first : segment.last]
                    self._keep(segment)
                    return True
                if residual > aim:
                    break
                goal /= 8
        return False

    def _begin_for_nothing(self, segment: Segment) -> None:
        """Where nothing has to be paid, begin with rows on which nothing is: sweeps would near that for ever."""
        equations, span, rows = self.equations, self._span(segment), self.equations.rows_of(segment)
        if equations.origin.reward is None or not how_many(equations.constant[rows] == 0):
            return
        assert equations.groups is not None
        assert self.x.chosen is not None
        costly = self.seen
        if not how_many(~extend(self.system, span, costly, self.x.copy, None)):
            return
        self.system.take_free_rows(costly, self.x.chosen, span)
        self.x.sweeps += 3

    def _weigh(self, segment: Segment, entries: int, near: float, share: float, most: float) -> float:
        """Find w; returns how many times wider the bounds will be than what x violates its equations by.

        With choices, only rows that are nearly the best need w: others have room to spare, which the proof will show.
        Rows with a constant above ``share`` of x are left to δ.
        """
        span = self._span(segment)
        part = span.part
        x = self.x.x[part]
        self.system.weigh_rows(self.x.x, self.x.chosen, self.w_constant, span, near=near, share=share)
        if self.w.chosen is not None and self.x.chosen is not None:
            self.w.chosen[part] = self.x.chosen[part]
        self.w.x[part] = x if self.start is None or self.start.w is None else np.maximum(self.start.w[part], x)
        steps, small = 1.0, segment.last - segment.first <= SMALL
        for _ in range(4):
            aim = 0.2 / steps
            if self.w.solve(segment, aim, entries, rounds=4 if small else 20) > aim and small:
                break  # this is faster done directly
            w = self.w.x[part]
            w[x == 0] = 0.0  # the row that gives 0 leads to zeros only
            with np.errstate(invalid="ignore"):
                steps = max(steps, float(np.where(x > 0, w / x, 1.0).max()))
            self.w.sweeps += 1
            if steps > most:  # than doubles have digits for
                break
            if how_many(w >= 0) == len(w) and self.w.system.growth(self.w.x, self.x.x, span) <= 0.5:
                self.passed_on = self.system.left_to_delta(self.x.x, self.w.x, self.w_constant, span, share=share)
                return max(steps, self.passed_on)
        return float("inf")

    def _prove(self, segment: Segment, budget: float) -> bool:
        span = self._span(segment)
        part, prover = span.part, self.equations.prover
        x, w, slack = self.x.x[part], self.w.x[part], self.equations.slack
        xp = namespace(x)
        defect = self.system.defect(self.x.x, span)
        self.proofs += 1
        if not np.isfinite(defect):
            return False
        for factor in (3.0, 30.0):
            epsilon = factor * (defect + slack + 2 * SPACING)
            delta = self.width * (1 + 1e-9) + epsilon * (self.passed_on + 1)
            with np.errstate(invalid="ignore", over="ignore"):  # what is no number is not proved
                self.upper[part] = (1 + delta) * x + epsilon * w
                self.lower[part] = xp.maximum((1 - delta) * x - epsilon * w, 0.0)
            self.proofs += 2
            if prover.is_above(self.upper, span, slack) and prover.is_below(self.lower, span, slack):
                return _half_width(self.lower[part], self.upper[part], x) <= self.width + budget
        return False

    def _span(self, segment: Segment) -> Span:
        return segment.span(self.settings.n_threads)

    def _solve_directly(self, segment: Segment) -> None:
        if self.equations.on_device:
            raise NumericError("the bounds cannot be proved on a device")
        name = solve_directly(self.equations, segment, self.x.chosen, self.lower, self.upper, self.settings)
        self.directly[name] = self.directly.get(name, 0) + 1
        self._keep(segment)

    def _choose_acyclic(self) -> None:
        """Rows for the unknowns that were never iterated: those that attain the bounds."""
        for segment in self.equations.segments:
            if segment.acyclic:
                self.x.sweep(segment, 1)


def _half_width(lower: Floats, upper: Floats, x: Floats) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.where(upper > lower, (upper - lower) / x / 2, 0.0).max())
