"""From the file to the answer, beside Storm, in the same run.

    python bench/check.py [--only consensus,wlan] [--repeat 3] [--threads 1] [--timeout 120] [--json FILE] [--markdown]

Every measurement runs in a process of its own (``measure.py`` says what is in the time). Storm answers twice: as it
does by default, which is sound, and with the plain environment, which promises nothing. Galton's answers have proved
bounds, and are checked against Storm's and against what the corpus knows. All tools work to a precision of 1e-6.
Storm's sparse engine has one thread; Galton has one per core unless told otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import corpus
from measure import PRECISION, TOOLS, Question, failed, fastest

# From 1e4 to 1e7 states. Left out: what Storm answers without building (polling's station1_polled), and rewards at a
# time, I=t, which Storm 2.0 takes at twice the time.
CASES = [
    "dtmc/crowds/TotalRuns=6,CrowdSize=10/positive",
    "dtmc/crowds/TotalRuns=5,CrowdSize=20/positive",
    "dtmc/egl/N=5,L=8/messagesB",
    "dtmc/egl/N=5,L=8/unfairA",
    "dtmc/herman/N=15/steps",
    "dtmc/nand/N=20,K=4/reliable",
    "dtmc/nand/N=40,K=4/reliable",
    "dtmc/nand/N=60,K=2/reliable",
    "mdp/consensus/N=4,K=4/c2",
    "mdp/consensus/N=4,K=4/steps_min",
    "mdp/consensus/N=6,K=2/disagree",
    "mdp/consensus/N=6,K=2/steps_max",
    "mdp/csma/N=2,K=6/all_before_max",
    "mdp/csma/N=3,K=2/time_max",
    "mdp/csma/N=3,K=4/time_max",
    "mdp/csma/N=4,K=2/all_before_min",
    "mdp/firewire/explicit_timer=false,delay=36,deadline=400/time_max",
    "mdp/firewire/explicit_timer=true,delay=3,deadline=800/deadline",
    "mdp/firewire_dl/delay=36,deadline=800/deadline",
    "mdp/ij/num_tokens_var=20/stable",
    "mdp/pnueli-zuck/N=5/live",
    "mdp/resource-gathering/B=400,GOLD_TO_COLLECT=30,GEM_TO_COLLECT=30/expsteps",
    "mdp/resource-gathering/B=1300,GOLD_TO_COLLECT=100,GEM_TO_COLLECT=100/prgoldgem",
    "mdp/wlan/MAX_BACKOFF=4,COL=0/cost_max",
    "mdp/wlan/MAX_BACKOFF=5,COL=0/num_collisions",
    "mdp/wlan/MAX_BACKOFF=6,COL=0/time_max",
    "mdp/wlan_dl/MAX_BACKOFF=2,deadline=80/deadline",
    "mdp/wlan_dl/MAX_BACKOFF=5,deadline=80/deadline",
    "mdp/zeroconf/N=1000,K=4,reset=false/correct_max",
    "mdp/zeroconf/N=1000,K=8,reset=false/correct_min",
    "ctmc/cluster/N=16,T=2000,t=20/below_min",
    "ctmc/cluster/N=64,T=2000,t=20/premium_steady",
    "ctmc/cluster/N=64,T=2000,t=20/qos1",
    "ctmc/cluster/N=128,T=2000,t=20/qos2",
    "ctmc/fms/n=4/productivity",
    "ctmc/kanban/t=4/throughput",
    "ctmc/majority/T=2100/change_state",
    "ctmc/polling/N=13,T=16/waiting",
    "ctmc/polling/N=15,T=16/s1_before_s2",
    "ctmc/tandem/c=127,T=1000,t=0.2/customers",
    "ctmc/tandem/c=511,T=1000,t=0.2/first_queue",
]
QUICK = [
    "dtmc/crowds/TotalRuns=6,CrowdSize=5/positive",
    "mdp/csma/N=3,K=2/time_max",
    "ctmc/tandem/c=63,T=1000,t=0.2/first_queue",
]
MATTERS = 0.5  # seconds of Storm from which on a ratio counts by itself

Runs = dict[str, dict[str, Any]]


def disagreements(question: Question, runs: Runs) -> list[str]:
    """Where Galton's interval does not hold what others say, up to the precision that they claim."""
    ours = runs["galton"]
    if failed(ours):
        return []
    low, high = (float(ours[name]) for name in ("lower", "upper"))
    found = []
    if question.expected and not (low <= question.expected[1] and question.expected[0] <= high):
        found.append(f"the corpus says {question.expected}")
    theirs = runs.get("storm-default", {})
    if "value" in theirs:
        value = float(theirs["value"])
        slack = 0 if math.isinf(value) else PRECISION * abs(value) + 1e-14
        if not low - slack <= value <= high + slack:
            found.append(f"Storm says {value!r}")
    return [f"DISAGREE {question.id}: Galton says [{low!r}, {high!r}], {other}" for other in found]


def ratio(runs: Runs, tool: str, clock: str) -> float | None:
    """How many times faster Galton was; a bound where one tool ran out of time, nothing where both did.

    The limit is one of time that passes, so it says nothing about processor time.
    """
    theirs, ours = runs.get(tool, {}), runs["galton"]
    if not theirs or "error" in theirs or "error" in ours or ("timeout" in theirs and "timeout" in ours):
        return None
    return theirs[clock] / ours[clock] if clock in theirs and clock in ours else None


def width(run: dict[str, Any]) -> float:
    """The relative width of Galton's bounds."""
    low, high = float(run["lower"]), float(run["upper"])
    return 0.0 if low == high else (high - low) / max(abs(low), abs(high))


