"""How often intervals hold what they should: many runs with different seeds, against answers that are known.

    python tests/simulation/coverage_campaign.py [--runs 1000] [--confidence 0.95] [--only die] [--processes 2]

Each question is estimated again and again, with an interval about as wide as a tenth, so that a run is short and the
number of paths small: with few paths the interval of a mean is at its worst. A proportion of 1,000 runs is itself off
by 0.7 % (one standard deviation); the second column is how unlikely so few hits would be if the confidence were exact.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parent))

from known_answers import KNOWN, Known

WIDTH = 0.1  # of probabilities: some hundred paths
PATHS = 1000  # of means


def holding(known: Known, runs: int, confidence: float, first: int = 0) -> int:
    """In how many of the runs the interval holds the exact answer."""
    mean = known.prop.startswith("R")
    slack = 1e-6  # of answers that were published with seven digits
    held = 0
    for seed in range(first, first + runs):
        wish = {"paths": PATHS} if mean else {"width": WIDTH}
        found = known.estimate(confidence=confidence, seed=seed, threads=1, **wish)
        assert found.lower is not None
        assert found.upper is not None
        held += found.lower - slack <= known.exact <= found.upper + slack
    return held


def _row(number: int, runs: int, confidence: float) -> tuple[int, int]:
    return number, holding(KNOWN[number], runs, confidence)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    numbers = [number for number, known in enumerate(KNOWN) if options.only in str(known)]
    total = 0
    with ProcessPoolExecutor(options.processes) as pool:
        jobs = [pool.submit(_row, number, options.runs, options.confidence) for number in numbers]
        for job in jobs:
            number, held = job.result()
            total += held
            chance = binom.cdf(held, options.runs, options.confidence)
            print(f"{held / options.runs:8.2%}  {chance:8.3g}  {KNOWN[number]}", flush=True)
    print(f"{total / options.runs / len(numbers):8.2%}  of {options.runs * len(numbers):,} runs together")


if __name__ == "__main__":
    main()
