"""Time bounds of CTMCs both ways: backward over all states, and forward from the initial one.

    python bench/timed.py [--only tandem,gfs] [--threads 2] [--repeat 2]

For each question the best seconds of solving it backward (``--method uniformisation``), forward
(``adaptive-uniformisation``) and as it is done by default, which tries forward first and may give it up; and how many
states were followed. The bounds of all three must overlap, else the program ends with an error.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import galton
from galton.solve.methods import BACKWARD, FORWARD

MODELS = Path(__file__).resolve().parent.parent / "models"
WAYS = (BACKWARD, FORWARD, None)
COLUMNS = ("model", "constants", "property", "states", "followed", "backward", "forward", "default", "faster", "by")
LINE = "{:10}  {:14}  {:40} {:>9} {:>9} {:>9} {:>8} {:>8} {:>7}  {}"


class Question(NamedTuple):
    """A property of a model of the gallery."""

    model: str
    constants: dict[str, Any]
    text: str


SIGNALLING = {"least": 25, "most": 35, "usual": 30, "steep": 4, "signal": 15, "helped": True}
QUESTIONS = (
    Question("tandem", {"c": 511}, 'R{"customers"}=? [ I=10 ]'),
    Question("tandem", {"c": 511}, 'R{"customers"}=? [ C<=100 ]'),
    Question("tandem", {"c": 255}, 'P=? [ F<=10 "second_full" ]'),
    Question("gfs", {"M": 60, "copies": 3}, 'P=? [ F[0,60] "service_level_3" ]'),
    Question("cluster", {"N": 64}, 'P=? [ F<=10 !"minimum" ]'),
    Question("cluster", {"N": 64}, 'P=? [ F<=1000 !"minimum" ]'),
    Question("cluster", {"N": 128}, 'R{"percent_op"}=? [ I=50 ]'),
    Question("polling", {"N": 12}, 'P=? [ F<=5 "served1" ]'),
    Question("kanban", {"t": 4}, 'R{"tokens_cell1"}=? [ I=5 ]'),
    Question("fms", {"n": 5}, 'R{"productivity"}=? [ C<=2 ]'),
    Question("signalling", SIGNALLING, 'R{"output"}=? [ I=2 ]'),
)


def answer(model: galton.Model, text: str, method: str | None, threads: int | None, repeat: int) -> tuple[Any, float]:
    """What is answered, and the best time; None where it is refused."""
    best, found = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        try:
            found = galton.check(model, text, settings=galton.Settings(threads=threads, method=method))
        except galton.GaltonError:
            return None, time.perf_counter() - start
        best = min(best, time.perf_counter() - start)
    return found, best


def row(question: Question, options: argparse.Namespace) -> bool:
    """Print one line; whether all bounds overlap."""
    model = galton.load(MODELS / f"{question.model}.prism", **question.constants).build(device="cpu")
    answers = [answer(model, question.text, way, options.threads, options.repeat) for way in WAYS]
    ahead, default = answers[1][0], answers[2][0]
    given = ",".join(f"{name}={value}" for name, value in question.constants.items())
    cells = [
        *("refused" if found is None else f"{took:.2f}" for found, took in answers),
        f"{answers[0][1] / answers[2][1]:.1f}",
        default.steps[-1].method,
    ]
    followed = "" if ahead is None else ahead.work[-1].detail.split()[1]
    print(LINE.format(question.model, given[:14], question.text, f"{model.n_states:,}", followed, *cells), flush=True)
    known = [found for found, _ in answers if found is not None]
    return max(found.lower for found in known) <= min(found.upper for found in known)


def main() -> int:
    """Run all that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of models, with commas between")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    print(LINE.format(*COLUMNS))
    names = options.only.split(",") if options.only else None
    agree = [row(question, options) for question in QUESTIONS if names is None or question.model in names]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
