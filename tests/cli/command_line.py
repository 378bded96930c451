"""Galton as people start it: within this process, which is quick, or in one of its own."""

from __future__ import annotations

import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from galton.cli import main

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
DIE = MODELS / "die.prism"
COMMAND = [sys.executable, "-m", "galton"]
PATIENCE = 60.0  # seconds; nothing here takes more than a few, unless the machine is busy

# Two reward structures, one without a name; labels; a state without a way out, and one that is only left by chance.
WALK = """
mdp
const int N;
module walk
  x : [0..N] init 0;
  lost : bool;
  [left]  x>0 & x<N & !lost -> 0.9 : (x'=x-1) + 0.1 : (lost'=true);
  [right] x<N & !lost -> 1/3 : (x'=x) + 2/3 : (x'=x+1);
  [] lost -> (lost'=true);
endmodule
label "end" = x=N;
rewards "steps" [left] true : 1; [right] true : 1.5; endrewards
rewards lost : 7; x=1 : 0.1; endrewards
"""


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


def galton(*arguments: object) -> Outcome:
    """Run a command in this process, by the entry point of the real one."""
    out, err = StringIO(), StringIO()
    with (
        patch.object(sys, "argv", ["galton", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
            code: object = 0
        except SystemExit as stop:
            code = stop.code
    return Outcome(int(str(code or 0)), out.getvalue(), err.getvalue())


def run(*arguments: object, **options: Any) -> Outcome:
    """Run a command in a process of its own."""
    words = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE, **options)
    return Outcome(done.returncode, done.stdout, done.stderr)


def write(folder: Path, text: str, name: str = "model.prism") -> Path:
    """A model of a test's own."""
    path = folder / name
    path.write_text(text)
    return path
