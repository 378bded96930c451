"""Kill a rank at a random moment, many times: the job must end soon, and may never answer wrongly.

    python tests/mpi/kills.py --times 50 --ranks 3

Jobs that had answered before are not counted. Every job keeps its model; each is gone on with by another number of
ranks, which must give bounds that overlap.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jobs import ranks_of, run, start

QUESTION = [
    "-m",
    "galton",
    "check",
    "models/cluster.prism",
    "-c",
    "N=60",
    "-p",
    'S=? [ "premium" ]',
    "--device",
    "mpi",
    "--json",
]
SOON = 20.0  # seconds; a busy machine takes some to notice
Bounds = tuple[float, float]


def bounds(text: str) -> Bounds | None:
    """What a job answered, if it did."""
    for line in text.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            if "lower" in found:
                return found["lower"], found["upper"]
    return None


def overlap(one: Bounds, other: Bounds) -> bool:
    """Whether both can be right."""
    return one[0] <= other[1] and other[0] <= one[1]


def main() -> None:
    """Kill, look, go on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    begin = time.monotonic()
    run(given.ranks, "-m", "galton", "check", "models/die.prism", "-p", "P=? [ F d=6 ]", "--device", "mpi")
    started = time.monotonic() - begin
    truth = bounds(run(given.ranks, *QUESTION).stdout)
    whole = time.monotonic() - begin - started
    assert truth is not None
    folder = Path(tempfile.mkdtemp())
    killed = answered = resumed = number = 0
    slowest = 0.0
    while killed < given.times:
        number += 1
        job = start(given.ranks, *QUESTION, "--checkpoint", str(folder))
        time.sleep(draw.uniform(0.3 * started, whole))
        ranks = ranks_of(job)
        if ranks:
            os.kill(draw.choice(ranks), signal.SIGKILL)
        begin = time.monotonic()
        try:
            out, err = job.communicate(timeout=SOON)
        except subprocess.TimeoutExpired:
            job.kill()
            sys.exit(f"{number}: the job goes on {SOON:g} s after a rank was killed")
        slowest = max(slowest, time.monotonic() - begin)
        found = bounds(out)
        if found is not None:
            answered += 1
            assert overlap(found, truth), (number, found, truth)
        elif ranks:
            killed += 1
            assert job.returncode, number
            assert "rank" in err, err
        if any(folder.glob("*/manifest.json")):
            again = bounds(run(1 + number % given.ranks, *QUESTION, "--resume", str(folder)).stdout)
            assert again is not None, number
            assert overlap(again, truth), (number, again, truth)
            resumed += 1
        shutil.rmtree(folder)
        folder.mkdir()
    shutil.rmtree(folder)
    ended = f"none hung (at most {slowest:.1f} s)"
    print(f"{killed} kills: {ended}; {answered} more jobs had answered before; {resumed} were gone on with")


if __name__ == "__main__":
    main()
