"""Parameter synthesis beside PRISM-PSY, on the cases whose runs are kept in ``../shared/baselines``.

    python bench/synth.py [--only sir,am39] [--split all] [--threads 2] [--most 200] [--json FILE]
                          [--points 10000 [--skip 5000] [--device cuda] [--method NAME]]

For each case: boxes at the end, boxes and points looked at, steps of uniformisation and seconds from the file to the
answer, with PSY's boxes, steps and CPU seconds beside, which it took on one core of a busy machine. A constant that
is derived from a parameter follows it here and does not in PSY: polling is another question for that reason.

Where PSY's boxes are kept, no box may be called true by one and false by the other, the bounds of boxes that overlap
must, and so must the intervals of the optimum.

With ``--points`` the property is also checked at so many points of each case, corners of boxes and random ones inside,
by ``galton.check``; what is not between the bounds of its box is counted, and the program then ends with an error.
With ``--device cuda`` that check runs on a device, of models that are built on the CPU; ``--method`` is a method of
``galton check`` for it, such as adaptive-uniformisation, which goes forward where synthesis goes backward.
Of as many points the first ones are the same each time: ``--skip`` goes on from where a run has ended before.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as on the command line: threads that only spin take cores

import numpy as np

import galton
from galton.synth.regions import Box, Regions

BASELINES = Path(__file__).resolve().parent.parent.parent / "shared" / "baselines"
PSY_CUTS = 1e-6  # what PSY leaves out of the Poisson distribution and does not add to its bounds
CHANGED = {"cluster_N16.sm": ("cluster.sm", "N=48", "N=16")}  # models that are kept as changes of others
TOLD = 500  # points between words about progress
OTHER_QUESTIONS = ("polling.sm",)  # a constant that is derived from a parameter does not follow it there
COLUMNS = ("case", "boxes", "looked at", "steps", "seconds", "PSY boxes", "PSY steps", "PSY CPU s", "faster")


def asked(case: dict[str, Any]) -> dict[str, Any]:
    """What is asked in a case."""
    problem = {"max": {"maximize": True}, "min": {"minimize": True}}.get(case["kind"], {})
    return {**problem, "tolerance": case["tolerance"], **{name: tuple(ends) for name, ends in case["space"].items()}}


def text_of(case: dict[str, Any]) -> str:
    """The model of a case; empty where it is not kept."""
    file, *change = CHANGED.get(case["model"], (case["model"],))
    path = BASELINES / "psy-models" / file
    text = path.read_text() if path.exists() else ""
    return text.replace(*change) if change else text


def run(case: dict[str, Any], split: Any, threads: int | None) -> dict[str, Any]:
    """One case from the file to the answer."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / case["model"]
        path.write_text(text_of(case))
        regions = galton.synthesize(path, case["property"], split=split, threads=threads, **asked(case))
    return {
        "case": case["case"],
        "boxes": len(regions.boxes),
        "looked": int(regions.statistics["boxes"] + regions.statistics["points"]),
        "steps": int(regions.statistics["steps"]),
        "seconds": time.perf_counter() - start,
        "optimum": regions.optimum,
        "complete": regions.complete,
        "regions": regions,
    }


def contradictions(case: dict[str, Any], regions: Regions) -> list[str]:
    """Where PSY's boxes and these cannot both be right; None of its boxes are kept for some cases."""
    path = BASELINES / "psy-regions" / f"{case['case']}.json"
    if not path.exists() or case["model"] in OTHER_QUESTIONS:
        return []
    found = []
    theirs = {kind: boxes for kind, boxes in json.loads(path.read_text())["regions"].items() if boxes}
    opposite = {"true": "false", "false": "true"}
    for kind, boxes in theirs.items():
        for other in boxes:
            ends = [other["region"][name] for name in regions.parameters]
            for box in regions.boxes:
                if any(box.high[p] <= low or box.low[p] >= high for p, (low, high) in enumerate(ends)):
                    continue
                if box.verdict == opposite.get(kind):
                    found.append(f"{ends} is {kind}, {box} is {box.verdict}")
                if box.upper < other["lower"] - PSY_CUTS or box.lower > other["upper"] + PSY_CUTS:
                    found.append(f"{ends} has values in [{other['lower']}, {other['upper']}], {box} has not")
    if regions.optimum and "optimising" in theirs:
        low, high = (pick(box[end] for box in theirs["optimising"]) for pick, end in ((min, "lower"), (max, "upper")))
        if regions.optimum[0] > high + PSY_CUTS or regions.optimum[1] < low - PSY_CUTS:
            found.append(f"an optimum in [{low}, {high}], and in {regions.optimum}")
    return found


