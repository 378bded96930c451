"""What a backend does, module by module.

Each protocol here is met by a module of every backend's folder: :class:`Explorer` by ``explorer``, :class:`Graph` by
``graph`` and so on. Arrays are those of the backend's own library; their types are written as NumPy's, whose names the
others share. :class:`System` is what sweeps go over: methods are written over it and do not know who does the work.
``backend/reference`` says in plain Python and NumPy what all of it means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..lower.lowering import Lowered
    from ..model.rounding import Precision
    from ..model.sparse import Int32s, Mask, Model, Offsets
    from ..model.values import Floats, Values
    from .chain import Chain as RewardedChain
    from .components import Components, EndComponents
    from .limits import Limits
    from .lumping import LumpLimits, LumpRows, Partition
    from .regions import GroupedRows, Int64s

    Number = TypeVar("Number", bound=np.generic)  # what an array has, be it numbers or truth values

__all__ = [
    "LITTLE_NOISE",
    "NOISE",
    "OPTIMA",
    "Bellman",
    "Bias",
    "BoxWeights",
    "Chain",
    "Equations",
    "Explorer",
    "Graph",
    "LongRun",
    "Lumping",
    "Matrix",
    "Optimum",
    "Preconditioner",
    "Proof",
    "RegionRows",
    "RegionSteps",
    "Regions",
    "Rows",
    "Span",
    "StepMatrix",
    "Steps",
    "Stop",
    "System",
    "Watch",
    "Watching",
]

Watch = Callable[[int, int, int], None]  # told of states, transitions and finished rows
Optimum = Literal["min", "max"]
# A row that is better by less than this, relatively, is no reason to change a strategy: without a reason it would
# change for ever. Where x is right to nearly the last digit, less is a reason.
NOISE, LITTLE_NOISE = 1e-13, 1e-15
OPTIMA: dict[Optimum | None, int] = {"min": -1, None: 0, "max": 1}


class Span(NamedTuple):
    """The unknowns that a primitive works on: ``first`` up to ``last``, which is not one of them.

    ``threads`` may share the work on a CPU, where it can be shared; a device shares it out as it sees fit.
    """

    first: int
    last: int
    threads: int = 1

    @property
    def part(self) -> slice:
        """Their part of a vector."""
        return slice(self.first, self.last)


class Stop(NamedTuple):
    """When sweeps end: after so many, or when no unknown changes by more than ``tolerance``.

    ``relative`` measures a change in parts of the unknown itself.
    """

    sweeps: int
    tolerance: float = 0.0
    relative: bool = True


class Proof(NamedTuple):
    """What one sweep over numbers x with weights says: how many states contradict, and by how much F(x) is above x and
    below x at most.
    """

    violations: int
    up: float
    down: float


class Explorer(Protocol):
    """From a lowered program to a model."""

    def explore(
        self,
        lowered: Lowered,
        *,
        threads: int,
        limits: Limits,
        transition_rewards: bool = False,
        watch: Watch | None = None,
    ) -> Model:
        """All reachable states, in canonical order, and their rows."""


class Graph(Protocol):
    """Searches in the graph of a model; the numbers of its matrix are not looked at."""

    def reach_some(self, model: Model, through: Mask, goal: Mask) -> Mask:
        """States with a path to the goal, through those states."""

    def reach_every(self, model: Model, through: Mask, goal: Mask) -> Mask:
        """States with a path to the goal whatever is chosen."""

    def reach_surely(self, model: Model, through: Mask, goal: Mask, candidates: Mask) -> Mask:
        """Candidates with a strategy that reaches the goal with probability 1, in a model with choices."""

    def reach_by(self, model: Model, through: Mask, goal: Mask, staying: Mask | None, strategy: Int32s) -> None:
        """Write choices that get closer to the goal; with ``staying``, only those whose successors are all there."""

    def reach_forward(self, model: Model, start: Mask, within: Mask | None) -> Mask:
        """The states on paths from the start that never leave ``within``."""

    def strong_components(self, model: Model, within: Mask | None, choices: Mask | None) -> Components:
        """Strongly connected components, successors first."""

    def end_components(self, model: Model, within: Mask | None, choices: Mask | None) -> EndComponents:
        """Maximal end components."""


class Rows(Protocol):
    """Between states and their choices."""

    def owners(self, model: Model) -> Int32s:
        """``(choices,)`` the state of each choice."""

    def spread(self, model: Model, numbers: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """``(choices,)`` what ``(states,)`` numbers are in the state of each choice."""

    def every_successor_in(self, model: Model, states: Mask) -> Mask:
        """``(choices,)`` mask of the choices all of whose successors are among the states."""

    def best_choice(self, model: Model, numbers: npt.NDArray[Number], *, maximise: bool) -> npt.NDArray[Number]:
        """``(states,)`` the best of the numbers, or truth values, of each state's choices."""


