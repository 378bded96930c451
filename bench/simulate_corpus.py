"""Random paths beside published figures: every chain of the acceptance corpus that has a P or R with a known value.

    python bench/simulate_corpus.py [--corpus FOLDER] [--confidence 0.99] [--paths 10000] [--only brp] [--seconds 20]

Printed are the interval, the value of the corpus (of PRISM and other tools) and whether it is inside. Of many intervals
with confidence 0.99 one in a hundred may miss; the last lines say what was left out, and why.
"""

from __future__ import annotations

import argparse
import json
import signal
from collections import Counter
from pathlib import Path

from corpus import DEFAULT, question
from measure import Question

import galton


def ask(asked: Question, options: argparse.Namespace) -> galton.Estimate:
    """The estimate, within the seconds there are."""

    def too_long(*_: object) -> None:
        raise galton.GaltonError(f"longer than {options.seconds:g} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, options.seconds)
    try:
        text = f"{asked.declared} {asked.text}"
        wish = {"confidence": options.confidence, "paths": options.paths, "seed": 1, "threads": 1}
        return galton.estimate(asked.model, text, constants=asked.constants, **wish)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=DEFAULT)
    parser.add_argument("--confidence", type=float, default=0.99)
    parser.add_argument("--paths", type=int, default=10_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    inside = outside = 0
    left: Counter[str] = Counter()
    for file in sorted(options.corpus.glob("*/*/cases.json")):
        for case in json.loads(file.read_text())["cases"]:
            if options.only not in case["id"] or case["id"].startswith("mdp"):
                continue
            asked = question(file.parent, case)
            if asked.expected is None or not asked.text.lstrip().startswith(("P=?", "R")):
                left["no number that is known, or no P or R"] += 1
                continue
            try:
                found = ask(asked, options)
            except galton.GaltonError as error:
                left[str(error).splitlines()[0][-120:]] += 1
                continue
            low, high = asked.expected
            assert found.lower is not None
            assert found.upper is not None
            fits = found.lower <= high and low <= found.upper
            inside, outside = inside + fits, outside + (not fits)
            mark = "" if fits else "   OUTSIDE"
            print(
                f"{case['id']:60} [{found.lower:.6g}, {found.upper:.6g}]  {(low + high) / 2:.6g}{mark}",
                flush=True,
            )
    print(f"{inside} of {inside + outside} intervals hold the value")
    for reason, count in left.most_common():
        print(f"  {count} left out: {reason}")


if __name__ == "__main__":
    main()
