"""From the file to the answer on a CUDA device, beside the same on the CPU of the machine.

    python bench/gpu.py [--only consensus] [--timeout 120] [--no-cpu] [--json FILE]

Every run is the command line in a process of its own, the second of two: by then everything is compiled and cached, and
the first tells what that took. The answers of both must agree: their bounds have to overlap.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MODELS = Path(__file__).resolve().parent.parent / "models"
# model, constants, property
CASES = [
    ("crowds", "TotalRuns=5,CrowdSize=20", 'P=? [ F "sender_seen_twice" ]'),
    ("nand", "N=40,K=4", 'P=? [ F "few_wrong" ]'),
    ("herman", "N=15", 'R{"steps"}=? [ F "stable" ]'),
    ("consensus", "N=4,K=4", 'Pmin=? [ F "finished" & "all_heads" ]'),
    ("consensus", "N=6,K=2", 'Pmax=? [ F "finished" & !"agree" ]'),
    ("consensus", "N=6,K=2", 'R{"steps"}min=? [ F "finished" ]'),
    ("consensus", "N=6,K=4", 'R{"steps"}max=? [ F "finished" ]'),
    ("consensus", "N=8,K=2", 'Pmax=? [ F "finished" & !"agree" ]'),
    ("csma", "N=3,K=4", 'R{"time"}max=? [ F "all_delivered" ]'),
    ("csma", "N=3,K=4", 'Pmin=? [ F "early_success" ]'),
    ("wlan", "MAX_BACKOFF=6,COL=0", 'R{"time"}max=? [ F "both_sent" ]'),
    ("wlan", "MAX_BACKOFF=6,COL=0", 'R{"time"}min=? [ F "both_sent" ]'),
    ("leader_async", "N=7", 'R{"rounds"}max=? [ F "elected" ]'),
    ("polling", "N=17", 'P=? [ !"served2" U "served1" ]'),
    ("herman", "N=13", 'P=? [ F<=50 "stable" ]'),
    ("consensus", "N=6,K=2", 'Pmin=? [ F<=300 "finished" ]'),
    ("csma", "N=3,K=4", 'Pmax=? [ F<=100 "all_delivered" ]'),
    ("wlan", "MAX_BACKOFF=6,COL=0", 'Pmin=? [ F<=1000 "both_sent" ]'),
    ("tandem", "c=1023", 'P=? [ F<=1 "first_full" ]'),
    ("tandem", "c=1023", 'R{"customers"}=? [ I=0.2 ]'),
    ("cluster", "N=128", 'P=? [ F<=2000 !"minimum" ]'),
    ("polling", "N=15", 'R{"waiting"}=? [ C<=16 ]'),
    ("tandem", "c=255", 'R{"customers"}=? [ S ]'),
    ("tandem", "c=1023", 'R{"customers"}=? [ S ]'),
    ("cluster", "N=128", 'S=? [ "premium" ]'),
    ("cluster", "N=320", 'S=? [ "premium" ]'),
    ("kanban", "t=5", 'R{"throughput"}=? [ S ]'),
    ("fms", "n=7", 'R{"productivity"}=? [ S ]'),
    ("polling", "N=17", 'S=? [ "waiting1" ]'),
]


def run(model: str, constants: str, prop: str, device: str, timeout: float) -> dict[str, Any]:
    """The answer, as the command line gives it in JSON, and the seconds of the whole process."""
    command = [sys.executable, "-m", "galton", "check", str(MODELS / f"{model}.prism"), "--const", constants]
    command += ["--prop", prop, "--device", device, "--json", "--explain"]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {timeout:g} s", "process_s": timeout}
    process = time.perf_counter() - start
    try:
        return {**json.loads(done.stdout.splitlines()[-1]), "process_s": process, "said": done.stderr.strip()}
    except (IndexError, ValueError):
        return {"error": (done.stderr.strip() or f"code {done.returncode}")[-1500:], "process_s": process}


def overlap(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two answers can both be right."""
    if "error" in a or "error" in b or a["lower"] is None:
        return True
    return float(a["lower"]) <= float(b["upper"]) and float(b["lower"]) <= float(a["upper"])


