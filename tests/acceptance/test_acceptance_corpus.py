"""The acceptance script of the project, on the benchmarks that lie beside this repository."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
from prism_files import SHARED

SCRIPT = SHARED / "accept" / "accept.py"


@pytest.mark.slow
@pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are not here")
def test_counts() -> None:
    """States, choices and transitions of every instance up to 300,000 states."""
    galton = f"{shlex.quote(sys.executable)} -m galton"
    done = subprocess.run([sys.executable, SCRIPT, "--counts", "--galton", galton], capture_output=True, text=True)
    found = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", done.stdout.splitlines()[-1])
    assert found, done.stdout + done.stderr
    assert (done.returncode, int(found[2])) == (0, 0), done.stdout
    assert int(found[1]) >= 120
