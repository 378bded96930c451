"""Curves over a bound: a thousand points beside the last of them alone.

    python bench/curves.py [--only cluster,herman] [--points 1000] [--repeat 3] [--shell] [--alone]

For each question the best seconds of ``galton check`` for the last point, and for all points, from the file to the
table; what is imported is imported before. With ``--shell`` they are seconds of the processor of a process of its own,
as people start it. With ``--alone`` also the seconds of all points one by one, as questions of
their own to a model that is built once. Some points are asked alone in any case, and their bounds must overlap those of
the curve, else the program ends with an error.
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
    Question("tandem", {"c": 31}, 'const double T; R{"customers"}=? [ C<=T ]', 10),
    Question("die", {}, "const int T; P=? [ F<=T d=6 ]", 1000),
    Question("die", {}, "const int T; R=? [ C<=T ]", 1000),
    Question("herman", {"N": 11}, 'const int T; P=? [ F<=T "stable" ]', 1000),
    Question("brp", {"N": 1024, "MAX": 5}, 'const int T; P=? [ F<=T "success" ]', 10000),
    Question("consensus", {"N": 4, "K": 4}, 'const int T; Pmax=? [ F<=T "finished" ]', 1000),
    Question("consensus", {"N": 2, "K": 2}, 'const int T; R{"steps"}min=? [ C<=T ]', 1000),
    Question("csma", {"N": 3, "K": 4}, 'const int T; Pmin=? [ F<=T "all_delivered" ]', 1000),
)


def arguments_of(question: Question, values: str) -> list[str]:
    """Of ``galton``, for some values of the bound."""
    given = [*(f"{name}={str(value).lower()}" for name, value in question.constants.items()), f"T={values}"]
    return ["check", str(MODELS / f"{question.model}.prism"), "--prop", question.text, "--const", ",".join(given)]


def run(arguments: list[str]) -> str:
    """What ``galton`` prints, within this process."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        COMMAND.main(arguments, "galton", standalone_mode=False)
    return told.getvalue()


def answers(question: Question, values: str) -> list[dict[str, Any]]:
    """For some values of the bound."""
    return [json.loads(line) for line in run([*arguments_of(question, values), "--json"]).splitlines()]


def seconds(question: Question, values: str, repeat: int, shell: bool) -> float:
    """The best time of a table."""
    arguments = arguments_of(question, values)
    return min((_in_process if shell else _here)(arguments) for _ in range(repeat))


def _here(arguments: list[str]) -> float:
    start = time.perf_counter()
    run(arguments)
    return time.perf_counter() - start


def _in_process(arguments: list[str]) -> float:
    started = subprocess.Popen([sys.executable, "-m", "galton", *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"galton {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime


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
    last, curve = answers(question, f"{question.last:g}"), answers(question, text)
    last_s = seconds(question, f"{question.last:g}", options.repeat, options.shell)
    curve_s = seconds(question, text, options.repeat, options.shell)
    values = [answer["constants"]["T"] for answer in curve]
    alone_s = f"{alone(question, values):.2f}" if options.alone else ""
    given = ",".join(f"{name}={value}" for name, value in question.constants.items())[:16]
    cells = (f"{last_s:.3f}", f"{curve_s:.3f}", f"{curve_s / last_s:.2f}", alone_s)
    asked = question.text.split("; ", 1)[1]
    print(LINE.format(question.model, given, asked, question.last, f"{last[0]['states']:,}", *cells), flush=True)
    looked_at = range(0, len(curve), max(1, len(curve) // LOOKED_AT))
    single = [(curve[i], answers(question, repr(values[i]))[0]) for i in looked_at]
    pairs = [(curve[-1], last[0]), *single]
    return all(max(a["lower"], b["lower"]) <= min(a["upper"], b["upper"]) for a, b in pairs)


def main() -> int:
    """Run all that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of models, with commas between")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--shell", action="store_true", help="seconds of the processor of a process of its own")
    parser.add_argument("--alone", action="store_true", help="ask all points one by one as well")
    options = parser.parse_args()
    print(LINE.format(*COLUMNS))
    names = options.only.split(",") if options.only else None
    agree = [row(question, options) for question in QUESTIONS if names is None or question.model in names]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
