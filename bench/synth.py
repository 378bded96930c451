"""Parameter synthesis beside PRISM-PSY, on the cases whose runs are kept in ``../shared/baselines``.

    python bench/synth.py [--only sir,am39] [--split all] [--threads 2] [--most 200] [--json FILE]

For each case: boxes at the end, boxes and points looked at, steps of uniformisation and seconds from the file to the
answer, with PSY's boxes, steps and CPU seconds beside, which it took on one core of a busy machine. A constant that
is derived from a parameter follows it here and does not in PSY: polling is another question for that reason.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import galton

BASELINES = Path(__file__).resolve().parent.parent.parent / "shared" / "baselines"
COLUMNS = ("case", "boxes", "looked at", "steps", "seconds", "PSY boxes", "PSY steps", "PSY CPU s", "faster")


def asked(case: dict[str, Any]) -> dict[str, Any]:
    """What is asked in a case."""
    problem = {"max": {"maximize": True}, "min": {"minimize": True}}.get(case["kind"], {})
    return {**problem, "tolerance": case["tolerance"], **{name: tuple(ends) for name, ends in case["space"].items()}}


def run(case: dict[str, Any], split: Any, threads: int | None) -> dict[str, Any]:
    """One case from the file to the answer."""
    start = time.perf_counter()
    path = BASELINES / "psy-models" / case["model"]
    regions = galton.synthesize(path, case["property"], split=split, threads=threads, **asked(case))
    return {
        "case": case["case"],
        "boxes": len(regions.boxes),
        "looked": int(regions.statistics["boxes"] + regions.statistics["points"]),
        "steps": int(regions.statistics["steps"]),
        "seconds": time.perf_counter() - start,
        "optimum": regions.optimum,
        "complete": regions.complete,
    }


def row(case: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """The cells of a case."""
    cpu, steps = case["user_cpu_s"], case["uniformisation_iterations_total"]
    return [
        found["case"],
        f"{found['boxes']:,}",
        f"{found['looked']:,}",
        f"{found['steps']:,}",
        f"{found['seconds']:.2f}",
        f"{case['regions_total']:,}" if case["regions_total"] else "",
        f"{steps:,}" if steps else "",
        f"{cpu:.0f}" if cpu else "stopped",
        f"{cpu / found['seconds']:.1f}" if cpu else "",
    ]


def main() -> None:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of the names of cases, with commas between")
    parser.add_argument("--split", default="best", choices=["best", "all"])
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--most", type=float, default=100.0, help="leave out what took PSY more CPU seconds, or all its time"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cases = json.loads((BASELINES / "psy.json").read_text())
    results = []
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for case in cases:
        there = (BASELINES / "psy-models" / case["model"]).exists() and not case["case"].startswith("facts")
        wanted = any(part in case["case"] for part in options.only.split(","))
        if there and wanted and (case["user_cpu_s"] or 1e9) <= options.most:
            results.append(run(case, options.split, options.threads))
            print("| " + " | ".join(row(case, results[-1])) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