class Lumping(Protocol):
    """States that behave alike."""

    def split(self, keys: npt.NDArray[np.uint64], block: Int32s) -> int:
        """Split blocks, in place, by numbers that their members have; how many there are then."""

    def refine(self, rows: LumpRows, block: Int32s, limits: LumpLimits = ..., threads: int = 1) -> Partition:
        """The coarsest stable partition that is finer than the one given, whose numbers have no gaps.

        Partitions are stable where the states of a block have the same set of rows, each as the exact sums of its
        weights into blocks.
        """


class Matrix(Protocol):
    """The rows of equations, from which systems are made: with one or other constants, to sweep or to prove."""

    def system(self, constant: Floats, optimum: Optimum | None, *, compact: bool) -> System:
        """Equations to sweep over; ``compact`` where the constants will not change."""

    def prover(self, constant: Floats, optimum: Optimum | None) -> System:
        """Equations to prove bounds of, in the plainest form there is."""

    def describe(self) -> str:
        """The format and why it was chosen; empty where there is only one."""


class Watching(Protocol):
    """What long work may use, and whom it tells how far it is."""

    @property
    def n_threads(self) -> int:
        """Threads of the host."""

    @property
    def max_iterations(self) -> int | None:
        """Sweeps after which to give up."""

    def tell(self, **progress: object) -> None:
        """Tell how far the work is, and look for signals."""


class Preconditioner(NamedTuple):
    """What helps Krylov's method to solve an equation.

    ``prepare`` makes it, and is False where that cannot be done. ``patience`` is how many steps may pass without a
    tenfold improvement.
    """

    name: str
    prepare: Callable[[], bool]
    patience: int


class Bias(Protocol):
    """A guess at the bias h of a chain, in Poisson's equation g = r + Qh, solved as often as it takes."""

    threads: int
    sweeps: int  # products with the matrix so far
    busiest: int  # a state where the chain spends much of its time
    exit_rates: Floats  # of each state, without loops

    @property
    def preconditioners(self) -> Sequence[Preconditioner]:
        """What to prepare before :meth:`improve`, in the order in which they are tried."""

    def improve(self, reward: Floats, h: Floats, *, relative: float, absolute: float, patience: int) -> bool:
        """Improve h, in place, until r + Qh seems to be constant up to a width; False when that does not happen."""


class LongRun(Protocol):
    """Poisson's equation of an irreducible chain, and what proves a long-run average."""

    @property
    def eliminates(self) -> bool:
        """Whether states can be eliminated completely."""

    def bias(self, chain: RewardedChain, watching: Watching) -> Bias:
        """A guess at the bias, to be improved."""

    def drift_bounds(
        self,
        chain: RewardedChain,
        state: Floats | None,
        choice: Floats | None,
        high: Floats,
        low: Floats | None,
        threads: int,
    ) -> tuple[Floats, Floats]:
        """Bounds on r + Qh, rounding included; h is the sum of the two vectors.

        ``(states,)`` in a chain, ``(choices,)`` in an MDP, where every choice has its own r and Q.
        """


class Equations(Protocol):
    """Equations of some states of a model, and sweeps over them."""

    def matrix(
        self,
        groups: Int32s | None,
        starts: Offsets,
        columns: Int32s,
        values: Values,
        scale: Floats | None,
        constant: Floats,
        *,
        format: str | None,
        devices: tuple[int, ...],
    ) -> Matrix:
        """The rows, in a format of :mod:`.formats` or any, on several devices where these are named."""


class Chain(Protocol):
    """Steps of one chain: ``x <- scale * (A x) + stay * x``."""

    def run(
        self,
        steps: int,
        weights: Floats | None,
        x: Floats,
        other: Floats,
        total: Floats | None,
        threads: int,
        watched: Int32s | None = None,
        record: Floats | None = None,
    ) -> tuple[bool, *tuple[float, ...]]:
        """``steps`` times: ``total += weight * x``, then a step.

        ``record``, ``(steps * watched,)``, gets the numbers of the watched states, in ascending order, before each
        step. Returns whether x ended in ``other``, and the numbers of :class:`galton.backend.steps.Seen`.
        """


