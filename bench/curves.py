"""Curves over a bound: a thousand points beside the last of them alone.

    python bench/curves.py [--only cluster,herman] [--points 1000] [--repeat 3] [--alone]

For each question the best seconds of ``galton check`` for the last point, and for all points, from the file to the
table; what is imported is imported before. With ``--alone`` also the seconds of all points one by one, as questions of
their own to a model that is built once. Some points are asked alone in any case, and their bounds must overlap those of
the curve, else the program ends with an error.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from typer.main import get_command

import galton
from galton.cli import app

MODELS = Path(__file__).resolve().parent.parent / "models"
COMMAND = get_command(app)
COLUMNS = ("model", "constants", "property", "last", "states", "last s", "curve s", "ratio", "alone s")
LINE = "{:10}  {:16}  {:44} {:>8} {:>9} {:>8} {:>8} {:>6} {:>8}"
LOOKED_AT = 7  # points that are compared


class Question(NamedTuple):
    """A property of a model of the gallery, with a bound T that goes up to ``last``."""

    model: str
    constants: dict[str, Any]
    text: str
    last: float


SIGNALLING = {"least": 25, "most": 35, "usual": 30, "steep": 4, "signal": 15, "helped": True}
QUESTIONS = (
    Question("cluster", {"N": 16}, 'const double T; P=? [ F<=T !"minimum" ]', 1),
    Question("cluster", {"N": 16}, 'const double T; R{"time_not_min"}=? [ C<=T ]', 100),
    Question("cluster", {"N": 64}, 'const double T; P=? [ F<=T !"minimum" ]', 100),
    Question("cluster", {"N": 64}, 'const double T; R{"percent_op"}=? [ I=T ]', 50),
    Question("cluster", {"N": 64}, 'const double T; R{"time_not_min"}=? [ C<=T ]', 200),
    Question("polling", {"N": 12}, 'const double T; P=? [ G<=T !"served1" ]', 5),
    Question("tandem", {"c": 255}, 'const double T; R{"customers"}=? [ I=T ]', 10),
    Question("signalling", SIGNALLING, 'const double T; R{"output"}=? [ I=T ]', 2),
    Question("herman", {"N": 11}, 'const int T; P=? [ F<=T "stable" ]', 1000),
    Question("brp", {"N": 1024, "MAX": 5}, 'const int T; P=? [ F<=T "success" ]', 10000),
    Question("consensus", {"N": 4, "K": 4}, 'const int T; Pmax=? [ F<=T "finished" ]', 1000),
    Question("csma", {"N": 3, "K": 4}, 'const int T; Pmin=? [ F<=T "all_delivered" ]', 1000),
)


def run(question: Question, values: str, repeat: int) -> tuple[list[dict[str, Any]], float]:
    """The answers of ``galton check``, and the best time of a table; files and answers are the same for both."""
    given = [*(f"{name}={str(value).lower()}" for name, value in question.constants.items()), f"T={values}"]
    arguments = ["check", str(MODELS / f"{question.model}.prism"), "--prop", question.text, "--const", ",".join(given)]
    best, said = float("inf"), ""
    for count in range(repeat + 1):
        told = io.StringIO()
        start = time.perf_counter()
        with contextlib.redirect_stdout(told):
            COMMAND.main([*arguments, *(() if count else ("--json",))], "galton", standalone_mode=False)
        if count:
            best = min(best, time.perf_counter() - start)
        else:
            said = told.getvalue()
    return [json.loads(line) for line in said.splitlines()], best


def alone(question: Question, values: list[float]) -> float:
    """The seconds of all points as questions of their own."""
    model = galton.load(MODELS / f"{question.model}.prism", **question.constants).build()
    start = time.perf_counter()
    for value in values:
        galton.check(model, question.text, T=value)
    return time.perf_counter() - start


def row(question: Question, options: argparse.Namespace) -> bool:
    """Print one line; whether the bounds of points overlap those that they have alone."""
    step = question.last / options.points
    text = f"0:{step:g}:{question.last:g}" if "double" in question.text else f"0:{max(1, int(step))}:{question.last:g}"
    last, last_s = run(question, f"{question.last:g}", options.repeat)
    curve, curve_s = run(question, text, options.repeat)
    values = [answer["constants"]["T"] for answer in curve]
    alone_s = f"{alone(question, values):.2f}" if options.alone else ""
    given = ",".join(f"{name}={value}" for name, value in question.constants.items())[:16]
    cells = (f"{last_s:.3f}", f"{curve_s:.3f}", f"{curve_s / last_s:.2f}", alone_s)
    asked = question.text.split("; ", 1)[1]
    print(LINE.format(question.model, given, asked, question.last, f"{last[0]['states']:,}", *cells), flush=True)
    looked_at = range(0, len(curve), max(1, len(curve) // LOOKED_AT))
    single = [(curve[i], run(question, repr(values[i]), 0)[0][0]) for i in looked_at]
    pairs = [(curve[-1], last[0]), *single]
    return all(max(a["lower"], b["lower"]) <= min(a["upper"], b["upper"]) for a, b in pairs)


def main() -> int:
    """Run all that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of models, with commas between")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="ask all points one by one as well")
    options = parser.parse_args()
    print(LINE.format(*COLUMNS))
    names = options.only.split(",") if options.only else None
    agree = [row(question, options) for question in QUESTIONS if names is None or question.model in names]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
