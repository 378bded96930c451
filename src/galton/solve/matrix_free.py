"""Reachability and rewards without a matrix: bounds on the values of the initial states.

Rows are computed anew from states, which costs more than to read them, but takes no memory. So there are two numbers a
state and nothing else, and every method has to do with these.

1. *Backwards.* What lies on no cycle and leads to none is settled exactly (up to rounding, outwards), each state once.
   Where that settles all states there is nothing left to do.
2. *Graph analysis* by marks: where the goal cannot be reached, and where it cannot be missed.
3. *Probabilities by interval iteration* (S. Haddad and B. Monmege, "Interval iteration algorithm for MDPs and IMDPs",
   Theoretical Computer Science 735, 2018). Let F be the Bellman operator, monotone, whose least fixpoint is the
   probability. Sweeps from 0 stay below it. Numbers u with F(u) <= u are above it (Knaster and Tarski); 1 is such, and
   stays such where a number is replaced by one of F(u) that is smaller. So both bounds hold at any time, whatever end
   components there are; for ``Pmax`` these may keep the upper one from coming down, and then the bounds stay wide.
4. *Rewards.* Sweeps from 0 stay below. Beside them a weight w grows to the largest expected number of steps to a goal.
   When w >= 1 + Aw is proved for every choice, all strategies get to a goal with probability 1, so that F has one
   fixpoint; and for x from below with F(x) - x <= d, x + d w is above it: F(x + d w) <= F(x) + d A w <= x + d w. Until
   then there is no bound from above. ``Rmin`` with strategies that never get to a goal is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from ..backend.protocol import Proof
from ..lang.source import GaltonError
from ..model.errors import NumericError
from .settings import Settings
from .solution import Work

__all__ = ["Bounds", "MatrixFreeNumbers", "Solved", "prove_proposal", "solve"]

FEW_INITIAL = 1 << 16  # initial states, which can be looked at after every sweep
SELDOM = 8  # sweeps after which more are looked at
GROWTH = 1.5  # of weights, to be proved
SMALL_CHANGE = 0.3  # of weights in a sweep, below which 1.5 times as much is likely to be enough: 1.5 (1 - 0.3) > 1


class Bounds(NamedTuple):
    """Of the least and of the greatest value of an initial state, each from below and from above."""

    least: tuple[float, float]
    greatest: tuple[float, float]


class MatrixFreeNumbers(Protocol):
    """Two numbers for every state, as a backend has them."""

    kind: Literal["probability", "reward"]
    optimum: Literal["min", "max"] | None
    sweeps: int

    def n_states(self) -> int: ...
    def n_initial(self) -> int: ...
    def backwards(self, watch: Callable[[int], None] | None = None) -> int: ...
    def begin_marks(self) -> None: ...
    def mark(self, search: Literal["some", "all", "missed"], watch: Callable[[int], None] | None = None) -> int: ...
    def begin_sweeps(self, *, sure: bool) -> tuple[int, int, int]: ...
    def sweep(self, *, weighing: bool) -> tuple[float, float]: ...
    def scale_weights(self, factor: float) -> None: ...
    def prove(self, *, claims: bool = False) -> Proof: ...
    def extremes(self, proof: Proof | None = None) -> tuple[float, float, float, float]: ...


@dataclass(frozen=True)
class Solved:
    """Bounds, what was done, and whether they are as close as was asked for."""

    bounds: Bounds
    work: tuple[Work, ...]
    close: bool


def solve(
    numbers: MatrixFreeNumbers, settings: Settings, *, backwards: bool = True, until: float | None = None
) -> Solved:
    """Bounds on the values of the initial states; ``until`` is when to stop with what there is (``time.monotonic``).

    So are the sweeps that ``settings`` allow. There are models that take more than anybody waits for.

    Guarantees: the bounds hold, whenever it stops.
    """
    return _Solver(numbers, settings, until).run(backwards)


def prove_proposal(numbers: MatrixFreeNumbers, settings: Settings) -> Solved | None:
    """Bounds around numbers x with weights w that were found by other means, by one sweep.

    Each state that is no goal has a weight w >= 1 + Aw, whatever is chosen, or is said to have the value 0, which
    holds for a probability where F(x + w) = 0: then the choices that count stay among such states. States with a
    weight are left with probability 1 by every strategy, so there is one value. With F(x) - x <= d, u = x + d w has
    F(u) <= u, and is above it; with x - F(x) <= d', l = x - d' w has F(l) >= l, and is below. Nothing else about x
    and w has to be true.
    """
    return _Solver(numbers, settings, None).proposed()


class _Solver:
    def __init__(self, numbers: MatrixFreeNumbers, settings: Settings, until: float | None):
        self.numbers, self.settings, self.until = numbers, settings, until
        self.work: list[Work] = []
        self.since = time.perf_counter()

    def run(self, backwards: bool) -> Solved:
        numbers = self.numbers
        if backwards:
            left = numbers.backwards(lambda done: self._tell("backwards", states=done))
            self._done("backwards", f"{numbers.n_states() - left:,} of {numbers.n_states():,} states lead to no cycle")
            if not left:
                return self._solved(None)
        minimise, reward = numbers.optimum == "min", numbers.kind == "reward"
        numbers.begin_marks()
        rounds = numbers.mark("all" if reward or minimise else "some", self._marked)
        # The greatest probability is 1 also where some strategies miss the goal: that is left to sweeps.
        sure = reward or numbers.optimum != "max"
        if sure:
            rounds += numbers.mark("missed", self._marked)
        zero, one, open_ = numbers.begin_sweeps(sure=sure)
        what = ("endless", "goals") if reward else ("probability 0", "probability 1")
        self._done("graph analysis", f"{zero:,} states: {what[0]}, {one:,}: {what[1]}, {open_:,} open", rounds + 1)
        if reward and minimise and zero:
            raise GaltonError(
                "some strategies never reach the goal, and without a matrix the least reward is only found where all "
                "do; leave --matrix-free away"
            )
        if not open_:
            return self._solved(Proof(0, 0.0, 0.0) if reward else None)
        return self._rewards() if reward else self._probabilities()

    def _probabilities(self) -> Solved:
        begun = self.numbers.sweeps
        often = 1 if self.numbers.n_initial() <= FEW_INITIAL else SELDOM
        unchanged = 0
        while not self._late():
            changes = self.numbers.sweep(weighing=False)
            swept = self.numbers.sweeps - begun
            unchanged = unchanged + 1 if max(changes) == 0 else 0
            self._tell("interval iteration", sweeps=swept, residual=max(changes))
            if swept % often == 0 or unchanged:
                bounds = self._bounds(None)
                self._tell("interval iteration", sweeps=swept, residual=max(changes), **_range(bounds))
                if self._close(bounds) or unchanged > 1:
                    break
        self._done("interval iteration", "both bounds in each sweep", self.numbers.sweeps - begun)
        return self._solved(None)

    def _rewards(self) -> Solved:
        numbers, begun = self.numbers, self.numbers.sweeps
        proved = False
        proof = Proof(0, float("inf"), 0.0)  # numbers from below are bounds whatever is proved
        aim = SMALL_CHANGE
        while not self._late():
            first, second = numbers.sweep(weighing=not proved)
            swept = numbers.sweeps - begun
            self._tell("value iteration", sweeps=swept, residual=first)
            if not proved and second <= aim:
                numbers.scale_weights(GROWTH)
                proved = numbers.prove().violations == 0
                if not proved and max(first, second) == 0:
                    break  # nothing will change any more
                if not proved:
                    numbers.scale_weights(1 / GROWTH)
                    aim = second / 2
            elif proved and self._close(self._bounds(Proof(0, first, 0.0))):
                proof = Proof(0, numbers.prove().up, 0.0)
                bounds = self._bounds(proof)
                self._tell("value iteration", sweeps=swept, residual=proof.up, **_range(bounds))
                if self._close(bounds) or first == 0:
                    break
        else:
            if proved:
                proof = Proof(0, numbers.prove().up, 0.0)
        detail = "a bound from below, and the number of steps to a goal, which proves the one from above"
        self._done("value iteration", detail, numbers.sweeps - begun)
        return self._solved(proof)

    def proposed(self) -> Solved | None:
        """Bounds around numbers and weights that come from elsewhere; None where they prove nothing."""
        proof = self.numbers.prove(claims=True)
        detail = f"F(x) is at most {proof.up:.2g} above x and {proof.down:.2g} below it"
        if proof.violations:
            detail = f"{proof.violations:,} states contradict the proposal"
        self._done("proof", detail)
        return None if proof.violations else self._solved(proof)

    def _bounds(self, proof: Proof | None) -> Bounds:
        low_least, low_most, high_least, high_most = self.numbers.extremes(proof)
        if self.numbers.kind == "probability":
            high_least, high_most = min(high_least, 1.0), min(high_most, 1.0)
        return Bounds((low_least, high_least), (low_most, high_most))

    def _close(self, bounds: Bounds) -> bool:
        accepts = self.settings.tolerance.accepts
        return all(low == high or accepts(low, high) for low, high in bounds)

    def _solved(self, proof: Proof | None) -> Solved:
        bounds = self._bounds(proof)
        if any(not low <= high for low, high in bounds):
            raise NumericError(f"bounds that contradict each other: {bounds}")
        return Solved(bounds, tuple(self.work), self._close(bounds))

    def _late(self) -> bool:
        most = self.settings.max_iterations
        if most is not None and self.numbers.sweeps >= most:
            return True
        return self.until is not None and time.monotonic() > self.until

    def _marked(self, changed: int) -> None:
        self._tell("graph analysis", changed=changed)

    def _done(self, name: str, detail: str, sweeps: int = 1) -> None:
        now = time.perf_counter()
        self.work.append(Work(name, detail, sweeps, now - self.since))
        self.since = now

    def _tell(self, method: str, **more: object) -> None:
        if self.settings.watch is not None:
            self.settings.watch({"method": method, **more})


def _range(bounds: Bounds) -> dict[str, float]:
    return {"lower": bounds.least[0], "upper": bounds.greatest[1]}
