"""One measurement in a process of its own, so that none sees the caches or the memory of another.

``measured("galton.bench.sweeps:run", limit, …)`` calls that function with these arguments in a new process; it returns
a dictionary, to which the peak of the memory of its process is added.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import cache
from typing import Any

__all__ = ["measured"]


def measured(function: str, limit: float, repeat: int = 1, **arguments: Any) -> dict[str, Any]:
    """What a function gives in a new process, the fastest by its ``seconds`` of so many; ``error`` where it fails.

    What was measured before with the same arguments is not measured again.
    """
    return dict(_measured(function, limit, repeat, json.dumps(arguments, sort_keys=True)))


@cache
def _measured(function: str, limit: float, repeat: int, arguments: str) -> dict[str, Any]:
    best: dict[str, Any] = {}
    for _ in range(repeat):
        found = _once(function, limit, arguments)
        if "error" in found:
            return found
        if not best or found.get("seconds", 0.0) < best["seconds"]:
            best = found
    return best


def _once(function: str, limit: float, arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", __name__, function, arguments]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {limit:g} s"}
    process = time.perf_counter() - start
    try:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"error": (done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"])[-1]}
    return {**found, "process_s": process}


def main() -> None:
    import resource
    from importlib import import_module

    from ..lang.source import GaltonError

    module, _, name = sys.argv[1].partition(":")
    try:
        found = getattr(import_module(module), name)(**json.loads(sys.argv[2]))
    except GaltonError as error:
        found = {"error": str(error).splitlines()[0]}
    found["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main()
