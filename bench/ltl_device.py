"""A formula of linear temporal logic on a device: the states of the product, and seconds for each stage.

    python bench/ltl_device.py [--model carts] [--size 71] [--device cuda] [--repeat 2] [--json FILE]

Two models of our own, with a constant for their size:

- ``carts``: four carts go round on tracks of ``size`` places, one at a time, as a scheduler likes. The first may break
  at the end of its first round, and on the bridge, if the second is there too. How likely can both come home for ever,
  with the third and the fourth never waiting for each other? A size of 71 gives 104 million states.
- ``messenger``: a walk on a grid of ``size`` by ``size`` places whose floor slips. Without a load it has to cross a
  swamp at one of a few bridges; how likely can it, and bring both loads home again and again? A size of 4,100 gives 100
  million states, thousands of steps apart.

With ``--repeat`` the first run, which loads and compiles, stands apart.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import galton

CARTS = """
mdp
const int N;
module carts
  c1 : [0..N-1]; c2 : [0..N-1]; c3 : [0..N-1]; c4 : [0..N-1];
  trial : [0..2];  // the first cart: not tested yet, tested, broken
  [one]   trial<2 & c1<N-1 & !(c1=5 & c2=5) -> 0.9 : (c1'=c1+1) + 0.1 : true;
  [one]   trial<2 & c1=5 & c2=5 -> 0.5 : (c1'=6) + 0.5 : (trial'=2);
  [one]   trial=0 & c1=N-1 -> 0.75 : (c1'=0) & (trial'=1) + 0.25 : (trial'=2);
  [one]   trial=1 & c1=N-1 -> (c1'=0);
  [two]   c2<N-1 -> 0.9 : (c2'=c2+1) + 0.1 : true;
  [two]   c2=N-1 -> (c2'=0);
  [three] c3<N-1 -> 0.9 : (c3'=c3+1) + 0.1 : true;
  [three] c3=N-1 -> (c3'=0);
  [four]  c4<N-1 -> 0.9 : (c4'=c4+1) + 0.1 : true;
  [four]  c4=N-1 -> (c4'=0);
endmodule
label "home1" = c1=0 & trial=1;
label "home2" = c2=0;
label "broken" = trial=2;
label "wait" = c3=N-1 & c4=N-1;
"""
MESSENGER = """
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
label "swamp" = x+y=N-1 & mod(x,11)!=5 & load=0;
"""
MODELS = {
    "carts": (CARTS, 71, 'Pmax=? [ (G F "home1") & (G F "home2") & (F (c1=3 & (X c2=3))) & (G !("broken" | "wait")) ]'),
    "messenger": (
        MESSENGER,
        4100,
        'Pmax=? [ (G F ("home" & load=1)) & (G F ("home" & load=2)) & (F (x=5 & (X y>x))) & (G !"swamp") ]',
    ),
}


def measured(program: Any, question: str, device: str) -> dict[str, Any]:
    """One run, from the checked program to the answer."""
    start = time.perf_counter()
    result = galton.check(program, question, device=device)
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
    parser.add_argument("--model", choices=list(MODELS), default="carts")
    parser.add_argument("--size", type=int, help="one that gives 100 million states if not given")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    text, size, question = MODELS[given.model]
    program = galton.parse(text, N=given.size or size)
    runs = []
    for number in range(given.repeat):
        run = measured(program, question, given.device)
        runs.append(run)
        print(f"run {number + 1}: {run['seconds']:.3f} s, of which building {run['build_s']:.3f} s; {run['placement']}")
        print(f"  {question} is in [{run['lower']!r}, {run['upper']!r}]")
        for warning in run["warnings"]:
            print(f"  warning: {warning}")
        for stage in run["stages"]:
            sweeps = f", {stage['sweeps']:,} sweeps" if stage["sweeps"] else ""
            print(f"  {stage['step']:<18} {stage['seconds']:9.3f} s  {stage['detail']}{sweeps}", flush=True)
        if given.json:
            given.json.write_text(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main()