HEADER = [
    "instance",
    "property",
    "states",
    "build",
    "check",
    "total",
    "process",
    "default",
    "plain",
    "×default",
    "×plain",
    "width",
]
WIDTHS = [-41, -14, 10, 7, 7, 8, 8, 8, 8, 8, 8, 6]


def cells(question: Question, runs: Runs, clock: str) -> list[str]:
    """A row of the table."""
    _, name, instance, prop = question.id.split("/")
    ours = runs["galton"]
    row = [shortened(f"{name} {instance}", -WIDTHS[0]), prop]
    if failed(ours):
        row += ["", "", "", shown(ours, clock), ""]
    else:
        row += [f"{ours['states']:,}", f"{ours['build_s']:.3f}", f"{ours['check_s']:.3f}", shown(ours, clock)]
        row.append(f"{ours['process_s']:.3f}")
    for tool in TOOLS[1:]:
        row.append(shown(runs.get(tool, {}), clock))
    for tool in TOOLS[1:]:
        gain = ratio(runs, tool, clock)
        sign = ">=" if "timeout" in runs.get(tool, {}) else "<=" if "timeout" in ours else ""
        row.append("" if gain is None else f"{sign}{gain:.1f}")
    row.append("" if failed(ours) else f"{width(ours):.0e}")
    return row


def shortened(text: str, length: int) -> str:
    """A title that fits."""
    return text if len(text) <= length else text[: length - 1] + "…"


def shown(run: dict[str, Any], clock: str) -> str:
    """A time."""
    if "timeout" in run:
        return f">{run['s']:g}"
    return "error" if "error" in run else "" if not run else f"{run[clock]:.3f}"


def line(row: list[str], markdown: bool) -> str:
    if markdown:
        return f"| {' | '.join(row)} |"
    return " ".join(f"{cell:<{-w}}" if w < 0 else f"{cell:>{w}}" for cell, w in zip(row, WIDTHS, strict=True))


def summary(rows: list[Runs], clock: str) -> list[str]:
    """The figures that matter."""
    found = [f"{len(rows)} instances"]
    for tool in TOOLS[1:]:
        gains = [(gain, runs) for runs in rows if (gain := ratio(runs, tool, clock)) is not None]
        if not gains:
            continue
        mean = math.exp(sum(math.log(gain) for gain, _ in gains) / len(gains))
        worst = [gain for gain, runs in gains if runs[tool][clock] > MATTERS]
        text = f"{tool}: Galton is {mean:.1f} times faster in the geometric mean of {len(gains)}"
        found.append(f"{text}, at least {min(worst):.2f} where Storm needs more than {MATTERS} s" if worst else text)
    lost = sum(failed(runs["galton"]) for runs in rows)
    return [*found, f"Galton gave no answer to {lost} of them"] if lost else found


def machine() -> str:
    """Where this ran."""
    names = [row.split(":")[1].strip() for row in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in row]
    cores = f"{len(os.sched_getaffinity(0))} cores of {names[0] if names else 'an unnamed processor'}"
    return f"{cores}, load {os.getloadavg()[0]:.1f}"


def options(description: str | None) -> argparse.ArgumentParser:
    """What can be chosen in any comparison with Storm."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of names of cases, separated by commas")
    parser.add_argument("--quick", action="store_true", help="a few small cases, to see that all of this works")
    parser.add_argument("--repeat", type=int, default=1, help="the fastest counts")
    parser.add_argument("--threads", type=int, help="of Galton; all cores if not given")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a process; longer counts as that long")
    parser.add_argument("--no-storm", action="store_true", help="Galton alone")
    parser.add_argument("--cpu", action="store_true", help="compare processor time, for a machine that is not quiet")
    parser.add_argument("--markdown", action="store_true", help="the table as docs/benchmarks.md has it")
    parser.add_argument("--json", type=Path, help="write all that was measured")
    return parser


def chosen(names: Sequence[str], only: str) -> list[str]:
    """The cases with one of these parts in their names; all without any."""
    wanted = [part for part in only.split(",") if part]
    found = [name for name in names if not wanted or any(part in name for part in wanted)]
    if not found:
        raise SystemExit(f"no case has {only} in its name; there are {', '.join(names)}")
    return found


def compare(questions: Sequence[Question], given: argparse.Namespace) -> None:
    """Ask all tools, print the table, and end with an error where they disagree."""
    clock = "cpu_s" if given.cpu else "s"
    tools = TOOLS[:1] if given.no_storm else TOOLS
    print(f"{machine()}; Galton: {given.threads or 'all'} threads; Storm: one", end="\n\n")
    print(line(HEADER, given.markdown))
    if given.markdown:
        print(line(["---" if w < 0 else "---:" for w in WIDTHS], True))
    rows: list[Runs] = []
    loud: list[str] = []
    for question in questions:
        runs = fastest(tools, question, given.repeat, threads=given.threads, timeout=given.timeout)
        rows.append(runs)
        loud += disagreements(question, runs)
        loud += [f"{tool} on {question.id}: {run['error']}" for tool, run in runs.items() if "error" in run]
        print(line(cells(question, runs, clock), given.markdown), flush=True)
        if given.json:
            records = [{"id": q.id, **r} for q, r in zip(questions, rows, strict=False)]
            given.json.write_text(json.dumps(records, indent=1))
    print("", *summary(rows, clock), *loud, sep="\n")
    if any(text.startswith("DISAGREE") for text in loud):
        raise SystemExit(1)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--corpus", type=Path, default=corpus.DEFAULT)
    given = parser.parse_args()
    cases = chosen(QUICK if given.quick else CASES, given.only)
    compare(corpus.questions(given.corpus, cases), given)


if __name__ == "__main__":
    main()
