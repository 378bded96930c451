"""How much two ranks gain over one, on models above a million states: time to explore and solve, and memory of each.

    python bench/mpi.py                      # 1 and 2 ranks, one thread each
    python bench/mpi.py --ranks 1 2 4 8 16   # where there are as many cores

Run with a Python that has mpi4py and petsc4py (``make test-mpi`` makes one: .venv-mpi/bin/python), on a machine that
does nothing else. All ranks have one thread, so that it is ranks that are compared. The aims: two ranks 1.5 times as
fast as one, each with at most 0.6 of its memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CASES = [  # each has more than a million states, without symmetries
    ("models/cluster.prism", "N=180,t=20", 'const double t; R{"percent_op"}=? [ I=t ]'),
    ("models/tandem.prism", "c=767,t=0.2", 'const double t; P=? [ F<=t "first_full" ]'),
    ("models/csma.prism", "N=3,K=4", 'R{"time"}max=? [ F "all_delivered" ]'),
    ("models/leader_async.prism", "N=7", 'R{"rounds"}max=? [ F "elected" ]'),
    ("models/polling.prism", "N=16", 'S=? [ "waiting1" ]'),
]


def run(ranks: int, model: str, constants: str, prop: str) -> dict[str, Any]:
    """One job: the seconds of the slowest rank, and the most memory of a rank besides Python and PETSc."""
    child = [
        sys.executable,
        str(ROOT / "bench" / "ranks_child.py"),
        str(ROOT / model),
        "--const",
        constants,
        "--prop",
        prop,
    ]
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *child]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **allowed})
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    told = json.loads(done.stdout.splitlines()[-1])
    return {
        "wall_s": time.perf_counter() - begin,
        "seconds": max(rank["seconds"] for rank in told),
        "bytes": max(rank["bytes"] - rank["idle_bytes"] for rank in told),
        "lower": told[0]["lower"],
        "upper": told[0]["upper"],
    }


def main() -> None:
    """Run all, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("| model | ranks | seconds | times faster | MB a rank, without libraries | part of one rank's | bounds |")
    print("|---|---|---|---|---|---|---|")
    for model, constants, prop in CASES:
        if given.only not in model:
            continue
        first: dict[str, Any] | None = None
        for ranks in given.ranks:
            found = run(ranks, model, constants, prop)
            first = first or found
            print(
                f"| {Path(model).stem} {constants} | {ranks} | {found['seconds']:.2f} | "
                f"{first['seconds'] / found['seconds']:.2f} | {found['bytes'] / 2**20:.0f} | "
                f"{found['bytes'] / first['bytes']:.2f} | [{found['lower']:.9g}, {found['upper']:.9g}] |",
                flush=True,
            )


if __name__ == "__main__":
    main()
