"""Jobs of several ranks, for tests: real mpirun, of the Python that runs the tests or of none."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MISSING = importlib.util.find_spec("mpi4py") is None or shutil.which("mpirun") is None
needs_mpi = pytest.mark.skipif(MISSING, reason="there is no mpi4py, or no mpirun; make test-mpi runs this")
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(ranks: int, *words: str) -> list[str]:
    """A job of Python on so many ranks, on however few cores."""
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), sys.executable, *words]


def environment() -> dict[str, str]:
    """As root in a container, nobody is in danger."""
    return {**os.environ, **ALLOWED, "NO_COLOR": "1"}


def run(ranks: int, *words: str, seconds: float = 120.0) -> subprocess.CompletedProcess[str]:
    """Run a job to its end."""
    return subprocess.run(
        command(ranks, *words), capture_output=True, text=True, timeout=seconds, env=environment(), cwd=ROOT
    )


def start(ranks: int, *words: str) -> subprocess.Popen[str]:
    """Start a job."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command(ranks, *words), text=True, env=environment(), cwd=ROOT, **pipes)  # type: ignore[call-overload,no-any-return]


def ranks_of(job: subprocess.Popen[str]) -> list[int]:
    """The processes of a job's ranks."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == job.pid:
            found.append(int(path.parent.name))
    return found
