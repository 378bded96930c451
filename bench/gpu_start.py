"""From the shell to the answer on a CUDA device: a first question ever, a new model, and a known one.

    python bench/gpu_start.py [--repeats 5] [--json FILE]

Each run is ``galton check --device cuda`` in a process of its own. *Ever* finds nothing compiled; *new model* finds
what other models have left (a warm-up and one question about another model); *known model* has been asked about before.
*Empty* is an interpreter that imports CuPy and fills an array: nobody who uses CuPy is faster. Medians, in seconds.
Python may keep its bytecode, as it does for people.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models"
OTHER = ("die", "", "P=? [ F d=6 ]")
CASES = [
    ("consensus", "N=6,K=4", 'Pmax=? [ F "finished" & !"agree" ]'),
    ("cluster", "N=64", 'P=? [ F<=10 !"minimum" ]'),
    ("tandem", "c=255", 'R{"customers"}=? [ S ]'),
    ("wlan", "MAX_BACKOFF=4,COL=0", 'R{"time"}max=? [ F "both_sent" ]'),
    ("herman", "N=13", 'filter(max, R{"steps"}=? [ F "stable" ], "init")'),
]
EMPTY = "import cupy, os; cupy.empty(3).fill(1); cupy.cuda.get_current_stream().synchronize(); os._exit(0)"


def seconds(command: list[str], cache: str) -> float:
    """Of one run, with what is compiled in a folder."""
    environment = {**os.environ, "GALTON_CACHE": cache, "CUPY_CACHE_DIR": cache, "CUDA_CACHE_PATH": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    taken = time.perf_counter() - start
    if done.returncode or "instead" in done.stderr:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return taken


def galton(*arguments: str) -> list[str]:
    """A command."""
    return [sys.executable, "-m", "galton", *arguments]


def question(case: tuple[str, str, str]) -> list[str]:
    """Of a model."""
    model, constants, prop = case
    given = ["--const", constants] if constants else []
    return galton("check", str(MODELS / f"{model}.prism"), *given, "--prop", prop, "--device", "cuda")


def measured(case: tuple[str, str, str], warm: str, repeats: int) -> dict[str, list[float]]:
    """All runs of a question."""
    found: dict[str, list[float]] = {"ever": [], "new model": [], "known model": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            found["ever"].append(seconds(question(case), cache))
        with tempfile.TemporaryDirectory() as cache:
            shutil.copytree(warm, cache, dirs_exist_ok=True)
            found["new model"].append(seconds(question(case), cache))
            found["known model"].append(seconds(question(case), cache))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", help="names of models, separated by commas")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    cases = [case for case in CASES if not given.only or case[0] in given.only.split(",")]
    with tempfile.TemporaryDirectory() as warm:
        print(f"warm-up: {seconds(galton('warm-up'), warm):.2f}")
        seconds(question(OTHER), warm)
        empty = [seconds([sys.executable, "-c", EMPTY], warm) for _ in range(given.repeats)]
        print(f"empty: {statistics.median(empty):.2f}")
        records: list[dict[str, object]] = [{"model": "empty", "runs": empty}]
        print(f"{'':<10} {'ever':>8} {'new model':>10} {'known model':>12}")
        for case in cases:
            found = measured(case, warm, given.repeats)
            records.append({"model": case[0], **found})
            ever, new, known = (statistics.median(times) for times in found.values())
            print(f"{case[0]:<10} {ever:>8.2f} {new:>10.2f} {known:>12.2f}", flush=True)
            if given.json:
                given.json.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
