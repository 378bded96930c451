"""Two versions of Galton beside each other, in the same run: from the file to the answer.

    python bench/versions.py OTHER/.venv/bin/python [--only consensus,wlan] [--repeat 3] [--cpu] [--json FILE]

The other version is the one that another interpreter imports. Both answer the cases of ``check.py`` in turns, each in
a process of its own; a ratio over 1 says that this version is slower.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import corpus
from check import CASES, machine
from measure import Question, failed, measure


def both(question: Question, repeat: int, other: str, clock: str, timeout: float) -> list[dict[str, Any]]:
    """The fastest runs of this version and of the other; who begins changes from turn to turn."""
    best: list[dict[str, Any]] = [{}, {}]
    for turn in range(repeat):
        for which in (0, 1) if turn % 2 else (1, 0):
            if failed(best[which]):
                continue
            how = {"python": other} if which else {}
            run = measure("galton", question, timeout=timeout, **how)
            if failed(run) or not best[which] or run[clock] < best[which][clock]:
                best[which] = run
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", help="the interpreter that imports the other version")
    parser.add_argument("--corpus", type=Path, default=corpus.DEFAULT)
    parser.add_argument("--only", default="", help="parts of names of cases, separated by commas")
    parser.add_argument("--repeat", type=int, default=3, help="the fastest counts")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a process")
    parser.add_argument("--cpu", action="store_true", help="compare processor time, for a machine that is not quiet")
    parser.add_argument("--json", type=Path, help="write all that was measured")
    given = parser.parse_args()
    parts = given.only.split(",")
    chosen = [case for case in CASES if any(part in case for part in parts)]
    clock = "cpu_s" if given.cpu else "s"
    print(f"{machine()}; {'processor' if given.cpu else 'elapsed'} time, the fastest of {given.repeat}\n")
    print(f"{'case':70} {'this':>9} {'other':>9} {'ratio':>7}")
    ratios: list[float] = []
    records = []
    for question in corpus.questions(given.corpus, chosen):
        this, other = both(question, given.repeat, given.other, clock, given.timeout)
        records.append({"id": question.id, "this": this, "other": other})
        if failed(this) or failed(other):
            print(f"{question.id:70} {this.get('error', 'ok')} | {other.get('error', 'ok')}", flush=True)
        else:
            ratios.append(this[clock] / other[clock])
            print(f"{question.id:70} {this[clock]:9.3f} {other[clock]:9.3f} {ratios[-1]:7.3f}", flush=True)
        if given.json:
            given.json.write_text(json.dumps(records, indent=1))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    print(f"\n{len(ratios)} cases: this version takes {mean:.3f} times as long in the geometric mean")


if __name__ == "__main__":
    main()
