"""Two versions of Galton beside each other, in the same run.

    python bench/versions.py OTHER/.venv/bin/python [--what check] [--only consensus,wlan] [--repeat 3] [--json FILE]

The other version is the one that another interpreter imports. Both take turns, each time in a process of their own; a
ratio over 1 says that this version is slower. ``--what`` chooses the work:

check
    From the file to the answer: the cases of ``check.py``, which need the corpus.
explore
    Building models: the cases of ``explore.py``, on one thread.
synth
    The problems of ``galton bench synth``, on the CPU unless ``--device`` says otherwise.
cuda
    From the file to the answer on a device: the instances of ``gpu.py``. Kernels are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import corpus
import explore
from check import CASES, machine
from documents import INSTANCES, Instance
from measure import Question, failed, measure

from galton.bench.synth_cases import CASES as PROBLEMS

ROOT = Path(__file__).resolve().parent.parent

Run = dict[str, Any]  # seconds as "s"; "error" where there is no answer


class Work(NamedTuple):
    """Something that the Galton of an interpreter does."""

    name: str
    run: Callable[[str], Run]


def checks(given: argparse.Namespace) -> Iterator[Work]:
    """The cases of ``check.py``."""

    def work(question: Question) -> Work:
        return Work(question.id, lambda python: measure("galton", question, timeout=given.timeout, python=python))

    yield from map(work, corpus.questions(given.corpus, CASES))


def builds(given: argparse.Namespace) -> Iterator[Work]:
    """The cases of ``explore.py``."""

    def work(name: str, constants: dict[str, int]) -> Work:
        title = f"{name} {','.join(f'{key}={value}' for key, value in constants.items())}"
        return Work(title, lambda python: explore.one("galton", name, constants, 1, python))

    yield from (work(*instance) for instance in explore.INSTANCES)


def syntheses(given: argparse.Namespace) -> Iterator[Work]:
    """The problems of ``galton bench synth``."""

    def work(name: str) -> Work:
        def run(python: str) -> Run:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "figures.json"
                arguments = ["bench", "synth", "--only", name, "--models", str(ROOT / "models"), "--json", str(file)]
                done = galton(python, [*arguments, "--device", given.device], given.timeout)
                if failed(done):
                    return done
                figures = next(found for found in json.loads(file.read_text()) if found["name"] == name)
            return {"s": figures["seconds"], **figures}

        return Work(name, run)

    yield from (work(problem.name) for problem in PROBLEMS)


def questions_to_a_device(given: argparse.Namespace) -> Iterator[Work]:
    """The instances of ``gpu.py``."""

    def work(instance: Instance) -> Work:
        def run(python: str) -> Run:
            arguments = ["check", str(ROOT / "models" / f"{instance.model}.prism"), "--const", instance.constants]
            done = galton(python, [*arguments, "--prop", instance.prop, "--device", "cuda", "--json"], given.timeout)
            if failed(done):
                return done
            answer = json.loads(done["said"].splitlines()[-1])
            if "error" in answer:
                return {"s": 0.0, "error": answer["error"]["message"]}
            seconds = answer["total_s"] - answer.get("build", {}).get("compile_s", 0.0)
            return {"s": seconds, **{name: answer[name] for name in ("lower", "upper", "states", "iterations")}}

        return Work(f"{instance.name} {instance.prop}", run)

    yield from map(work, INSTANCES)


WORK = {"check": checks, "explore": builds, "synth": syntheses, "cuda": questions_to_a_device}


def galton(python: str, arguments: list[str], timeout: float) -> Run:
    """What the command line of a version says."""
    command = [python, "-m", "galton", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"s": timeout, "error": f"no answer in {timeout:g} s"}
    if done.returncode and not done.stdout:
        return {"s": 0.0, "error": (done.stderr.strip().splitlines() or [f"code {done.returncode}"])[-1]}
    return {"s": 0.0, "said": done.stdout}


def outcome(run: Run) -> str:
    """How a run ended, in a few words."""
    return "too late" if "timeout" in run else run.get("error", "ok")


def both(work: Work, repeat: int, other: str, clock: str, *, warm_up: bool) -> list[Run]:
    """The fastest runs of this version and of the other; who begins changes from turn to turn."""
    best: list[Run] = [{}, {}]
    for turn in range(-1 if warm_up else 0, repeat):
        for which in (0, 1) if turn % 2 else (1, 0):
            if failed(best[which]):
                continue
            run = work.run(other if which else sys.executable)
            if failed(run) or (turn >= 0 and (not best[which] or run[clock] < best[which][clock])):
                best[which] = run
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", help="the interpreter that imports the other version")
    parser.add_argument("--what", choices=list(WORK), default="check", help="what both versions do")
    parser.add_argument("--corpus", type=Path, default=corpus.DEFAULT)
    parser.add_argument("--only", default="", help="parts of names of cases, separated by semicolons")
    parser.add_argument("--repeat", type=int, default=3, help="the fastest counts")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a process")
    parser.add_argument("--device", default="cpu", help="for synth")
    parser.add_argument("--cpu", action="store_true", help="for check: compare processor time, on a busy machine")
    parser.add_argument("--json", type=Path, help="write all that was measured")
    given = parser.parse_args()
    if given.cpu and given.what != "check":
        parser.error("--cpu is for --what check")
    parts = given.only.split(";")
    clock = "cpu_s" if given.cpu else "s"
    print(f"{machine()}; {'processor' if given.cpu else 'elapsed'} time, the fastest of {given.repeat}\n")
    print(f"{'case':70} {'this':>9} {'other':>9} {'ratio':>7}")
    ratios: list[float] = []
    records = []
    for work in WORK[given.what](given):
        if not any(part in work.name for part in parts):
            continue
        this, other = both(work, given.repeat, given.other, clock, warm_up=given.what == "cuda")
        records.append({"id": work.name, "this": this, "other": other})
        if failed(this) or failed(other):
            print(f"{work.name:70} {outcome(this)} | {outcome(other)}", flush=True)
        else:
            ratios.append(this[clock] / other[clock])
            print(f"{work.name:70} {this[clock]:9.3f} {other[clock]:9.3f} {ratios[-1]:7.3f}", flush=True)
        if given.json:
            given.json.write_text(json.dumps(records, indent=1))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    print(f"\n{len(ratios)} cases: this version takes {mean:.3f} times as long in the geometric mean")


if __name__ == "__main__":
    main()