def shown(answer: dict[str, Any]) -> str:
    """An answer in a line."""
    if "error" in answer:
        return f"{answer['error']}"
    plan = ", ".join(f"{step['step']} {step['seconds']:.3f}" for step in answer["plan"])
    built = ", ".join(f"{name[:-2]} {value:.3f}" for name, value in answer["build"].items() if name.endswith("_s"))
    value = answer["value"]
    if isinstance(value, list):
        value = value[-1]
    return (
        f"{answer['device']:4} {answer['total_s']:8.3f} s (process {answer['process_s']:.2f}): "
        f"build {answer['build_s']:.3f} "
        f"({built}), {plan}; {answer['iterations']:,} sweeps; {value} in "
        f"[{answer['lower']}, {answer['upper']}]"
    )


COLUMNS = (
    "model",
    "property",
    "states",
    "transitions",
    "compile",
    "explore",
    "analyse",
    "solve",
    "total",
    "sweeps",
    "value",
)


def table(records: list[dict[str, Any]]) -> str:
    """What was measured, as docs/gpu/solve.md has it: seconds of the device's run, and the CPU's total beside."""
    lines = [f"| {' | '.join((*COLUMNS, 'CPU total'))} |", f"|{'---|' * (len(COLUMNS) + 1)}"]
    for record in records:
        model, constants, prop = record["case"]
        row, device, host = [f"{model} {constants}", f"`{prop}`"], record["cuda"], record["cpu"]
        if "error" in device:
            row += ["", "", "", "", "", "", str(device["error"]), "", ""]
        else:
            build, steps = device["build"], [(s["step"], s["seconds"]) for s in device["plan"]]
            analysed = [s for name, s in steps if name in ("graph analysis", "bottom components", "prob0", "equations")]
            explored = sum(build.get(name, 0.0) for name in ("discover_s", "sort_s", "count_s", "fill_s"))
            row += [f"{device['states']:,}", f"{device['transitions']:,}", f"{build.get('compile_s', 0.0):.2f}"]
            row += [f"{explored:.3f}", f"{sum(analysed):.3f}", f"{sum(s for _, s in steps) - sum(analysed):.3f}"]
            value = device["value"][-1] if isinstance(device["value"], list) else device["value"]
            row += [f"{device['total_s']:.2f}", f"{device['iterations']:,}", f"{value:.9g}"]
        row.append("" if not host else str(host["error"]) if "error" in host else f"{host['total_s']:.2f}")
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of names of models, separated by commas")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--no-cpu", action="store_true")
    parser.add_argument("--once", action="store_true", help="do not run a first time to fill the caches")
    parser.add_argument("--json", type=Path, help="write all that was measured")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the table of what such a file holds, and end")
    given = parser.parse_args()
    if given.table:
        print(table(json.loads(given.table.read_text())))
        return
    only = [part for part in given.only.split(",") if part]
    records, wrong = [], 0
    for model, constants, prop in CASES:
        if only and not any(part in f"{model} {constants} {prop}" for part in only):
            continue
        first = None if given.once else run(model, constants, prop, "cuda", given.timeout)
        device = run(model, constants, prop, "cuda", given.timeout)
        host = None if given.no_cpu else run(model, constants, prop, "cpu", given.timeout)
        sizes = f"{device['states']:,} states, {device['transitions']:,} transitions" if "states" in device else ""
        print(f"{model} {constants} {prop} {sizes}")
        if first is not None:
            print(f"  first run: process {first['process_s']:.2f} s")
        print(f"  {shown(device)}")
        if device.get("said"):
            print(f"  {device['said']}")
        if host is not None:
            print(f"  {shown(host)}")
            if not overlap(device, host):
                wrong += 1
                print("  DISAGREE")
        sys.stdout.flush()
        records.append({"case": [model, constants, prop], "first": first, "cuda": device, "cpu": host})
        if given.json:
            given.json.write_text(json.dumps(records, indent=1))
    print(table(records))
    if wrong:
        raise SystemExit(f"{wrong} answers disagree")


if __name__ == "__main__":
    main()
