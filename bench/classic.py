"""Jacobi's method against BiCGStab, as Cormie-Bowins compared them in "A Comparison of Sequential and GPU
Implementations of Iterative Methods to Compute Reachability Probabilities" (2012); here on the CPU.

    python bench/classic.py [--trials 5] [--threads 1] [--only random,chains]

First random matrices of 2,000, 4,000 and 8,000 rows: positive integers at random places, a diagonal that outweighs the
rest of its row by another such integer, a random right-hand side, everything new in each trial. Then the chains of two
randomised algorithms, quick sort and a biased die, reduced to the states whose probability is between 0 and 1, and next
to each a random matrix of the same size and density. Times and iterations are means over the trials; an iteration of
BiCGStab has two products with the matrix.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import galton
from galton.graph import can_reach, surely_reaches
from galton.model.sparse import Model
from galton.model.values import Values
from galton.reduce.unknowns import open_equations
from galton.solve import Settings
from galton.solve.equations import Equations, Origin, Segment
from galton.solve.methods import method
from galton.solve.methods.base import Job

MODELS = Path(__file__).resolve().parent.parent / "models"
SIZES = (2000, 4000, 8000)
DENSITIES = (0.0001, 0.001, 0.01, 0.1)  # the scale of the paper's first figure; its second and third have 10 % only
LARGEST = 100  # of the integers
EPS = 1e-8  # absolute

# (N, BUDGET) of quick sort and rolls of the die that make systems about as large as the paper's.
QUICK_SORT = ((8, 20), (9, 18), (9, 22), (10, 24), (10, 28), (11, 26))
ROLLS = (95, 190, 286, 381, 521, 664, 807, 950, 1092)
BIASED_DIE = """
dtmc
const int ROLLS;
const double p = 0.7;  // of heads

