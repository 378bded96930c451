"""A formula of linear temporal logic on a device: the states of the product, and seconds for each stage.

    python bench/ltl_device.py [--size 5000] [--device cuda] [--repeat 2] [--json FILE]

A messenger walks on a square grid of ``size`` by ``size`` places whose floor slips, carries one of two loads or none,
and chooses its way. The question has a formula over two automaton states and more, with a Rabin condition: how likely
can it bring both loads home again and again, and after some time never pass the swamp? The product has some states for
each place and load. With ``--repeat`` the first run, which loads and compiles, stands apart.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import galton

TEXT = """
mdp
const int N;
module messenger
  x : [0..N-1]; y : [0..N-1]; load : [0..2];
  [east]  x<N-1 -> 0.9 : (x'=x+1) + 0.05 : (y'=min(y+1,N-1)) + 0.05 : true;
  [north] y<N-1 -> 0.9 : (y'=y+1) + 0.05 : (x'=min(x+1,N-1)) + 0.05 : true;
  [back]  x=N-1 & y=N-1 -> 0.5 : (x'=0) & (y'=0) & (load'=1) + 0.5 : (x'=0) & (y'=0) & (load'=2);
  [back]  x=N-1 & y<N-1 -> (x'=0) & (y'=0) & (load'=0);
endmodule
label "home" = x=0 & y=0;
label "swamp" = x=3*y & mod(x,7)=3;
"""
QUESTION = 'Pmax=? [ (G F ("home" & load=1)) & (G F ("home" & load=2)) & (F (x=5 & (X y>x))) & (F G !"swamp") ]'


def measured(program: Any, device: str) -> dict[str, Any]:
    """One run, from the checked program to the answer."""
    start = time.perf_counter()
    result = galton.check(program, QUESTION, device=device)
    seconds = time.perf_counter() - start
    stages = [{"step": w.step, "detail": w.detail, "seconds": w.seconds, "sweeps": w.iterations} for w in result.work]
    return {
        "seconds": seconds,
        "check_s": result.seconds,
        "build_s": seconds - result.seconds,
        "lower": result.lower,
        "upper": result.upper,
        "placement": str(result.placement),
        "warnings": result.warnings,
        "stages": stages,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=5000, help="places on each side of the grid")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    program = galton.parse(TEXT, N=given.size)
    runs = []
    for number in range(given.repeat):
        run = measured(program, given.device)
        runs.append(run)
        print(f"run {number + 1}: {run['seconds']:.3f} s, of which building {run['build_s']:.3f} s; {run['placement']}")
        print(f"  {QUESTION} is in [{run['lower']!r}, {run['upper']!r}]")
        for warning in run["warnings"]:
            print(f"  warning: {warning}")
        for stage in run["stages"]:
            sweeps = f", {stage['sweeps']:,} sweeps" if stage["sweeps"] else ""
            print(f"  {stage['step']:<16} {stage['seconds']:9.3f} s  {stage['detail']}{sweeps}", flush=True)
        if given.json:
            given.json.write_text(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main()
