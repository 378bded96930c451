"""The C++ core (src/core/core.cpp)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .backend.protocol import Span, Stop

def finish_rows(
    starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], values: npt.NDArray[np.float64]
) -> tuple[int, float] | None: ...

class Matrix:
    """A row-grouped sparse matrix as the kernels take it; shares the arrays it is made of."""

    def __init__(
        self,
        groups: npt.NDArray[np.int32] | None,
        starts: npt.NDArray[np.int32] | npt.NDArray[np.int64],
        columns: npt.NDArray[np.int32],
        values: npt.NDArray[np.float64] | npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | None,
        dictionary: npt.NDArray[np.float64] | None,
    ) -> None: ...

def strong_components(
    matrix: Matrix, within: npt.NDArray[np.bool_] | None, choices: npt.NDArray[np.bool_] | None
) -> tuple[
    npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.bool_], npt.NDArray[np.bool_]
]: ...
def end_components(
    matrix: Matrix, within: npt.NDArray[np.bool_] | None, choices: npt.NDArray[np.bool_] | None
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_], int]: ...
def reach_surely(
    matrix: Matrix,
    through: npt.NDArray[np.bool_],
    goal: npt.NDArray[np.bool_],
    candidates: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]: ...
def reach_some(
    matrix: Matrix, through: npt.NDArray[np.bool_], goal: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]: ...
def reach_every(
    matrix: Matrix, through: npt.NDArray[np.bool_], goal: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]: ...
def reach_by(
    matrix: Matrix,
    through: npt.NDArray[np.bool_],
    goal: npt.NDArray[np.bool_],
    staying: npt.NDArray[np.bool_] | None,
    rows: npt.NDArray[np.int32],
) -> npt.NDArray[np.bool_]: ...
def automaton_product(
    matrix: Matrix,
    letter: npt.NDArray[np.int32],
    successor: npt.NDArray[np.int32],
    n_letters: int,
    first: npt.NDArray[np.int64],
) -> tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int32],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int32],
]: ...
def reach_forward(
    matrix: Matrix, start: npt.NDArray[np.bool_], within: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_]: ...

_Ints = npt.NDArray[np.int32]
_Floats = npt.NDArray[np.float64]

def split_by_keys(keys: npt.NDArray[np.uint64], block: _Ints) -> int: ...
def lump(
    matrix: Matrix,
    dictionary: int,
    marks: _Ints | None,
    kinds: _Ints | None,
    n_kinds: int,
    leaving: bool,
    block: _Ints,
    most_blocks: int,
    most_entries: int,
    threads: int,
    hash_bits: int,
) -> tuple[_Ints | None, int, int]: ...
def lump_quotient(
    matrix: Matrix, dictionary: int, marks: _Ints | None, kinds: _Ints | None, n_kinds: int, leaving: bool
) -> tuple[_Ints | None, npt.NDArray[np.int64], npt.NDArray[np.int64], _Ints, _Ints | None, _Floats]: ...

class System:
    """The equations x = opt(Ax + b) as the kernels take them; see sweeps, proof and krylov in src/core/solve."""

    def __init__(self, matrix: Matrix, scale: _Floats | None, constant: _Floats, optimum: int) -> None: ...
    def gauss_seidel(
        self,
        x: _Floats,
        copy: _Floats,
        chosen: _Ints | None,
        span: Span,
        stop: Stop,
        *,
        forward: bool = True,
        omega: float = 1.0,
    ) -> tuple[int, float]: ...
    def jacobi(
        self, x: _Floats, copy: _Floats, chosen: _Ints | None, span: Span, stop: Stop, *, omega: float = 1.0
    ) -> tuple[int, float]: ...
    def bicgstab(
        self, x: _Floats, chosen: _Ints | None, span: Span, sweeps: int, tolerance: float
    ) -> tuple[int, float]: ...
    def solve_induced(
        self, x: _Floats, chosen: _Ints, span: Span, tolerance: float, *, fine: bool = False
    ) -> tuple[int, float]: ...
    def improve(
        self, x: _Floats, copy: _Floats, chosen: _Ints, span: Span, noise: float = 1e-13
    ) -> tuple[int, float]: ...
    def defect(self, x: _Floats, span: Span) -> float: ...
    def row_values(self, x: _Floats, values: _Floats, span: Span) -> None: ...
    def is_above(self, upper: _Floats, span: Span, slack: float) -> bool: ...
    def is_below(self, lower: _Floats, span: Span, slack: float) -> bool: ...
    def weigh_rows(
        self, x: _Floats, chosen: _Ints | None, constants: _Floats, span: Span, *, near: float, share: float
    ) -> None: ...
    def left_to_delta(self, x: _Floats, w: _Floats, constants: _Floats, span: Span, *, share: float) -> float: ...
    def growth(self, w: _Floats, x: _Floats, span: Span) -> float: ...
    def take_free_rows(self, x: _Floats, chosen: _Ints, span: Span) -> None: ...
    def propagate(self, lower: _Floats, upper: _Floats, span: Span, slack: float) -> None: ...

def restrict(
    matrix: Matrix,
    *,
    rates: bool,
    number: _Ints,
    known: _Floats,
    reward: _Floats | None,
    keep: npt.NDArray[np.bool_] | None,
    members: _Ints,
    starts: _Ints | None,
    threads: int,
) -> dict[str, Any]: ...
def middles(lower: _Floats, upper: _Floats, x: _Floats, span: Span, tiny: float) -> float: ...

class Elimination:
    @staticmethod
    def of_rows(
        matrix: Matrix,
        *,
        rates: bool,
        number: _Ints,
        known: _Floats,
        reward: _Floats | None,
        rows: _Ints,
        first: int,
        lower: _Floats,
        upper: _Floats,
    ) -> Elimination: ...
    @staticmethod
    def of_chain(matrix: Matrix, reward: _Floats) -> Elimination: ...
    def advance(self, operations: int, keep: int = 0) -> int: ...
    def solve(self, lower: _Floats, upper: _Floats) -> None: ...
    def average(self) -> tuple[float, float]: ...
    @property
    def error(self) -> float: ...
    @property
    def left(self) -> int: ...

def order_by_exit(
    matrix: Matrix, component: _Ints, starts: _Ints, keep: npt.NDArray[np.bool_] | None, order: _Ints
) -> None: ...

LANES: int

class ParametricRows:
    """Rows of a parametric CTMC in groups with the same term; shares the arrays it is made of."""

    def __init__(
        self,
        *,
        states: npt.NDArray[np.int32],
        starts: npt.NDArray[np.int64],
        terms: npt.NDArray[np.int32],
        group_starts: npt.NDArray[np.int64],
        columns: npt.NDArray[np.int32],
        coefficients: npt.NDArray[np.float64],
        n_states: int,
        n_terms: int,
        forward: bool,
    ) -> None: ...
    def run(
        self,
        steps: int,
        *,
        rates: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64] | None,
        x: npt.NDArray[np.float64],
        other: npt.NDArray[np.float64],
        watched: npt.NDArray[np.int32],
        sum: npt.NDArray[np.float64],
        changes: npt.NDArray[np.float64],
        threads: int,
    ) -> bool: ...

def visit(
    starts: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    rates: npt.NDArray[np.float64],
    initial: npt.NDArray[np.int32],
    likely: npt.NDArray[np.uint8],
    *,
    time: float,
    enough: float,
    settled: float,
    most_states: int,
    most_work: float,
) -> bool:
    """Mark the states that are visited up to a time; whether they are few, and nothing marked if not."""

class Chain:
    """Steps of a chain, ``x <- scale * (A x) + stay * x``; shares the arrays it is made of."""

    def __init__(self, matrix: Matrix, scale: float, stay: npt.NDArray[np.float64] | None) -> None: ...
    def run(
        self,
        steps: int,
        weights: npt.NDArray[np.float64] | None,
        x: npt.NDArray[np.float64],
        other: npt.NDArray[np.float64],
        sum: npt.NDArray[np.float64] | None,
        threads: int,
        watched: npt.NDArray[np.int32] | None = None,
        record: npt.NDArray[np.float64] | None = None,
    ) -> tuple[bool, float, float, float, float, float, float, float]: ...
    def run_part(self, weight: float | None, x: _Floats, other: _Floats, sum: _Floats | None, threads: int) -> None: ...
    @property
    def segments(self) -> int: ...
    @property
    def alike(self) -> int: ...

class Forward:
    """A distribution of a CTMC that moves; see src/core/steps/forward.hpp. Shares the arrays it is made of."""

    def __init__(self, matrix: Matrix, moving: npt.NDArray[np.uint8], high: _Floats, low: _Floats) -> None: ...
    def advance(
        self,
        states: _Ints,
        mass: _Floats,
        rate: float,
        left: int,
        weights: _Floats,
        tails: _Floats,
        *,
        keep: float,
        standstill: float,
        earning: _Floats | None,
        worth: _Floats | None,
        most_states: float,
        most_entries: float,
    ) -> tuple[_Ints, _Floats, float, float, float, float, bool, int, int, int, int, _Floats]: ...

class Bellman:
    """Steps of an MDP, ``x <- opt (A x + constant)``; shares the arrays it is made of."""

    def __init__(self, matrix: Matrix, constant: npt.NDArray[np.float64] | None, maximise: bool) -> None: ...
    def run(
        self,
        steps: int,
        x: npt.NDArray[np.float64],
        other: npt.NDArray[np.float64],
        choices: npt.NDArray[np.int32] | None,
        threads: int,
        watched: npt.NDArray[np.int32] | None = None,
        record: npt.NDArray[np.float64] | None = None,
    ) -> tuple[bool, float, float, float, float, float, float, float]: ...

def part_of(
    matrix: Matrix, states: npt.NDArray[np.int32], position: npt.NDArray[np.int32], loops: bool, threads: int
) -> tuple[
    npt.NDArray[np.int32] | None,
    npt.NDArray[np.int64],
    npt.NDArray[np.int32],
    npt.NDArray[np.float64] | npt.NDArray[np.uint8] | npt.NDArray[np.uint16],
]: ...
def row_products(matrix: Matrix, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], threads: int) -> None: ...
def exit_rates(
    matrix: Matrix, loops: bool, high: npt.NDArray[np.float64], low: npt.NDArray[np.float64], threads: int
) -> None: ...

class Program:
    """A lowered program, ready to run."""

def read_runs(
    text: str, keywords: Iterable[str], decimal: Callable[[str], float], classes: dict[str, type]
) -> tuple[list[Any], dict[int, Any]]:
    """The tokens of a text of the PRISM language, and what the runs of commands among them hold."""

def make_program(
    *,
    type: int,
    words: int,
    fields: Sequence[tuple[int, int, int, int, int]],
    nodes: Sequence[tuple[int, int, bool, bool, Sequence[int], float]],
    commands: Sequence[tuple[int, bool, Sequence[tuple[int, Sequence[tuple[int, int]]]]]],
    products: Sequence[tuple[int, Sequence[Sequence[int]]]],
    actions: int,
    reward_structures: int,
    rewards: Sequence[tuple[int, int, int, int]],
    labels: Sequence[int],
    initial: int,
    initial_ranges: Sequence[tuple[int, int]],
    first_state: Sequence[int],
    terminal: int,
    reader: tuple[int, Sequence[int], Sequence[int], Sequence[int]],
    orbits: Sequence[tuple[bool, Sequence[Sequence[tuple[int, int, int, int]]]]],
) -> Program: ...
def explore(
    program: Program,
    *,
    threads: int,
    max_states: int,
    memory: int,
    transition_rewards: bool,
    watch: Callable[[int, int, int], None] | None,
    rows: bool,
) -> dict[str, Any]: ...
def evaluate_labels(program: Program, states: npt.NDArray[np.uint64], threads: int) -> dict[str, Any]: ...
def operations() -> list[tuple[str, bool, bool]]: ...
def numbers_of(wanted: npt.NDArray[np.uint64], states: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]: ...

class RankExplorer:
    """One rank's part of an exploration that several share; see RankExplorer in src/core/explore/bindings.cpp."""

    def __init__(
        self,
        program: Program,
        *,
        rank: int,
        ranks: int,
        threads: int,
        max_states: int,
        memory: int,
    ) -> None: ...
    def begin(self) -> dict[str, Any]: ...
    def receive(self, states: npt.NDArray[np.uint64]) -> dict[str, Any]: ...
    def expand(self, blocks: int) -> dict[str, Any]: ...
    def outbox(self, rank: int) -> npt.NDArray[np.uint64]: ...
    def known(self) -> npt.NDArray[np.uint64]: ...
    @property
    def states(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def count(self) -> int: ...
    def owners(self, states: npt.NDArray[np.uint64], firsts: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]: ...
    def finish(self) -> tuple[int, int]: ...
    def take_states(self) -> npt.NDArray[np.uint64]: ...
    def take_initial(self) -> npt.NDArray[np.uint64]: ...
    def count_transitions(self, states: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]: ...
    def settle(
        self,
        states: npt.NDArray[np.uint64],
        initial: npt.NDArray[np.uint64],
        firsts: npt.NDArray[np.uint64],
        *,
        all_states: int,
        all_choices: int,
        all_transitions: int,
    ) -> None: ...
    def assemble(self, watch: Any) -> dict[str, Any]: ...

class RankSearch:
    """Searches in one rank's part of a graph; see src/core/graph/rank_search.hpp."""

    def __init__(self, matrix: Matrix, size: int) -> None: ...
    def backward(
        self,
        found: npt.NDArray[np.bool_],
        through: npt.NDArray[np.bool_],
        allowed: npt.NDArray[np.bool_] | None,
        left: npt.NDArray[np.int32] | None,
        hit: npt.NDArray[np.bool_] | None,
        by: npt.NDArray[np.int32] | None,
        fresh: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.int32]: ...
    def greatest(
        self,
        colour: npt.NDArray[np.int64],
        within: npt.NDArray[np.bool_],
        allowed: npt.NDArray[np.bool_] | None,
        fresh: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.int32]: ...
    def forward(
        self,
        found: npt.NDArray[np.bool_],
        within: npt.NDArray[np.bool_],
        allowed: npt.NDArray[np.bool_] | None,
        fresh: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.int32]: ...
    def stay_together(self, number: npt.NDArray[np.int64], staying: npt.NDArray[np.bool_]) -> None: ...

def stay_among(matrix: Matrix, inside: npt.NDArray[np.bool_], staying: npt.NDArray[np.bool_]) -> None: ...
def drift_bounds(
    matrix: Matrix,
    *,
    state: npt.NDArray[np.float64] | None,
    choice: npt.NDArray[np.float64] | None,
    high: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64] | None,
    lower: npt.NDArray[np.float64],
    upper: npt.NDArray[np.float64],
    threads: int,
) -> None: ...
def orthogonalise(
    vectors: npt.NDArray[np.float64], x: npt.NDArray[np.float64], parts: npt.NDArray[np.float64], threads: int
) -> float: ...
def combine(
    factors: npt.NDArray[np.float64],
    vectors: npt.NDArray[np.float64],
    sums: npt.NDArray[np.float64],
    threads: int,
) -> None: ...
def eliminate(
    matrix: Matrix,
    reward: npt.NDArray[np.float64],
    members: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    errors: npt.NDArray[np.float64],
) -> None: ...
def leaving_rates(matrix: Matrix) -> npt.NDArray[np.float64]: ...
def busiest_state(matrix: Matrix, first: int, steps: int) -> int: ...
def far_first(matrix: Matrix, last: int) -> npt.NDArray[np.int32]: ...
def nested_dissection(matrix: Matrix, last: int) -> npt.NDArray[np.int32]: ...

