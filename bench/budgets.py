"""Budgets, quantiles and conditions, beside Storm in the same run.

    python bench/budgets.py [--only csma,wlan] [--repeat 3] [--threads 1] [--timeout 120]

From the file to the answer, each measurement in a process of its own (``measure.py`` says what is in the time). Both
tools work to a precision of 1e-6, Storm by its default, which is sound where it can be. What is asked is written as
Storm writes it, and Storm's value must lie in Galton's bounds, up to that precision.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

from measure import PRECISION, Question, failed, fastest

MODELS = Path(__file__).resolve().parent.parent / "models"
LINE = "{:10} {:20} {:>9}  {:74} {:>8} {:>8} {:>7}  {}"
COLUMNS = ("model", "constants", "states", "property", "galton s", "storm s", "ratio", "value")
CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    # One budget: many steps are free, and levels have cycles in consensus only by steps that are not.
    ("csma", {"N": 2, "K": 6}, 'Pmin=? [ F^{rew{"time"}<=400} "all_delivered" ]'),
    ("csma", {"N": 3, "K": 4}, 'Pmin=? [ F^{rew{"time"}<=300} "all_delivered" ]'),
    ("wlan", {"MAX_BACKOFF": 4, "COL": 0}, 'Pmax=? [ F^{rew{"time"}<=10000} "both_sent" ]'),
    ("consensus", {"N": 4, "K": 4}, 'Pmax=? [ F^{rew{"steps"}<=1000} "finished" ]'),
    # A dear step, so that many levels are kept.
    ("wlan", {"MAX_BACKOFF": 2, "COL": 0}, 'Pmin=? [ F^{rew{"cost"}<=100000} "both_sent" ]'),
    # Several.
    ("csma", {"N": 2, "K": 4}, 'Pmax=? [ F^{rew{"time"}<=100, rew{"collisions"}<=3} "all_delivered" ]'),
    ("csma", {"N": 2, "K": 4}, 'Pmax=? [ F^{rew{"time"}<=100, rew{"collisions"}>=2} "all_delivered" ]'),
    # Rewards.
    ("csma", {"N": 3, "K": 2}, 'R{"collisions"}max=? [ C^{rew{"time"}<=200} ]'),
    ("wlan", {"MAX_BACKOFF": 3, "COL": 0}, 'R{"collisions"}max=? [ C^{rew{"time"}<=5000} ]'),
    # Quantiles.
    ("csma", {"N": 2, "K": 6}, 'quantile(min b, Pmin>=0.99 [ F^{rew{"time"}<=b} "all_delivered" ])'),
    ("wlan", {"MAX_BACKOFF": 3, "COL": 0}, 'quantile(min b, Pmin>=0.9 [ F^{rew{"time"}<=b} "both_sent" ])'),
    # Conditions.
    ("consensus", {"N": 4, "K": 4}, 'Pmax=? [ F "finished" & !"agree" || F "finished" & !"all_heads" ]'),
    ("csma", {"N": 3, "K": 4}, 'Pmax=? [ F "early_success" || F "collision_max_backoff" ]'),
    ("brp", {"N": 1024, "MAX": 5}, 'P=? [ F "unsure" || F "gave_up" ]'),
)


def row(model: str, constants: dict[str, Any], text: str, options: argparse.Namespace) -> bool:
    """Print one line; whether the tools agree."""
    question = Question(text, str(MODELS / f"{model}.prism"), constants, text)
    tools = ("galton", "storm-default")
    runs = fastest(tools, question, options.repeat, threads=options.threads, timeout=options.timeout)
    ours, theirs = (runs[tool] for tool in tools)
    shown = [run.get("error", "timeout")[:60] if failed(run) else f"{run['s']:.3f}" for run in (ours, theirs)]
    both = not failed(ours) and not failed(theirs)
    ratio = f"{theirs['s'] / ours['s']:.1f}" if both else ""
    given = ",".join(f"{name}={value}" for name, value in constants.items())
    print(LINE.format(model, given, f"{ours.get('states', 0):,}", text, *shown, ratio, ours.get("value")), flush=True)
    if not both:
        return not failed(ours)
    value = float(theirs["value"])
    low, high = float(ours["lower"]), float(ours["upper"])
    room = 2 * PRECISION * max(abs(value), 1.0)
    agree = (math.isinf(value) and math.isinf(high)) or low - room <= value <= high + room
    if not agree:
        print(f"    Storm says {value!r}, and the bounds are {low!r} and {high!r}")
    return agree


def main() -> int:
    """Run all that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of models, with commas between")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    print(LINE.format(*COLUMNS))
    names = options.only.split(",") if options.only else None
    agree = [row(*case, options) for case in CASES if names is None or case[0] in names]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