class Bellman(Protocol):
    """Steps of one MDP: ``x <- opt (A x + constant)``."""

    def run(
        self,
        steps: int,
        x: Floats,
        other: Floats,
        choices: Int32s | None,
        threads: int,
        watched: Int32s | None = None,
        record: Floats | None = None,
    ) -> tuple[bool, *tuple[float, ...]]:
        """``steps`` steps; whether x ended in ``other``, and the numbers of :class:`galton.backend.steps.Seen`.

        ``record``, ``(steps * watched,)``, gets the numbers of the watched states, in ascending order, before each
        step.
        """


class StepMatrix(Protocol):
    """A matrix to make steps with, as its backend has it."""

    @property
    def precision(self) -> Precision:
        """What vectors are kept in."""

    @property
    def rounds_values(self) -> bool:
        """Whether the numbers of the matrix were rounded to that precision as well."""

    def in_format(self, name: str | None, *, single: bool = False) -> StepMatrix:
        """The matrix in a format of :mod:`.formats`, None for any, and in single precision if there is such a thing."""

    def describe(self) -> str:
        """The format and why it was chosen; empty where there is only one."""

    def chain(self, scale: float, stay: Floats | None) -> Chain:
        """A chain to make steps of."""

    def bellman(self, constant: Floats | None, maximise: bool) -> Bellman:
        """An MDP to make steps of."""


class Steps(Protocol):
    """Steps of chains and MDPs, by whole matrices."""

    def matrix_of(self, model: Model) -> StepMatrix:
        """The matrix of a model; the arrays are shared."""

    def part_of(
        self, model: Model, keep: Mask, loops: bool, threads: int
    ) -> tuple[Int32s, Int32s, StepMatrix, Offsets, int]:
        """The states kept, for each state its number among them or -1, their matrix, its offsets and its entries."""

    def batch(self, entries: int, rows: int) -> int:
        """How many steps over so many entries and rows to ask for at a time."""

    def threads(self, wanted: int) -> int:
        """How many threads of the host a call can use."""

    def row_products(self, model: Model, vector: Floats, threads: int) -> Floats:
        """``(choices,)`` the matrix of a model times a vector."""

    def exit_rates(self, model: Model, loops: bool, threads: int) -> tuple[Floats, Floats]:
        """``(states,)`` the sum of the rates out of each state, as a double and what it lacks."""


class BoxWeights(Protocol):
    """Poisson weights of boxes, whose uniformisation rates differ.

    The weight of a step is ``before`` up to the step ``left``, then the number in ``values`` from ``offsets`` on, and 0
    from the step ``ends`` on, which may come nearer while steps are made. All but ``values`` are ``(boxes,)``.
    """

    before: Floats
    left: Int64s
    offsets: Int64s
    values: Floats
    ends: Int64s

    def between(self, first: int, last: int) -> Floats | None:
        """``(steps, boxes)`` the weights of some steps; None where all are 0."""


class RegionSteps(Protocol):
    """Steps of some boxes, each with its own rates and weights."""

    def run(
        self,
        first: int,
        steps: int,
        x: Floats,
        other: Floats,
        watched: Int32s,
        sums: Floats,
        changes: Floats,
        threads: int,
    ) -> bool:
        """``steps`` times from step ``first`` on: ``sums += weight * x[watched]``, then a step.

        ``changes``, on the host, gets the largest changes of the last step. Whether the vectors are in ``other`` then.
        """


class RegionRows(Protocol):
    """Rows of a parametric chain, of which steps are made for the boxes of a bundle together.

    Attributes
    ----------
    work
        Entries times boxes that one call should go over.
    first_steps, part
        After how many steps to look at the boxes first, and of which part of the steps made to look again.
    """

    work: float
    first_steps: int
    part: int

    def width(self, boxes: int) -> int:
        """How many boxes arrays have to have room for."""

    def place(self, values: Floats) -> Floats:
        """An array where steps are made."""

    def view(self, flat: Floats, width: int) -> Floats:
        """``(places, 2, boxes)`` bounds below and above, of an array as steps have it."""

    def array(self, values: Floats) -> Floats:
        """A copy of such bounds as steps have it."""

    def steps(self, rates: Floats, weights: BoxWeights) -> RegionSteps:
        """Steps with these rates, an array as steps have it; the ends of the weights are read anew in each call."""