class Preconditioner:
    """What a Krylov method takes for the matrix."""

    def solve(self, b: npt.NDArray[np.float64], h: npt.NDArray[np.float64]) -> None: ...

class SymmetricSweep(Preconditioner):
    """See src/core/long_run/symmetric_sweep.hpp."""

    def __init__(self, matrix: Matrix, leaving_rates: npt.NDArray[np.float64], threads: int) -> None: ...

class IncompleteElimination(Preconditioner):
    """A preconditioner for Poisson's equation; see src/core/long_run/incomplete_elimination.hpp."""

    def __init__(
        self,
        matrix: Matrix,
        *,
        leaving_rates: npt.NDArray[np.float64],
        order: npt.NDArray[np.int32],
        threshold: float,
        capacity: int,
        operations: int,
        threads: int,
        ending: bool = False,
    ) -> None: ...
    def advance(self) -> bool: ...
    def solve_ending(self, b: npt.NDArray[np.float64], h: npt.NDArray[np.float64]) -> None: ...
    def share_of_last(self) -> float: ...
    def busiest(self) -> tuple[int, float]: ...
    @property
    def fits(self) -> bool: ...
    @property
    def entries(self) -> int: ...

class Bias:
    """BiCGStab on Poisson's equation; see src/core/long_run/bias.hpp. Steps return (lower, upper, broken, steps)."""

    def __init__(self, matrix: Matrix, z: int, threads: int) -> None: ...
    def begin(self, reward: npt.NDArray[np.float64], h: npt.NDArray[np.float64]) -> tuple[float, float, bool, int]: ...
    def advance(
        self, preconditioner: Preconditioner, relative: float, absolute: float, most: int
    ) -> tuple[float, float, bool, int]: ...

