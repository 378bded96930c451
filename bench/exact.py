"""Exact answers, beside Storm's exact engine, in the same run.

    python bench/exact.py [--only herman,brp] [--repeat 3] [--timeout 300] [--without-flint] [--json FILE]

Every measurement runs in a process of its own; the clock runs from before the file is read until the answer is there.
What the tools import is imported before. Galton is called through its command line. Fractions are compared to the last
digit. Galton begins with doubles, whose time is part of it; ``--without-flint`` hides python-flint from it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MODELS = Path(__file__).parents[1] / "models"

# From 10^2 to 10^5 states: chains without and with large components, MDPs, long runs, steps.
CASES = [
    ("herman.prism", "N=7", 'filter(max, R{"steps"}=? [ F "stable" ], "init")'),
    ("herman.prism", "N=9", 'filter(max, R{"steps"}=? [ F "stable" ], "init")'),
    ("brp.prism", "N=16,MAX=2", 'P=? [ F "gave_up" ]'),
    ("brp.prism", "N=128,MAX=5", 'P=? [ F "gave_up" ]'),
    ("crowds.prism", "TotalRuns=4,CrowdSize=5", 'P=? [ F "sender_seen_twice" ]'),
    ("crowds.prism", "TotalRuns=5,CrowdSize=10", 'P=? [ F "sender_seen_twice" ]'),
    ("egl.prism", "N=5,L=4", 'P=? [ F !"knowA" & "knowB" ]'),
    ("leader_sync.prism", "N=4,K=6", 'R{"num_rounds"}=? [ F "elected" ]'),
    ("die.prism", "", "P=? [ F<=60 d=6 ]"),
    ("consensus.prism", "N=2,K=16", 'Pmax=? [ F "finished" & "all_heads" ]'),
    ("consensus.prism", "N=4,K=2", 'Pmin=? [ F "finished" & "all_heads" ]'),
    ("consensus.prism", "N=4,K=2", 'R{"steps"}max=? [ F "finished" ]'),
    ("csma.prism", "N=2,K=4", 'R{"time"}max=? [ F "all_delivered" ]'),
    ("wlan.prism", "MAX_BACKOFF=2,COL=2", 'Pmax=? [ F "collided" ]'),
    ("leader_async.prism", "N=5", 'R{"rounds"}min=? [ F "elected" ]'),
    ("cluster.prism", "N=2", 'LRA=? [ "minimum" ]'),
    ("cluster.prism", "N=4", 'LRA=? [ "minimum" ]'),
    ("cluster.prism", "N=8", 'LRA=? [ "minimum" ]'),
    ("tandem.prism", "c=7", 'R{"customers"}=? [ LRA ]'),
    ("tandem.prism", "c=15", 'R{"customers"}=? [ LRA ]'),
]


def measure(tool: str, case: tuple[str, str, str], timeout: float) -> dict[str, Any]:
    """The answer of a tool and its time in seconds; in place of the answer ``error``."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--inside", json.dumps([tool, *case])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"s": timeout, "error": "timeout"}
    try:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        return {"s": float("nan"), "error": (done.stderr.strip().splitlines() or ["no output"])[-1]}


# Inside of such a process.


def ask_galton(file: str, constants: str, prop: str, *, flint: bool) -> dict[str, Any]:
    """Galton's answer, by its command line."""
    if not flint:
        sys.modules["flint"] = None  # type: ignore[assignment]
    from typer.main import get_command

    import galton.checking.exact.lifting
    from galton.cli import app

    command, said = get_command(app), io.StringIO()
    arguments = ["check", str(MODELS / file), "--const", constants, "--prop", prop, "--exact", "--json", "--explain"]
    galton.check(MODELS / "die.prism", "P=? [ F d=6 ]", exact=True)  # imports what the command imports
    start = time.perf_counter()
    with contextlib.redirect_stdout(said):
        command.main(arguments, "galton", standalone_mode=False)
    took = time.perf_counter() - start
    answer = json.loads(said.getvalue())
    if "error" in answer:
        return {"s": took, "error": answer["error"]["message"]}
    return {"s": took, **{name: answer[name] for name in ("exact", "states", "transitions", "plan")}}


def ask_storm(file: str, constants: str, prop: str) -> dict[str, Any]:
    """The answer of Storm's exact engine."""
    import stormpy

    inner = prop.removeprefix("filter(max, ").removesuffix(', "init")')  # it has initial states, and no such filter
    start = time.perf_counter()
    program = stormpy.parse_prism_program(str(MODELS / file), prism_compatibility=True)
    program, (asked,) = stormpy.instantiate_constants(program, constants, stormpy.parse_properties(inner, program))
    model = stormpy.build_model[stormpy.Rational](program, [asked])
    result = stormpy.model_checking(model, asked)
    values = [result.get_value(state) for state in model.initial_states]
    took = time.perf_counter() - start
    return {"s": took, "exact": str(max(values)), "states": model.nr_states}


def inside(tool: str, file: str, constants: str, prop: str) -> None:
    found = (
        ask_storm(file, constants, prop)
        if tool == "storm"
        else ask_galton(file, constants, prop, flint=tool == "galton")
    )
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of models, separated by commas")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--without-flint", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(*json.loads(given.inside))
        return
    ours = "galton-fractions" if given.without_flint else "galton"
    print(f"{'model':22} {'constants':26} {'states':>8} {'Galton':>9} {'Storm':>9} {'ratio':>7}  digits")
    kept = []
    for case in CASES:
        if given.only and not any(case[0].startswith(name) for name in given.only.split(",")):
            continue
        best: dict[str, dict[str, Any]] = {}
        for _ in range(given.repeat):
            for tool in (ours, "storm"):
                if "error" not in best.get(tool, {}):
                    run = measure(tool, case, given.timeout)
                    best[tool] = run if tool not in best or run["s"] < best[tool]["s"] or "error" in run else best[tool]
        mine, theirs = best[ours], best["storm"]
        kept.append({"case": case, "galton": mine, "storm": theirs})
        note = mine.get("error", "") or theirs.get("error", "")
        if "exact" in mine and "exact" in theirs and mine["exact"] != theirs["exact"]:
            note = "DISAGREE"
        digits = len(mine.get("exact", "").split("/")[-1])
        times = f"{mine['s']:9.3f} {theirs['s']:9.3f} {theirs['s'] / mine['s']:7.2f}"
        print(f"{case[0]:22} {case[1]:26} {mine.get('states', 0):8,} {times}  {digits:,} {note[:60]}", flush=True)
    if given.json:
        given.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
