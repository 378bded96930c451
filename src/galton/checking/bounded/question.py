"""What questions with step and time bounds have in common: what is asked, and how answers are put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...backend.formats import ORDERS
from ...backend.steps import Chain, Part, part_of
from ...device.arrays import members, namespace, on_host
from ...lang.source import GaltonError
from ...model.sparse import Int32s, Mask, Model, Rewards
from ...solve.finite_horizon import Horizon
from ...solve.power_sums import Otherwise, PowerSum, Weights, power_sum
from ...solve.settings import Settings
from ...solve.step_limits import patience
from ..quantity import Quantity, Work

Floats = npt.NDArray[np.float64]
Optimum = Literal["min", "max"] | None

__all__ = [
    "BoundError",
    "BoundedQuestion",
    "NegativeRewardError",
    "Optimum",
    "WideError",
    "are_close",
    "filled",
    "known",
    "work_of",
]


class BoundError(GaltonError):
    """A bound on steps or time that makes no sense: negative, infinite, or an empty interval."""


class NegativeRewardError(GaltonError):
    """Rewards below zero, which step and time bounds do not support."""

    kind = "unsupported"


class WideError(GaltonError):
    """Bounds that are wider than asked for because of rounding."""

    kind = "numeric"

    @classmethod
    def after(cls, steps: int, width: float) -> WideError:
        """The error for bounds that so many steps left so far apart."""
        return cls(
            f"rounding in {steps:,} steps leaves bounds {width:.2g} apart, more than asked for; "
            "a larger --eps would be met"
        )


@dataclass(frozen=True, eq=False)
class BoundedQuestion:
    """A question with a bound on steps or time, and what its parts have in common.

    Attributes
    ----------
    strategy
        Whether the choices are asked for.
    everywhere
        Whether the bounds of all states have to be close, relative to the largest number of all; if not, only those of
        the initial states have to, and the others merely hold.
    """

    model: Model
    settings: Settings
    optimum: Optimum = None
    strategy: bool = False
    everywhere: bool = False

    @property
    def threads(self) -> int:
        """How many threads to use."""
        return self.settings.n_threads

    @property
    def proving(self) -> Settings:
        """How to solve an unbounded question on the way: by the default, because what is made of it is to be proved."""
        return replace(self.settings, method=None)

    @property
    def at_home(self) -> BoundedQuestion:
        """This question, about the model as the host has it."""
        return replace(self, model=self.model.to_host())

    @property
    def in_single(self) -> bool:
        """Whether steps are made in single precision, which is for devices."""
        return self.settings.single and self.model.on_device

    @property
    def patience(self) -> int:
        """The most steps that are made one by one on this model."""
        return patience(self.model.n_transitions, self.model.n_choices)

    def part(self, keep: Mask | None) -> Part:
        """Return the matrix restricted to the states to keep; None keeps all."""
        return self.prepared(part_of(self.model, keep, self.threads))

    def prepared(self, part: Part) -> Part:
        """A part with its states in the order, and its matrix in the format and precision, that are asked for."""
        settings = self.settings
        if not self.model.on_device:  # the CPU has one of each
            return part
        if settings.order is not None:
            from ...reduce.renumbering import renumbered

            part = renumbered(part, settings.order, self.model.initial)
        return part.in_format(settings.format, single=settings.single)

    def of_rows(self, part: Part, numbers: Floats) -> Floats:
        """What ``(choices,)`` numbers are for the rows of a part."""
        if part.states is None or not self.model.has_choices:
            return part.of(numbers)
        rows: Floats = numbers[members(self.model.row_groups, part.states)[0]]
        return rows

    @property
    def all_states(self) -> Mask:
        """Every state."""
        found: Mask = namespace(self.model.columns).ones(self.model.n_states, dtype=np.bool_)
        return found

    @property
    def zeros(self) -> Floats:
        """A zero for each state."""
        found: Floats = namespace(self.model.columns).zeros(self.model.n_states)
        return found

    def first(self, factor: float) -> BoundedQuestion:
        """Return the question for a number that the answer is made from: its bounds are narrower, in all states."""
        return replace(self, settings=self.settings.tighter(factor), everywhere=True)

    def important(self, part: Part) -> Int32s:
        """The initial states in a part."""
        return part.positions(self.model.initial)

    def sum(
        self,
        chain: Chain,
        weights: Weights,
        *,
        stochastic: bool = False,
        exactly: bool = True,
        otherwise: Otherwise[PowerSum] | None = None,
    ) -> PowerSum:
        """Sum powers of a matrix with these weights, as closely as the question asks for."""
        return power_sum(
            chain,
            weights,
            self.important(chain.part),
            self.settings,
            stochastic=stochastic,
            everywhere=self.everywhere,
            exactly=exactly,
            otherwise=otherwise,
        )

    def reaching(self, goal: Mask, through: Mask | None = None) -> Mask:
        """States that can reach a goal."""
        from ...graph import can_reach

        if goal.all():
            return goal
        return can_reach(self.model, self.all_states if through is None else through, goal)

    def rewards(self, reward: Rewards) -> tuple[Floats, Floats]:
        """The state and choice rewards of a structure, zeros where there are none."""
        state = self.zeros if reward.state is None else reward.state
        choice = namespace(state).zeros(self.model.n_choices) if reward.choice is None else reward.choice
        if (state < 0).any() or (choice < 0).any():
            raise NegativeRewardError("rewards below zero are not supported with step and time bounds")
        return state, choice

    def close(self, answer: Quantity) -> bool:
        """Whether bounds are as close as asked for in the initial states, or too small to have digits."""
        initial = self.model.initial
        return are_close(answer.lower[initial], answer.upper[initial], self.settings)

    def needless(self, through: Mask) -> bool:
        """Whether a first phase within ``through`` settles all that is asked: no initial state is in it."""
        return not self.everywhere and not self.strategy and not through[self.model.initial].any()

    def accept(self, answer: Quantity) -> Quantity:
        """Return the answer if its bounds are as close as asked for; raise :class:`WideError` if not.

        Single precision was asked for by name, knowing what it does to bounds: these are told as they are.
        """
        if not self.close(answer):
            width = float((answer.upper - answer.lower)[self.model.initial].max())
            if not np.isfinite(width):
                what = "single precision" if self.in_single else "doubles"
                raise WideError(f"the answer is larger than what {what} can hold")
            if self.in_single:
                return answer
            raise WideError.after(answer.iterations, width)
        return answer


def are_close(lower: Floats, upper: Floats, settings: Settings) -> bool:
    """Whether these bounds are as close as asked for, or too small to have digits."""
    allowed = 2 * settings.eps * (abs(upper) if settings.relative else 1.0)
    finite = namespace(upper).isfinite(upper)
    return bool((((upper - lower <= allowed) & finite) | (upper <= 1e-290)).all())


@dataclass(frozen=True, eq=False)
class Curve:
    """``(points, initial states)`` bounds on a number at many bounds on time or steps, found in one pass."""

    lower: Floats
    upper: Floats
    method: str
    work: tuple[Work, ...] = ()

    @classmethod
    def of(
        cls,
        ask: BoundedQuestion,
        part: Part,
        found: PowerSum | Horizon,
        outside: Floats,
        most: float,
        method: str,
        work: tuple[Work, ...],
    ) -> Curve:
        """Put together what was found for the initial states of a part, and exact numbers outside it."""
        initial = ask.model.initial
        inside = np.ones(len(initial), dtype=np.bool_)
        if part.position is not None:
            inside = on_host(part.position[initial] >= 0)
        lower = np.tile(on_host(outside[initial]).astype(np.float64), (len(found.lower), 1))
        upper = lower.copy()
        lower[:, inside], upper[:, inside] = np.minimum(found.lower, most), np.minimum(found.upper, most)
        return cls(lower, upper, method, work)


def known(values: Floats, method: str) -> Quantity:
    """Return a quantity whose bounds are both these numbers."""
    return Quantity(values, values, method)


def filled(part: Part, inner: PowerSum | Horizon, outside: Floats, most: float = np.inf) -> tuple[Floats, Floats]:
    """Bounds for all states: those of a part, and exact numbers outside it."""
    lower, upper = outside.copy(), outside.copy()
    states = slice(None) if part.states is None else part.states
    xp = namespace(outside)
    lower[states], upper[states] = xp.minimum(inner.lower, most), xp.minimum(inner.upper, most)
    return lower, upper


def work_of(step: str, part: Part, found: PowerSum | Horizon) -> Work:
    """Describe the steps that were made, for ``--explain``."""
    if isinstance(found, PowerSum) and found.how:
        detail = f"{part.n_states:,} states, {part.n_entries:,} transitions; {found.how}"
        return Work(step, detail, found.steps, found.seconds)
    early = "" if found.steps == found.horizon else f", the rest of {found.horizon:,} steps enclosed"
    numbered = f", numbered {ORDERS[part.order]}" if part.order else ""
    detail = f"{part.n_states:,} states, {part.n_entries:,} transitions{numbered}{early}"
    if format := part.matrix.describe():
        detail += f"; {format}"
    return Work(step, detail, found.steps, found.seconds)
