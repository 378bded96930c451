"""Pareto sets of MDPs beside Storm, both to the same absolute precision.

    python bench/multi.py [--only walk,csma] [--no-storm] [--timeout 600] [--repeat 1] [--markdown] [--json FILE]

Every measurement runs in a process of its own, from before the file is read until the answer is there. Times are
seconds of the processor, all threads together, so that a busy machine does not matter much.
Galton proves its corners and half spaces. Storm is asked twice: with the environment that promises nothing, and with
its sound one.
Both end when no strategy can be further from the corners than the precision. The corners of one tool have to lie in
what the other says can be attained: ``off`` is how far the worst is outside, in precisions.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MODELS = Path(__file__).resolve().parent.parent / "models"
STORM = ("storm-plain", "storm-sound")

# Steps in four directions that may slip; mud in some places, and a toll on one side.
WALK = """
mdp
const int N;
formula out = x=N & y=N;
module walk
  x : [0..N];
  y : [0..N];
  [east] x<N -> 0.8 : (x'=x+1) + 0.1 : (y'=max(y-1,0)) + 0.1 : (y'=min(y+1,N));
  [west] x>0 & !out -> 0.8 : (x'=x-1) + 0.1 : (y'=max(y-1,0)) + 0.1 : (y'=min(y+1,N));
  [north] y<N -> 0.8 : (y'=y+1) + 0.1 : (x'=max(x-1,0)) + 0.1 : (x'=min(x+1,N));
  [south] y>0 & !out -> 0.8 : (y'=y-1) + 0.1 : (x'=max(x-1,0)) + 0.1 : (x'=min(x+1,N));
  [] out -> true;
endmodule
label "out" = out;
label "ditch" = x=N & y<N/2;
rewards "steps" !out : 1; endrewards
rewards "mud"
  !out : 0.25;
  [east] mod(x*7+y*3,11)<4 : 3;
  [west] mod(x*7+y*3,11)<4 : 3;
  [north] mod(x*5+y*11,7)<3 : 2;
  [south] mod(x*5+y*11,7)<3 : 2;
endrewards
rewards "toll" !out & x>y : 2; endrewards
"""
# Two queues and one server, which may be slow and cheap or fast and dear, or do nothing.
QUEUES = """
mdp
const int N;
module queues
  a : [0..N];
  b : [0..N];
  [serve_a] a>0 -> 0.3 : (a'=min(a+1,N)) + 0.2 : (b'=min(b+1,N)) + 0.5 : (a'=a-1);
  [serve_b] b>0 -> 0.3 : (a'=min(a+1,N)) + 0.2 : (b'=min(b+1,N)) + 0.5 : (b'=b-1);
  [both] a>0 & b>0 -> 0.3 : (a'=min(a+1,N)) + 0.2 : (b'=min(b+1,N)) + 0.5 : (a'=a-1) & (b'=b-1);
  [rest] true -> 0.3 : (a'=min(a+1,N)) + 0.2 : (b'=min(b+1,N)) + 0.5 : true;
endmodule
rewards "waiting" true : (a+b)/N; endrewards
rewards "power" [serve_a] true : 1; [serve_b] true : 1; [both] true : 3; endrewards
"""


@dataclass(frozen=True)
class Instance:
    """A property of a model, and how precisely it is answered."""

    name: str
    model: str  # a file of the gallery, or a text
    constants: dict[str, int]
    text: str
    precision: float
    kind: str

    @property
    def given(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.constants.items())


def _until(*words: str) -> str:
    return f"multi({', '.join(words)})"


_OUT = ['R{"steps"}min=? [ F "out" ]', 'R{"mud"}min=? [ F "out" ]', 'R{"toll"}min=? [ F "out" ]']
INSTANCES = [
    Instance("walk", WALK, {"N": 120}, _until(*_OUT[:2]), 1e-2, "rewards until a goal"),
    Instance("large-walk", WALK, {"N": 300}, _until(*_OUT[:2]), 1e-2, "rewards until a goal"),
    Instance("walk", WALK, {"N": 100}, _until(*_OUT), 1.0, "three rewards"),
    Instance("walk", WALK, {"N": 100}, _until('Pmin=? [ F "ditch" ]', _OUT[1]), 1e-3, "a probability and a reward"),
    Instance(
        "walk", WALK, {"N": 50}, _until('Pmax=? [ F<=150 "out" ]', 'Pmin=? [ F<=150 "ditch" ]'), 1e-3, "step bounds"
    ),
    Instance(
        "queues", QUEUES, {"N": 100}, _until('R{"waiting"}min=? [ S ]', 'R{"power"}min=? [ S ]'), 1e-3, "averages"
    ),
    Instance(
        "consensus",
        "consensus.prism",
        {"N": 4, "K": 2},
        _until('Pmax=? [ F "finished" & "all_heads" ]', 'R{"steps"}min=? [ F "finished" ]'),
        1e-3,
        "a probability and a reward",
    ),
    Instance(
        "csma",
        "csma.prism",
        {"N": 3, "K": 2},
        _until('R{"time"}min=? [ F "all_delivered" ]', 'R{"collisions"}max=? [ F "all_delivered" ]'),
        1e-3,
        "rewards until a goal",
    ),
    Instance(
        "large-csma",
        "csma.prism",
        {"N": 4, "K": 2},
        _until('R{"time"}min=? [ F "all_delivered" ]', 'R{"collisions"}max=? [ F "all_delivered" ]'),
        1e-2,
        "rewards until a goal",
    ),
    Instance(
        "wlan",
        "wlan.prism",
        {"MAX_BACKOFF": 3, "COL": 0},
        _until('R{"time"}min=? [ F "both_sent" ]', 'R{"cost"}max=? [ F "both_sent" ]'),
        1e-2,
        "rewards until a goal",
    ),
    Instance(
        "leader",
        "leader_async.prism",
        {"N": 6},
        _until('R{"rounds"}min=? [ F "elected" ]', 'R{"steps"}max=? [ F "elected" ]'),
        1e-2,
        "rewards until a goal",
    ),
]
QUICK = [
    Instance("walk", WALK, {"N": 10}, _until(*_OUT[:2]), 1e-2, "rewards until a goal"),
    Instance("queues", QUEUES, {"N": 5}, _until('R{"waiting"}min=? [ S ]', 'R{"power"}min=? [ S ]'), 1e-2, "averages"),
]


def measure(tool: str, instance: Instance, path: Path, timeout: float) -> dict[str, Any]:
    """One run of a tool in a process of its own."""
    command = [sys.executable, __file__, "--child", json.dumps([tool, asdict(instance), str(path)])]
    limited = [*command, "--timeout", str(timeout)]
    done = subprocess.run(limited, capture_output=True, text=True)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"s": timeout, "timeout": True}
    try:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found
    except (IndexError, ValueError):
        reason = (done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"])[-1]
        return {"s": 0.0, "error": reason}


# Inside of such a process.


def ask_galton(instance: Instance, path: str) -> dict[str, Any]:
    """Galton's answer; as for Storm, what is imported is imported before."""
    import scipy.optimize
    import scipy.spatial  # noqa: F401

    import galton
    import galton.checking.multi
    from galton.checking.result import ParetoSet

    start = time.process_time()
    program = galton.load(path, **instance.constants)
    model = program.build()
    built = time.process_time()
    settings = galton.Settings(eps=instance.precision, relative=False)
    result = galton.check(model, instance.text, settings=settings)
    end = time.process_time()
    assert isinstance(result.value, ParetoSet)
    return {
        "s": end - start,
        "check_s": end - built,
        "states": model.n_states,
        "points": result.value.points,
        "half_spaces": result.value.half_spaces,
        "gap": result.value.gap,
    }


def ask_storm(instance: Instance, path: str, *, sound: bool) -> dict[str, Any]:
    """Storm's answer; its corners are read from what it prints."""
    import stormpy
    from stormpy.developer import _core

    start = time.process_time()
    program = stormpy.parse_prism_program(path, prism_compatibility=True)
    properties = stormpy.parse_properties(instance.text.replace("[ S ]", "[ LRA ]"), program)
    program, (asked,) = stormpy.instantiate_constants(program, instance.given, properties)
    model = stormpy.build_model(program, [asked])
    built = time.process_time()
    environment = _core.get_sound_environment() if sound else stormpy.Environment()
    several = environment.modelchecker().multi()
    several.precision = stormpy.Rational(repr(instance.precision))
    several.precision_type = _core.MultiObjectivePrecisionType.ABSOLUTE
    found = str(stormpy.model_checking(model, asked, environment=environment))
    end = time.process_time()
    listed = found[found.index("points found") :]
    points = [[float(x) for x in line.split(",")] for line in re.findall(r"\(([^)]*)\)", listed)]
    return {"s": end - start, "check_s": end - built, "states": model.nr_states, "points": points}


def child(given: str) -> None:
    """Answer one question, and print the answer."""
    tool, fields, path = json.loads(given)
    instance = Instance(**fields)
    answer = ask_galton(instance, path) if tool == "galton" else ask_storm(instance, path, sound=tool == "storm-sound")
    print(json.dumps(answer))


# The table.


def off(ours: dict[str, Any], theirs: dict[str, Any], precision: float) -> float:
    """How far corners of the other tool are beyond Galton's half spaces, or behind its corners, in precisions.

    Corners are printed with six digits, which is left to them.
    """
    worst = 0.0
    for weights, limit in ours["half_spaces"]:
        norm = sum(weight * weight for weight in weights) ** 0.5
        best, own = (
            max(sum(w * x for w, x in zip(weights, point, strict=True)) for point in run["points"])
            for run in (theirs, ours)
        )
        printed = max(sum(abs(w * x) for w, x in zip(weights, point, strict=True)) for point in theirs["points"]) * 5e-6
        worst = max(worst, (best - limit - printed) / norm / precision, (own - best - printed) / norm / precision)
    return worst


def told(run: dict[str, Any]) -> str:
    """The time of a run."""
    return f">{run['s']:g}" if "timeout" in run else "error" if "error" in run else f"{run['s']:.2f}"


def row(instance: Instance, runs: dict[str, dict[str, Any]]) -> list[str]:
    """A row of the table."""
    ours = runs["galton"]
    cells = [
        f"{instance.name} {instance.given}",
        instance.kind,
        f"{ours.get('states', 0):,}",
        f"{instance.precision:g}",
    ]
    cells += [str(len(ours.get("points", []))), told(ours)]
    for tool in STORM:
        if tool not in runs:
            continue
        theirs = runs[tool]
        fine = not any(name in run for run in (ours, theirs) for name in ("timeout", "error"))
        ratio = f"{theirs['s'] / ours['s']:.1f}" if fine else f">{theirs['s'] / ours['s']:.1f}" if "s" in ours else ""
        cells += [
            told(theirs),
            ratio if "error" not in theirs else "",
            f"{off(ours, theirs, instance.precision):.1f}" if fine else "",
        ]
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="models by name, separated by commas")
    parser.add_argument("--quick", action="store_true", help="two tiny models, to see that all of this works")
    parser.add_argument("--no-storm", action="store_true", help="Galton alone")
    parser.add_argument("--repeat", type=int, default=1, help="the fastest counts")
    parser.add_argument("--timeout", type=float, default=600, help="seconds of processor time for one run")
    parser.add_argument("--markdown", action="store_true", help="a table for a document")
    parser.add_argument("--json", type=Path, help="all numbers")
    given = parser.parse_args()
    if given.child:
        resource.setrlimit(resource.RLIMIT_CPU, (int(given.timeout) + 5, int(given.timeout) + 6))  # imports take some
        child(given.child)
        return
    wanted = [name for name in given.only.split(",") if name]
    tools = ("galton",) if given.no_storm else ("galton", *STORM)
    head = ["model", "objectives", "states", "precision", "corners", "Galton s"]
    for tool in tools[1:]:
        head += [f"{tool} s", "ratio", "off"]
    kept = []
    if given.markdown:
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    else:
        print("  ".join(head))
    for instance in QUICK if given.quick else INSTANCES:
        if wanted and instance.name not in wanted:
            continue
        runs: dict[str, dict[str, Any]] = {}
        with tempfile.TemporaryDirectory() as folder:
            path = MODELS / instance.model
            if "\n" in instance.model:
                path = Path(folder) / f"{instance.name}.prism"
                path.write_text(instance.model)
            for _ in range(given.repeat):  # in turns, so that they see the same machine
                for tool in tools:
                    run = measure(tool, instance, path, given.timeout)
                    if "error" in run:
                        print(f"{instance.name}: {tool}: {run['error']}", file=sys.stderr)
                    if tool not in runs or run["s"] < runs[tool]["s"]:
                        runs[tool] = run
        cells = row(instance, runs)
        print("| " + " | ".join(cells) + " |" if given.markdown else "  ".join(cells), flush=True)
        kept.append({**asdict(instance), "runs": runs})
    if given.json:
        given.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