module die  // the die of Knuth and Yao, rolled until it shows a six, at most ROLLS times
  roll : [1..ROLLS] init 1;
  node : [0..8] init 0;  // 7: six, 8: out of rolls
  [] node=0 -> p:(node'=1) + 1-p:(node'=2);
  [] node=1 -> p:(node'=3) + 1-p:(node'=4);
  [] node=2 -> p:(node'=5) + 1-p:(node'=6);
  [] node=3 & roll<ROLLS -> p:(node'=1) + 1-p:(node'=0)&(roll'=roll+1);
  [] (node=4 | node=5) & roll<ROLLS -> (node'=0)&(roll'=roll+1);
  [] node=6 & roll<ROLLS -> p:(node'=7) + 1-p:(node'=2);
  [] node=3 & roll=ROLLS -> p:(node'=1) + 1-p:(node'=8);
  [] (node=4 | node=5) & roll=ROLLS -> (node'=8);
  [] node=6 & roll=ROLLS -> p:(node'=7) + 1-p:(node'=2);
  [] node>6 -> true;
endmodule

label "six" = node=7;
"""


@dataclass
class Outcome:
    """A method on a system."""

    iterations: float
    seconds: float
    residual: float  # the largest |Ax + b - x|


def solve(equations: Equations, name: str, threads: int) -> Outcome:
    """Solve, in the time that takes without setting anything up."""
    job = Job(equations, Settings(eps=EPS, relative=False, threads=threads), method(name))
    everything = Segment(0, equations.size, False)
    start = time.perf_counter()
    job.run(everything)
    seconds = time.perf_counter() - start
    products = job.sweeps // 2 if name == "bicgstab" else job.sweeps
    return Outcome(products, seconds, float(np.abs(job.residual(everything)).max()))


def random_equations(random: np.random.Generator, size: int, entries: int) -> Equations:
    """A random system with so many entries beside the diagonal, as x = Ax + b."""
    rows, columns = np.divmod(_places(random, size, entries), size - 1)
    columns += columns >= rows  # not the diagonal
    values = random.integers(1, LARGEST + 1, entries).astype(np.float64)
    sums = np.bincount(rows, values, size)
    diagonal = sums + random.integers(1, LARGEST + 1, size)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))]).astype(np.int64)
    numbers = np.arange(size, dtype=np.int32)
    model = Model.from_matrix("dtmc", [[1.0]])  # there is none
    return Equations(
        groups=None,
        starts=starts,
        columns=columns.astype(np.int32),
        values=Values(plain=values),
        scale=-1 / diagonal,
        constant=random.integers(0, LARGEST + 1, size) / diagonal,
        rows=numbers,
        progress=numbers,
        optimum=None,
        slack=0.0,
        segments=(Segment(0, size, False),),
        origin=Origin(model, numbers[:1], np.zeros(1), None),
    )


def _places(random: np.random.Generator, size: int, entries: int) -> np.ndarray:
    """Different places beside the diagonal: drawn, and drawn again where two fell together."""
    found = np.unique(random.integers(0, size * (size - 1), entries))
    while len(found) < entries:
        found = np.unique(np.concatenate([found, random.integers(0, size * (size - 1), entries - len(found))]))
    return found


def chain_equations(model: Model, goal: str) -> Equations:
    """Those of the states between probability 0 and 1."""
    through, target = np.ones(model.n_states, dtype=np.bool_), model.labels[goal]
    yes = surely_reaches(model, through, target, some_strategy=True)
    maybe = can_reach(model, through, target) & ~yes
    return open_equations(model, maybe, yes.astype(np.float64), Settings()).equations


def chains() -> Iterator[tuple[str, Equations]]:
    for n, budget in QUICK_SORT:
        model = galton.load(MODELS / "quicksort.prism", N=n, BUDGET=budget).build()
        yield f"quick sort N={n}, BUDGET={budget}", chain_equations(model, "over_budget")
    for rolls in ROLLS:
        model = galton.parse(BIASED_DIE, ROLLS=rolls).build()
        yield f"biased die ROLLS={rolls}", chain_equations(model, "six")


def compare(title: str, make: Callable[[int], Equations], trials: int, threads: int) -> None:
    """A line of the table: both methods on the same systems, in turns."""
    outcomes: dict[str, list[Outcome]] = {"jacobi": [], "bicgstab": []}
    for trial in range(trials):
        equations = make(trial)
        for name, found in outcomes.items():
            found.append(solve(equations, name, threads))
    size, entries = equations.size, len(equations.columns) + equations.size
    jacobi, bicgstab = (Outcome(*np.mean([vars_of(o) for o in found], axis=0)) for found in outcomes.values())
    print(
        f"{title:28} {size:5} {entries:8} {100 * entries / size**2:8.3f}"
        f"  {jacobi.iterations:8.0f} {jacobi.seconds:9.5f} {jacobi.residual:8.1e}"
        f"  {bicgstab.iterations:8.0f} {bicgstab.seconds:9.5f} {bicgstab.residual:8.1e}"
        f"  {jacobi.seconds / bicgstab.seconds:7.2f}",
        flush=True,
    )


def vars_of(outcome: Outcome) -> tuple[float, float, float]:
    return outcome.iterations, outcome.seconds, outcome.residual


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="random,chains")
    options = parser.parse_args()
    parts = options.only.split(",")
    print(f"{'':28} {'':5} {'':8} {'density':>8}  {'Jacobi':^27}  {'BiCGStab':^27}  {'Jacobi /':>8}")
    header = f"{'iter.':>8} {'s':>9} {'residual':>8}"
    print(f"{'system':28} {'rows':>5} {'entries':>8} {'%':>8}  {header}  {header}  {'BiCGStab':>8}")
    if "random" in parts:
        for size in SIZES:
            for density in DENSITIES:
                entries = round(density * size * size)
                trials = options.trials if entries < 1e6 else 1

                def make(trial: int, size: int = size, entries: int = entries) -> Equations:
                    return random_equations(np.random.default_rng(trial), size, entries)

                compare("random", make, trials, options.threads)
    if "chains" in parts:
        for title, equations in chains():
            size, entries = equations.size, len(equations.columns)
            compare(title, lambda _, equations=equations: equations, 4 * options.trials, options.threads)

            def alike(trial: int, size: int = size, entries: int = entries) -> Equations:
                return random_equations(np.random.default_rng(trial), size, entries)

            compare("  random, as large", alike, 4 * options.trials, options.threads)


if __name__ == "__main__":
    main()
