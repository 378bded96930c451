"""Long-run answers of large CTMCs, sound to 1e-6, with time and sweeps; on request beside Storm.

    python bench/long_run.py [--only cluster,fms] [--storm] [--timeout 120] [--threads 2] [--json FILE] [--markdown]

These are the questions on which other tools give up: Jacobi does not converge on cluster and kanban, and what proves
its bounds by value iteration needs millions of sweeps on tandem, fms and polling. Models and properties are those of
the gallery. Every measurement runs in a process of its own; ``measure.py`` says what is in the time.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from check import Runs, disagreements, machine, width
from measure import TOOLS, Question, failed, fastest

MODELS = Path(__file__).resolve().parent.parent / "models"
INSTANCES = [
    *(("cluster", {"N": n}, 'S=? [ "premium" ]') for n in (64, 128, 256, 320)),
    *(("tandem", {"c": c}, 'R{"customers"}=? [ S ]') for c in (255, 511, 1023)),
    *(("kanban", {"t": t}, 'R{"throughput"}=? [ S ]') for t in (4, 5)),
    *(("fms", {"n": n}, 'R{"productivity"}=? [ S ]') for n in (5, 6, 7)),
    *(("polling", {"N": n}, 'S=? [ "waiting1" ]') for n in (15, 16, 17)),
]
SMALL = [
    ("cluster", {"N": 2}, 'S=? [ "premium" ]'),
    ("kanban", {"t": 1}, 'R{"throughput"}=? [ S ]'),
]
COLUMNS = [
    ("model", -14),
    ("states", 10),
    ("transitions", 11),
    ("lower", 17),
    ("upper", 17),
    ("width", 6),
    ("sweeps", 8),
    ("build s", 8),
    ("check s", 9),
    ("MB", 6),
]
STORM = [("default s", 10), ("plain s", 10), ("plain off by", 12)]


def cells(question: Question, runs: Runs) -> list[str]:
    """A row of the table."""
    ours = runs["galton"]
    if failed(ours):
        row = [question.id, *[""] * 6, "", told(ours), ""]
    else:
        row = [question.id, f"{ours['states']:,}", f"{ours['transitions']:,}"]
        row += [f"{float(ours['lower']):.11g}", f"{float(ours['upper']):.11g}", f"{width(ours):.0e}"]
        row += [f"{ours['iterations']:,}", f"{ours['build_s']:.2f}", f"{ours['check_s']:.2f}", f"{ours['mb']:.0f}"]
    if len(runs) > 1:
        row += [told(runs[tool]) for tool in TOOLS[1:]]
        row.append("" if failed(ours) or failed(runs["storm-plain"]) else off(ours, runs["storm-plain"]["value"]))
    return row


def told(run: dict[str, Any]) -> str:
    """The time of a whole run."""
    return f">{run['s']:g}" if "timeout" in run else "error" if "error" in run else f"{run['s']:.2f}"


def off(ours: dict[str, Any], value: float) -> str:
    """How far a value is, at least, from the truth that the bounds hold."""
    low, high = float(ours["lower"]), float(ours["upper"])
    distance = max(low - value, value - high, 0.0)
    return f"{distance / max(abs(low), abs(high)):.0e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models by name, separated by commas")
    parser.add_argument("--quick", action="store_true", help="two tiny models, to see that all of this works")
    parser.add_argument("--storm", action="store_true", help="Storm beside, as it is by default and plain")
    parser.add_argument("--repeat", type=int, default=1, help="the fastest counts")
    parser.add_argument("--threads", type=int, help="of Galton; all cores if not given")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a process")
    parser.add_argument("--markdown", action="store_true", help="the table as docs/benchmarks.md has it")
    parser.add_argument("--json", type=Path, help="write all that was measured")
    given = parser.parse_args()
    only = set(filter(None, given.only.split(",")))
    asked = [
        Question(
            f"{name} {','.join(f'{k}={v}' for k, v in constants.items())}",
            str(MODELS / f"{name}.prism"),
            constants,
            text,
        )
        for name, constants, text in (SMALL if given.quick else INSTANCES)
        if not only or name in only
    ]
    if not asked:
        raise SystemExit(f"no such model; there are {', '.join(sorted({name for name, *_ in INSTANCES}))}")
    columns = COLUMNS + STORM * given.storm
    print(f"{machine()}; Galton: {given.threads or 'all'} threads; Storm: one", end="\n\n")
    show([title for title, _ in columns], columns, given.markdown)
    if given.markdown:
        show(["---" if w < 0 else "---:" for _, w in columns], columns, True)
    records = []
    loud: list[str] = []
    for question in asked:
        tools = TOOLS if given.storm else TOOLS[:1]
        runs = fastest(tools, question, given.repeat, threads=given.threads, timeout=given.timeout)
        records.append({"id": question.id, **runs})
        loud += disagreements(question, runs)
        loud += [f"{tool} on {question.id}: {run['error']}" for tool, run in runs.items() if "error" in run]
        show(cells(question, runs), columns, given.markdown)
        if given.json:
            given.json.write_text(json.dumps(records, indent=1))
    print("", *loud, sep="\n")
    if any(text.startswith("DISAGREE") for text in loud):
        raise SystemExit(1)


def show(row: list[str], columns: list[tuple[str, int]], markdown: bool) -> None:
    """A line of the table."""
    if markdown:
        print(f"| {' | '.join(row)} |", flush=True)
    else:
        print(*(f"{c:<{-w}}" if w < 0 else f"{c:>{w}}" for c, (_, w) in zip(row, columns, strict=True)), flush=True)


if __name__ == "__main__":
    main()