def points_of(regions: Regions, count: int) -> Iterator[tuple[Box, dict[str, float]]]:
    """Corners of all boxes in turn, then random points inside, as many as asked for."""
    names, random = list(regions.parameters), np.random.default_rng(1)
    corners = [
        (box, dict(zip(names, corner, strict=True)))
        for box in regions.boxes
        for corner in product(*zip(box.low, box.high, strict=True))
    ]
    if len(corners) > count // 2:
        corners = [corners[i] for i in random.choice(len(corners), count // 2, replace=False)]
    yield from corners
    for k in range(count - len(corners)):
        box = regions.boxes[k % len(regions.boxes)]
        yield box, dict(zip(names, random.uniform(box.low, box.high).tolist(), strict=True))


def is_wrong(program: str, text: str, device: str, method: str | None, box: Box, point: dict[str, float]) -> bool:
    """Whether the value at a point is for certain not between the bounds of its box."""
    for name, value in point.items():  # constants that have a value in the file are chosen, too
        program = re.sub(rf"const\s+double\s+{name}\s*(=[^;]*)?;", f"const double {name} = {value!r};", program)
    model = galton.parse(program).build(device="cpu", threads=1)
    if device == "cuda":
        model = model.to_device()
    found = galton.check(model, text, settings=galton.Settings(threads=1, method=method))
    assert found.lower is not None
    assert found.upper is not None
    return found.upper < box.lower or found.lower > box.upper


def wrong_points(case: dict[str, Any], regions: Regions, options: argparse.Namespace) -> int:
    """How many of the points that are asked for contradict their boxes."""
    text = re.sub(r"^([PR](?:\{[^}]*\})?)\s*(?:>=|<=|>|<)\s*[-+.\deE]+", r"\1=?", case["property"])
    with ProcessPoolExecutor(options.threads, get_context("spawn")) as pool:
        points = islice(points_of(regions, options.points), options.skip, None)
        jobs = [pool.submit(is_wrong, text_of(case), text, options.device, options.method, *one) for one in points]
        wrong = 0
        for done, job in enumerate(jobs, start=options.skip + 1):
            wrong += job.result()
            if done % TOLD == 0:
                print(f"  {done:,} points of {case['case']}, {wrong} outside", file=sys.stderr, flush=True)
        return wrong


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
    parser.add_argument("--points", type=int, default=0, help="check the property at so many points of each case")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of these points, the first ones")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where the points are checked")
    parser.add_argument("--method", help="how they are checked, a name that galton check knows")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.points and not options.skip < options.points:
        parser.error("--skip leaves no points")
    cases = json.loads((BASELINES / "psy.json").read_text())
    results = []
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for case in cases:
        there = text_of(case) and not case["case"].startswith("facts")
        wanted = any(part in case["case"] for part in options.only.split(","))
        if there and wanted and (case["user_cpu_s"] or 1e9) <= options.most:
            results.append(run(case, options.split, options.threads))
            print("| " + " | ".join(row(case, results[-1])) + " |", flush=True)
            regions = results[-1].pop("regions")
            results[-1]["contradictions"] = contradictions(case, regions)
            for sentence in results[-1]["contradictions"]:
                print(f"  {sentence}")
            if options.points:
                results[-1]["wrong"] = wrong_points(case, regions, options)
                print(
                    f"  {options.points - options.skip:,} points, {results[-1]['wrong']} outside of the bounds",
                    flush=True,
                )
            if options.json:
                options.json.write_text(json.dumps(results, indent=1))
    if any(found.get("wrong") or found["contradictions"] for found in results):
        raise SystemExit("some boxes are contradicted, by PSY or by values at their points")


if __name__ == "__main__":
    main()