class Levels:
    """One level after the other of a model unfolded by budgets; see src/core/budgets/levels.hpp."""

    unknowns: int
    layers: int
    cyclic: int
    hard: int
    def __init__(
        self,
        matrix: Matrix,
        *,
        component: _Ints,
        n_components: int,
        merged: _Ints | None,
        skip: npt.NDArray[np.uint8] | None,
        classes: npt.NDArray[np.uint16],
        stays: npt.NDArray[np.uint8],
        earned: _Floats | None,
        landing: _Ints,
        n_landings: int,
        optimum: int,
    ) -> None: ...
    def solve(
        self,
        level: _Floats,
        kept: _Floats,
        own: int,
        targets: npt.NDArray[np.int64],
        *,
        tolerance: float,
        most_sweeps: int,
        threads: int,
    ) -> tuple[int, bool]: ...

# Random paths; see src/core/simulate. A question is (kind, timed, low, high, most steps).

_Question = tuple[int, bool, float, float, int]

def philox(counter: Sequence[int], key: Sequence[int]) -> tuple[int, int, int, int]: ...
def simulate_program(
    program: Program,
    *,
    initial: Sequence[int],
    goal: int,
    through: int,
    verdicts: Sequence[int],
    find_loops: int,
    question: _Question,
    seed: int,
    first: int,
    count: int,
    threads: int,
    traced: bool,
    watch: Callable[[int], None] | None,
) -> dict[str, Any]: ...
def list_successors(program: Program, state: Sequence[int]) -> dict[str, Any]: ...

class ModelToWalk: ...

def walkable(
    *,
    rates: bool,
    choice_starts: npt.NDArray[np.int32],
    row_starts: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    initial: npt.NDArray[np.int32],
    state_rewards: Sequence[npt.NDArray[np.float64]],
    choice_rewards: Sequence[npt.NDArray[np.float64]],
) -> ModelToWalk: ...
def simulate_model(
    model: ModelToWalk,
    *,
    goal: npt.NDArray[np.uint8],
    through: npt.NDArray[np.uint8],
    question: _Question,
    seed: int,
    first: int,
    count: int,
    threads: int,
    traced: bool,
    watch: Callable[[int], None] | None,
) -> dict[str, Any]: ...
