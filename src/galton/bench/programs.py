"""Document 000, table 1 and figures 4 and 5: chains of two randomised programs, explored in part.

A program is a function from a state to the states that may come next. As in the paper, only a part of its states is
explored, and states beyond lead nowhere; so what remains open are the states from where the goal can be reached, but
need not be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from .child import measured
from .experiment import Cell, Experiment, Options, Row, printed
from .implementations import FEW_TRIALS, SECOND_LOOK, compared, draw_over_size, order_note, with_order

if TYPE_CHECKING:
    from ..model.sparse import Int32s, Model
    from .linear import LinearSystem

__all__ = ["EXPERIMENTS", "PROGRAMS", "OpenStates", "measure"]

GOAL = "goal"
FEW = 3  # rows of the table where sizes are small
TRIALS = 20

# Random quick sort. What matters of the array are the parts that still have to be sorted, as (first, after the last),
# and the place where a pivot that was chosen belongs: then all that is smaller goes to its left.
Sorting = tuple[tuple[tuple[int, int], ...], int | None]


def sort_step(state: Sorting) -> list[tuple[float, Sorting]]:
    """Choose a pivot in the first part, each key with the same probability; then divide the part there."""
    parts, pivot = state
    if not parts:
        return []
    first, after = parts[0]
    if pivot is None:
        return [(1 / (after - first), (parts, place)) for place in range(first, after)]
    smaller_and_larger = ((first, pivot), (pivot + 1, after))
    left = tuple(part for part in smaller_and_larger if part[1] - part[0] > 1)
    return [(1.0, (left + parts[1:], None))]


def is_sorted(state: Sorting) -> bool:
    """Whether no part is left."""
    return not state[0]


# A die by flips of a biased coin: three flips are a number from 0 to 7. Those from 1 to 6 are the faces, of which some
# are more likely than others; with 0 and 7 the coin is flipped again. The state is all flips so far.
HEADS = 0.6


def die_step(flips: str) -> list[tuple[float, str]]:
    """Flip once more, unless there is a face."""
    return [] if face(flips) else [(HEADS, flips + "1"), (1 - HEADS, flips + "0")]


def face(flips: str) -> int:
    """What the die shows; 0 for nothing yet."""
    number = int(flips[-3:], 2) if flips and len(flips) % 3 == 0 else 0
    return number % 7


def explore_sorting(keys: int) -> Model:
    """Quick sort of so many keys, depth first for so many states, to the goal that all are sorted."""
    from ..model.from_function import explore_function

    start: Sorting = (((0, keys),), None)
    explored: dict[Sorting, list[tuple[float, Sorting]]] = {}
    waiting = [start]
    while waiting and len(explored) < SORTING_STATES:
        state = waiting.pop()
        if state not in explored:
            explored[state] = sort_step(state)
            waiting += [then for _, then in reversed(explored[state])]
    # Whatever is met and not explored is a deadlock here.
    return explore_function(lambda state: explored.get(state, []), start, labels={GOAL: is_sorted})


def explore_die(states: int) -> Model:
    """The die until so many states are met, the most probable first, to the goal that it shows six."""
    from ..model.from_function import explore_function

    labels = {GOAL: lambda flips: face(flips) == 6}
    return explore_function(die_step, "", order="most-probable", max_states=states, labels=labels)


@dataclass(frozen=True)
class Program:
    """A program, and how it is explored.

    Attributes
    ----------
    explore
        Makes its chain from a parameter.
    parameters
        The one for each printed size, by that size.
    beyond
        Parameters that give larger chains.
    unit
        What a parameter counts.
    """

    explore: Callable[[int], Model]
    parameters: dict[int, int]
    beyond: tuple[int, ...]
    unit: str


SORTING_STATES = 1000
PROGRAMS = {
    "random quick sort": Program(
        explore_sorting,
        {92: 54, 118: 68, 142: 80, 173: 92, 198: 105, 228: 122, 250: 131, 284: 147, 313: 165},
        (300, 450),
        "keys",
    ),
    "biased die": Program(
        explore_die,
        {
            667: 2522,
            1333: 4690,
            2000: 7038,
            2668: 10_502,
            3647: 13_148,
            4647: 17_532,
            5647: 19_658,
            6647: 26_520,
            7647: 29_092,
        },
        (100_000, 1_000_000),
        "states met",
    ),
}


@dataclass(frozen=True, eq=False)
class OpenStates:
    """The states whose probability to reach the goal is neither 0 nor 1, and their equations (I - A)x = b."""

    states: Int32s
    system: LinearSystem

    @classmethod
    def of(cls, model: Model) -> OpenStates:
        """Those of a chain."""
        from scipy.sparse import csr_array, eye_array

        from ..graph import zero_and_one
        from .linear import LinearSystem

        everywhere = np.ones(model.n_states, dtype=np.bool_)
        zero, one = zero_and_one(model, everywhere, model.labels[GOAL], None)
        states = np.flatnonzero(~(zero | one)).astype(np.int32)
        rows = csr_array(model.to_scipy()[states])
        inside = csr_array(rows[:, states])
        system = LinearSystem(csr_array(eye_array(len(states)) - inside), rows @ one.astype(np.float64))
        return cls(states, system)

    @property
    def sizes(self) -> dict[str, Cell]:
        """What table 1 prints: the dimension, the entries, and the density of I - A to three places."""
        n, m = len(self.states), self.system.matrix.nnz
        return {"n": n, "m": m, "density": round(m / n**2, 3)}


def measure(
    program: str, parameter: int, trials: int, methods: list[str], device: str, budget: float
) -> dict[str, Any]:
    """Solve the equations of a program, the same ones in each trial.

    Raises
    ------
    NumericError
        Where a method finds another probability for the initial state than Galton proves.
    """
    from ..api import check
    from ..model.errors import NumericError
    from .linear import ERROR, series, solve

    model = PROGRAMS[program].explore(parameter)
    found = OpenStates.of(model)
    proved = check(model, f'P=? [ F "{GOAL}" ]')
    assert proved.lower is not None
    assert proved.upper is not None
    initial = int(np.searchsorted(found.states, model.initial[0]))
    # Nothing is met twice, so that an error is carried over no more steps than there are states.
    allowed = ERROR * len(found.states)
    for name in methods:
        value = float(solve(found.system, name, device).x[initial])
        if not proved.lower - allowed <= value <= proved.upper + allowed:
            raise NumericError(f"{name} finds {value}, and the probability is {proved.lower} to {proved.upper}")
    return series(lambda: repeat(found.system, trials), methods, device, budget)


def _instances(program: str, options: Options) -> Iterator[tuple[int, dict[str, Cell]]]:
    """Parameters of a program, each with the sizes that are printed for it."""
    table = [row for row in printed("000-table-1") if row["algorithm"] == program]
    for row in table[:FEW] if options.sizes == "small" else table:
        sizes = {name: cell for name, cell in row.items() if name != "algorithm"}
        yield PROGRAMS[program].parameters[int(str(row["n"]))], sizes
    if options.sizes == "beyond":
        for parameter in PROGRAMS[program].beyond:
            yield parameter, {}


def sizes(program: str, parameter: int) -> dict[str, Any]:
    """Explore a program, and tell the sizes of its equations and of its chain."""
    model = PROGRAMS[program].explore(parameter)
    return {"sizes": OpenStates.of(model).sizes, "states": model.n_states}


def _sizes_of(program: str, parameter: int, options: Options) -> dict[str, Any]:
    return measured(f"{__name__}:sizes", replace(options, repeat=1), program=program, parameter=parameter)


def _sizes(options: Options) -> Iterator[Row]:
    """Table 1."""
    for program, known in PROGRAMS.items():
        for parameter, theirs in _instances(program, options):
            found = _sizes_of(program, parameter, options)
            yield Row(
                instance=f"{program}, {parameter:,} {known.unit}",
                printed=theirs,
                measured={} if "error" in found else {**found["sizes"], "states": found["states"]},
                skipped=found.get("error", ""),
            )


def _times(program: str, fastest: str) -> Callable[[Options], Iterator[Row]]:
    """Figures 4 and 5: seconds by size."""

    def run(options: Options) -> Iterator[Row]:
        trials = FEW_TRIALS if options.sizes == "small" else TRIALS
        for parameter, theirs in _instances(program, options):
            found = _sizes_of(program, parameter, options)
            if "error" in found:
                yield Row(instance=f"{program}, {parameter:,}", printed=theirs, skipped=found["error"])
                continue
            cells = found["sizes"]
            row = compared(
                f"{program}, n = {cells['n']:,}",
                cells,
                options,
                f"{__name__}:measure",
                program=program,
                parameter=parameter,
                trials=trials,
            )
            yield with_order(replace(row, printed=theirs), fastest) if theirs else row

    return run


NOTES = (
    "The paper's programs are Java code that is not printed, explored by Java PathFinder; these are written anew, and "
    "explored as far as gives nearly the printed n.",
    "Quick sort is explored depth first, 1,000 states, and the number of keys gives n. It has 2n - 1 entries, up to "
    "15 % fewer than are printed: here no open state has two open predecessors, and in the paper some have.",
    "The die is explored with the most probable states first, until so many are met. It has 2n - 1 entries, as all "
    "those printed have.",
)
OF_TIMES = (
    "Times are those of the method alone, on a matrix that is in place: one thread of the CPU, and one device.",
    "The paper prints no times, but curves that cannot be read as numbers; so there is nothing to divide by.",
    "Both methods stop when no equation is off by more than 1e-6. Each solution is checked for that, and the "
    "probability of the initial state against the bounds that Galton proves.",
    SECOND_LOOK,
    "Peers are not asked: they do not tell the time of one method on these equations alone.",
    f"How many trials the paper made is not printed: here {TRIALS}, of the same matrix.",
)

EXPERIMENTS = [
    Experiment(
        name="000-table-1",
        title="Two randomised programs: sizes and densities of the matrices of their open states (S?)",
        run=_sizes,
        notes=NOTES,
    ),
    Experiment(
        name="000-figure-4",
        title="Random quick sort: time by number of open states",
        run=_times("random quick sort", "Jacobi-Sequential"),
        draw=draw_over_size,
        notes=(*NOTES, *OF_TIMES, order_note("Jacobi-Sequential")),
    ),
    Experiment(
        name="000-figure-5",
        title="Biased die: time by number of open states",
        run=_times("biased die", "Jacobi-CUDA"),
        draw=draw_over_size,
        notes=(*NOTES, *OF_TIMES, order_note("Jacobi-CUDA")),
    ),
]
