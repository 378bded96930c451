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
    ) -> tuple[bool, float, float, float, float, float, float, float]: ...
    @property
    def segments(self) -> int: ...

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
    ) -> tuple[bool, float, float, float, float, float, float, float]: ...

def part_of(
    matrix: Matrix, states: npt.NDArray[np.int32], position: npt.NDArray[np.int32], loops: bool, threads: int
) -> tuple[npt.NDArray[np.int32] | None, npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[Any]]: ...
def row_products(matrix: Matrix, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], threads: int) -> None: ...
def exit_rates(
    matrix: Matrix, loops: bool, high: npt.NDArray[np.float64], low: npt.NDArray[np.float64], threads: int
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
