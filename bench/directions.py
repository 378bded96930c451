"""Parameter synthesis of CTMCs backward from the goal and forward from the initial state, beside each other.

    python bench/directions.py [--only sir] [--limit 30] [--threads 1]

First questions of the gallery, each at several times, over the same eight boxes of 1/16 of each range: how much wider
forward bounds are, and how much longer they take. Then whole syntheses both ways; one is stopped after ``--limit``
seconds. The last is made for forward: a walk from one end with one rate both ways, whose reward alternates.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import galton
from galton.synth.api import Direction, Synthesis
from galton.synth.regions import Regions

MODELS = Path(__file__).resolve().parent.parent / "models"
BOTH: tuple[Direction, Direction] = ("backward", "forward")
PART = 16  # boxes are so much narrower than the ranges
SEEN = 1e-9  # what is narrower is rounding
WALK = """ctmc const double k;
module walk n : [0..100]; [] n<100 -> k : (n'=n+1); [] n>0 -> k : (n'=n-1); endmodule
rewards mod(n,2)=0 : 1; endrewards"""


class Family(NamedTuple):
    """Questions about one model: constants, ranges, times, properties."""

    constants: Mapping[str, Any]
    ranges: Mapping[str, tuple[float, float]]
    times: tuple[float, ...]
    props: tuple[str, ...]


FAMILIES = {
    "tandem": Family(
        {"c": 4},
        {"stage1": (1, 3), "service": (2, 6)},
        (0.1, 1, 10),
        (
            'R{"customers"}=? [ I=T ]',
            'P=? [ F<=T "first_full" ]',
            'P=? [ F[T,T] "first_full" ]',
            'R{"departures"}=? [ C<=T ]',
        ),
    ),
    "cluster": Family(
        {"N": 4},
        {"ws_fail": (0.001, 0.02), "ws_repair": (0.5, 5)},
        (1, 10, 100),
        ('R{"time_not_min"}=? [ C<=T ]', 'R{"percent_op"}=? [ I=T ]', 'P=? [ F<=T !"minimum" ]'),
    ),
    "polling": Family(
        {"N": 5},
        {"walk": (100, 300), "serve": (0.5, 2)},
        (0.01, 0.1, 1),
        ('R{"served"}=? [ C<=T ]', 'R{"waiting"}=? [ I=T ]', 'P=? [ F[T,T] "waiting1" ]'),
    ),
    "kanban": Family(
        {"t": 1},
        {"enter2": (0.5, 2), "exit1": (0.2, 0.8)},
        (0.1, 1, 10),
        ('R{"throughput"}=? [ C<=T ]', 'R{"tokens_cell1"}=? [ I=T ]', "P=? [ F<=T work4=1 ]"),
    ),
    "fms": Family(
        {"n": 1},
        {"to_ship1": (0.1, 0.4), "to_ship12": (0.5, 2)},
        (0.1, 1, 10),
        ('R{"productivity"}=? [ C<=T ]', "P=? [ F[T,T] busy2=0 & busy3=0 ]"),
    ),
    "gfs": Family(
        {"M": 5, "copies": 3},
        {"c_hard_re": (0.5, 2), "c_fail": (0.01, 1)},
        (0.1, 1, 10),
        (
            'P=? [ F<=T "service_level_3" ]',
            'P=? [ !"service_level_3" U[T,1.5*T] "service_level_3" ]',
            'R{"copies"}=? [ I=T ]',
        ),
    ),
    "approximate_majority": Family(
        {"A0": 10, "B0": 4, "joined": False},
        {"k1": (50, 100), "k2": (1, 100), "k3": (1, 100)},
        (0.0001, 0.001, 0.01),
        ('P=? [ F[T,T] "correct" ]', 'P=? [ F<=T "agreed" ]', 'R{"meetings"}=? [ C<=T ]'),
    ),
    "sir": Family(
        {"S0": 20, "I0": 2, "R0": 0},
        {"ki": (0.001, 0.05), "kr": (0.05, 0.2)},
        (0.1, 1, 10, 100),
        ("P=? [ ill>0 U[T,2*T] ill=0 ]", 'R{"ill"}=? [ I=T ]', 'R{"severe"}=? [ C<=T ]', "P=? [ F[T,T] ill=2 ]"),
    ),
    "embedded": Family(
        {"MAX_COUNT": 2},
        {"reboot": (0.01, 0.1), "cycle": (0.01, 0.1)},
        (0.01, 0.1, 1),
        ('P=? [ F<=T*3600 "down" ]', 'R{"up"}=? [ C<=T*3600 ]', 'R{"reboots"}=? [ C<=T*3600 ]'),
    ),
}
_SIR = {"S0": 95, "I0": 5, "R0": 0, "ki": (0.00005, 0.003), "kr": (0.005, 0.2)}
WHOLE: list[tuple[str, str, dict[str, Any]]] = [
    ("sir", "P=? [ F<=1 ill>=7 ]", {**_SIR, "accuracy": 0.05}),
    ("sir", "P=? [ F[1,1] ill=5 ]", {**_SIR, "accuracy": 0.05}),
    ("sir", "P>=0.1 [ ill>0 U[100,120] ill=0 ]", {**_SIR, "tolerance": 0.1}),
    ("tandem", "P>=0.2 [ F<=1 second=4 ]", {"c": 20, "stage1": (1, 4), "service": (1, 4), "tolerance": 0.05}),
    ("cluster", 'P=? [ F<=100 !"minimum" ]', {"N": 8, **FAMILIES["cluster"].ranges, "accuracy": 0.001}),
    ("gfs", 'P=? [ F<=20 "service_level_3" ]', {"M": 20, "copies": 3, **FAMILIES["gfs"].ranges, "accuracy": 0.05}),
    ("walk", "R=? [ C<=50 ]", {"k": (0.5, 5), "accuracy": 0.2}),
]


def narrow(model: str, prop: str, moment: float, threads: int) -> tuple[list[float], list[float]]:
    """Mean widths of the bounds of a few boxes, and seconds, both ways."""
    family, widths, seconds = FAMILIES[model], [], []
    for direction in BOTH:
        asked = Synthesis.prepare(
            MODELS / f"{model}.prism",
            f"const double T; {prop}",
            {name: (float(low), float(high)) for name, (low, high) in family.ranges.items()},
            {**family.constants, "T": moment},
            accuracy=1.0,
            direction=direction,
            threads=threads,
        ).evaluator
        low, high = asked.model.space
        corners = np.random.default_rng(0).uniform(low, high - (high - low) / PART, (8, len(low)))
        asked.bounds(corners, corners)  # rows and graphs are made once for all boxes
        start = time.perf_counter()
        lower, upper = asked.bounds(corners, corners + (high - low) / PART)
        seconds.append(time.perf_counter() - start)
        widths.append(float(np.mean(upper - lower)))
    return widths, seconds


def whole(model: str, prop: str, asked: Mapping[str, Any], direction: Direction, limit: float, threads: int) -> Regions:
    """A synthesis, stopped after a while."""
    end = time.perf_counter() + limit

    def watch(_: Mapping[str, Any]) -> None:
        if time.perf_counter() > end:
            raise KeyboardInterrupt

    subject = galton.parse(WALK) if model == "walk" else MODELS / f"{model}.prism"
    return galton.synthesize(subject, prop, direction=direction, threads=threads, watch=watch, **asked)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the names of models")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one synthesis")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    found = []
    for model, family in FAMILIES.items():
        for prop, moment in [(p, t) for p in family.props for t in family.times if options.only in model]:
            widths, seconds = narrow(model, prop, moment, options.threads)
            ratio = widths[1] / widths[0] if widths[0] > SEEN else float("nan")
            found.append((ratio, seconds[1] / seconds[0]))
            print(f"{model:21}{prop:58}T={moment:<7g}{widths[0]:9.1e}{widths[1]:9.1e}{ratio:8.2f}", flush=True)
    if found:
        ratios, times = np.array(found).T
        print(f"{np.isfinite(ratios).sum()} of {len(found)} questions; forward / backward, quartiles:")
        for name, numbers in (("width", ratios), ("time", times)):
            print(f"  {name:6}" + "".join(f"{q:10.2f}" for q in np.nanquantile(numbers, [0, 0.25, 0.5, 0.75, 1])))
    for model, prop, asked in WHOLE:
        for direction in BOTH if options.only in model else ():
            regions = whole(model, prop, asked, direction, options.limit, options.threads)
            looked, seconds_used = int(regions.statistics["boxes"]), regions.statistics["seconds"]
            end = "" if regions.complete else " stopped"
            print(
                f"{model:10}{prop:40}{direction:10}{len(regions.boxes):7,}{looked:8,}{seconds_used:8.2f} s{end}",
                flush=True,
            )


if __name__ == "__main__":
    main()