class Regions(Protocol):
    """Steps of parametric chains, with bounds on their values at all points of boxes of parameters."""

    def rows(self, pattern: GroupedRows, *, format: str | None = None) -> RegionRows:
        """The rows of a chain; ``format`` is ``csr``, ``ell`` or the backend's choice.

        Raises :class:`~galton.device.errors.DeviceError` where the rows go forward and the backend cannot.
        """

    def together(self, n_states: int, n_terms: int, wanted: int | None = None) -> int:
        """How many boxes of a chain make a bundle: those that are wanted, where there is room, or what is fast."""

    def bundles_at_once(self, n_states: int, threads: int) -> int:
        """How many bundles may be looked at at the same time, each by a thread of the host."""


class System(Protocol):
    """``x[s] = opt over rows r of s: scale[r] · Σ values·x[columns] + constant[r]``, short ``x = F(x)``.

    All work on the unknowns of a :class:`Span` and read the others as they are. Vectors have a number per unknown of
    the whole system. Sweeps return how many there were and the largest change in the last; ``copy`` gives them room.
    """

    def gauss_seidel(
        self,
        x: Floats,
        copy: Floats,
        chosen: Int32s | None,
        span: Span,
        stop: Stop,
        *,
        forward: bool = True,
        omega: float = 1.0,
    ) -> tuple[int, float]:
        """Sweeps in place, ``omega`` of the way to F(x); by the rows ``chosen``, or the best where None."""

    def jacobi(
        self, x: Floats, copy: Floats, chosen: Int32s | None, span: Span, stop: Stop, *, omega: float = 1.0
    ) -> tuple[int, float]:
        """Sweeps that read only values from before the sweep, otherwise like :meth:`gauss_seidel`."""

    def improve(self, x: Floats, copy: Floats, chosen: Int32s, span: Span, noise: float = NOISE) -> tuple[int, float]:
        """A Gauss–Seidel sweep that also writes the best rows; how many changed, and the largest relative change."""

    def defect(self, x: Floats, span: Span) -> float:
        """The largest |F(x) - x| / x."""

    def row_values(self, x: Floats, values: Floats, span: Span) -> None:
        """The value of each row of the span, before the best is taken."""

    def is_above(self, upper: Floats, span: Span, slack: float) -> bool:
        """Whether upper >= F(upper) for certain, were scale and constants larger by a part of ``slack``."""

    def is_below(self, lower: Floats, span: Span, slack: float) -> bool:
        """Whether 0 <= lower <= F(lower) < ∞ for certain, were scale and constants smaller by a part of ``slack``."""

    def weigh_rows(
        self, x: Floats, chosen: Int32s | None, constants: Floats, span: Span, *, near: float, share: float
    ) -> None:
        """Write constants for the equations of w, about x + Aw, by which :mod:`galton.solve.sound` shifts x to bounds.

        They are x for the rows chosen, and for those with a value within ``near`` of x and a constant of at most
        ``share`` of it, both relative; minus infinity for others.
        """

    def left_to_delta(self, x: Floats, w: Floats, constants: Floats, span: Span, *, share: float) -> float:
        """The largest (Aw - w + x) / b of the other rows with a finite b above ``share`` of x."""

    def growth(self, w: Floats, x: Floats, span: Span) -> float:
        """The largest (F(w) - w) / x, at least 0."""

    def take_free_rows(self, x: Floats, chosen: Int32s, span: Span) -> None:
        """Where x is 0, choose the first row that is worth 0."""

    def propagate(self, lower: Floats, upper: Floats, span: Span, slack: float) -> None:
        """One Gauss–Seidel sweep on bounds, rounded outward: bounds they were, bounds they are."""

    def bicgstab(
        self, x: Floats, chosen: Int32s | None, span: Span, sweeps: int, tolerance: float
    ) -> tuple[int, float]:
        """BiCGStab on x = G(x), where G is a Gauss–Seidel sweep, until every residual is at most ``tolerance`` of x.

        A device solves all unknowns together: there, the span has to hold them all.
        """

    def solve_induced(
        self, x: Floats, chosen: Int32s, span: Span, tolerance: float, *, fine: bool = False
    ) -> tuple[int, float]:
        """The solution for the rows chosen, however; what it took in sweeps, and the largest residual.

        With ``fine``, which devices do not offer, rounding, which adds up over the steps to an exit, is undone: x is
        right to nearly the last digit, unless there are more than 1e8 steps or so.
        """
