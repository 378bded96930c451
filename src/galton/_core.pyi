"""The C++ core (src/core/module.cpp)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

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

class Program:
    """A lowered program, ready to run."""

def make_program(
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
    /,
) -> Program: ...
def explore(
    program: Program,
    threads: int,
    max_states: int,
    memory: int,
    transition_rewards: bool,
    watch: Callable[[int, int, int], None] | None,
) -> dict[str, Any]: ...
def evaluate_labels(program: Program, states: npt.NDArray[np.uint64]) -> dict[str, Any]: ...
def operations() -> list[str]: ...
def drift_bounds(
    matrix: Matrix,
    state: npt.NDArray[np.float64] | None,
    choice: npt.NDArray[np.float64] | None,
    high: npt.NDArray[np.float64],
    lower: npt.NDArray[np.float64],
    upper: npt.NDArray[np.float64],
    threads: int,
    low: npt.NDArray[np.float64] | None = None,
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

class SymmetricSweep(Preconditioner):
    """See src/core/symmetric_sweep.hpp."""

    def __init__(self, matrix: Matrix, leaving_rates: npt.NDArray[np.float64], threads: int) -> None: ...

class IncompleteElimination(Preconditioner):
    """A preconditioner for Poisson's equation; see src/core/incomplete_elimination.hpp."""

    def __init__(
        self,
        matrix: Matrix,
        leaving_rates: npt.NDArray[np.float64],
        order: npt.NDArray[np.int32],
        threshold: float,
        capacity: int,
        operations: int,
        threads: int,
    ) -> None: ...
    def advance(self) -> bool: ...
    def share_of_last(self) -> float: ...
    def busiest(self) -> tuple[int, float]: ...
    @property
    def fits(self) -> bool: ...
    @property
    def entries(self) -> int: ...

class Bias:
    """BiCGStab on Poisson's equation; see src/core/bias.hpp. Steps return (lower, upper, broken, steps)."""

    def __init__(self, matrix: Matrix, z: int, threads: int) -> None: ...
    def begin(self, reward: npt.NDArray[np.float64], h: npt.NDArray[np.float64]) -> tuple[float, float, bool, int]: ...
    def advance(
        self, preconditioner: Preconditioner, relative: float, absolute: float, most: int
    ) -> tuple[float, float, bool, int]: ...
