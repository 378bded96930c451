"""From the shell to the end of the first kernel on a CUDA device: interpreter, imports, context, compiler.

    python bench/gpu_start.py [--repeats 5] [--json FILE]

Each run is ``galton check --device cuda`` in a process of its own, which ends with its first kernel. *Cold* has nothing
compiled before; *cached* finds the explorer on disk. *In turn* is without the thread that sets the device up while
Python imports. Medians, in seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models"
CASES = [
    ("tandem", "c=255", 'R{"customers"}=? [ S ]'),
    ("consensus", "N=6,K=4", 'Pmax=? [ F "finished" & !"agree" ]'),
    ("wlan", "MAX_BACKOFF=6,COL=0", 'R{"time"}max=? [ F "both_sent" ]'),
]
MARK = "first kernel: "
CHILD = """
import builtins, os, sys, time

def ended(run):
    def first(self, *given):
        run(self, *given)
        self.synchronize()
        os.write(1, b"\\n{mark}" + repr(time.time()).encode())
        os._exit(0)
    return first

def noting(*given, **more):  # as soon as there is what launches kernels
    module = imported(*given, **more)
    launcher = getattr(sys.modules.get("galton.backend.cuda.explorer.kernels"), "CudaKernels", None)
    if launcher is not None and hasattr(launcher, "run_together"):
        builtins.__import__ = imported
        launcher.run, launcher.run_together = ended(launcher.run), ended(launcher.run_together)
    return module

imported, builtins.__import__ = builtins.__import__, noting
if {in_turn}:
    import galton.cli.warm_up
    galton.cli.warm_up.warm_up = lambda device: None
from galton.cli import main
main()
"""


def seconds(case: tuple[str, str, str], cache: str, in_turn: bool) -> float:
    """Of one run, with what is compiled in a folder."""
    model, constants, prop = case
    child = CHILD.replace("{mark}", MARK).replace("{in_turn}", str(in_turn))
    command = [sys.executable, "-c", child, "check", str(MODELS / f"{model}.prism")]
    command += ["--const", constants, "--prop", prop, "--device", "cuda"]
    environment = {**os.environ, "GALTON_CACHE": cache, "CUPY_CACHE_DIR": cache, "CUDA_CACHE_PATH": cache}
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    _, marked, moment = done.stdout.rpartition(MARK)
    if not marked:
        raise SystemExit(f"no kernel was launched: {done.stderr.strip()}")
    return float(moment) - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    records = []
    print(f"{'':<10} {'cold':>8} {'cached':>8} {'cached, in turn':>16}")
    for case in CASES:
        cold, cached, in_turn = [], [], []
        for _ in range(given.repeats):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(seconds(case, cache, False))
                cached.append(seconds(case, cache, False))
                in_turn.append(seconds(case, cache, True))
        found = {"cold": cold, "cached": cached, "in turn": in_turn}
        records.append({"model": case[0], **found})
        medians = [statistics.median(times) for times in found.values()]
        print(f"{case[0]:<10} {medians[0]:>8.2f} {medians[1]:>8.2f} {medians[2]:>16.2f}", flush=True)
        if given.json:
            given.json.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
