"""What only a process of its own can show: interrupts, pipes that break, progress on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command_line import COMMAND, DIE, PATIENCE, ROOT, write
from patience import allowed

ENORMOUS = """
mdp
module counters
  x : [0..1000000000]; y : [0..1000000000]; z : [0..1000000000];
  [] x<1000000000 -> (x'=x+1);
  [] y<1000000000 -> (y'=y+1);
  [] z<1000000000 -> (z'=z+1);
endmodule
"""
AT_MOST = ["--memory", "3000"]  # should the interrupt not work
SOON = 3.0  # seconds to stop in; it takes less than one where nobody else computes

# Says on standard error that everything is loaded, so that the interrupt comes while states are explored.
LOADED = """
import sys, galton.cli, galton.backend.cpu.explorer, galton.lower.lowering
print("ready", file=sys.stderr, flush=True)
sys.argv[0] = "galton"
galton.cli.main()
"""


# The same for a synthesis, which has begun when the first boxes were looked at.
SEARCHING = """
import sys, galton.cli
from galton.synth import refinement
put = refinement._put
def told(*arguments):
    put(*arguments)
    print("ready", file=sys.stderr, flush=True)
refinement._put = told
sys.argv[0] = "galton"
galton.cli.main()
"""


def started(words: list[str], **how: Any) -> subprocess.Popen[str]:
    """A process that can be interrupted, also where these tests run in the background and would not be."""
    return subprocess.Popen(words, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **how)


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Press Ctrl-C; the exit code and what was still said."""
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert time.monotonic() - pressed < allowed(SOON)
    return process.returncode, out or "", err or ""


@pytest.mark.parametrize("command", [["info"], ["info", "--json", "-t", "1"], ["check", "--prop", "P>0 [ F x=1 ]"]])
def test_an_interrupt_stops_at_once(command: list[str], tmp_path: Path) -> None:
    words = [sys.executable, "-c", LOADED, *command, *AT_MOST, str(write(tmp_path, ENORMOUS))]
    with started(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(0.5)
        code, out, err = interrupted(process)
    assert (code, out) == (130, "")
    assert err in ("", "interrupted\n")


def read_until(terminal: int, wanted: str) -> str:
    """What appears on a terminal until it shows the wanted text."""
    shown, deadline = "", time.monotonic() + PATIENCE
    while wanted not in shown and time.monotonic() < deadline:
        if select.select([terminal], [], [], 1.0)[0]:  # a process that died says nothing any more
            shown += os.read(terminal, 4096).decode()
    return shown


def test_progress_on_a_terminal_and_an_interrupt(tmp_path: Path) -> None:
    """Standard error is a terminal, standard output a pipe: progress is seen, its line cleared in the end."""
    terminal, other_end = pty.openpty()
    words = [*COMMAND, "info", *AT_MOST, str(write(tmp_path, ENORMOUS))]
    with started(words, stdout=subprocess.PIPE, stderr=other_end, cwd=ROOT) as process:
        shown = read_until(terminal, " M states/s, ")
        # A terminal holds a few lines: somebody has to go on reading, or the process waits to say that it ends.
        with ThreadPoolExecutor(1) as reader:
            rest = reader.submit(read_while, terminal, process)
            code, out, _ = interrupted(process)
            shown += rest.result()
    os.close(other_end)
    os.close(terminal)
    assert (code, out) == (130, "")
    assert " states, " in shown
    assert " transitions, " in shown
    assert "Traceback" not in shown
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l")
    assert shown.removesuffix("interrupted\r\n").endswith("\x1b[2K")


def read_while(terminal: int, process: subprocess.Popen[str]) -> str:
    """What appears on a terminal as long as a process runs, and what is left then."""
    shown, runs = "", True
    while runs or select.select([terminal], [], [], 0.0)[0]:
        runs = process.poll() is None
        if select.select([terminal], [], [], 0.05)[0]:
            shown += os.read(terminal, 4096).decode()
    return shown


# A solver that never ends, and tells of bounds that come closer.
ENDLESS = """
import sys, time, galton.cli, galton.checking.unbounded.until

def endless(model, through, goal, optimum, settings, **options):
    for sweeps in range(1, 10**6):
        settings.tell(method="patience", sweeps=sweeps, lower=0.25 - 0.125 / sweeps, upper=0.25 + 0.125 / sweeps)
        if sweeps == 1000:
            print("ready", file=sys.stderr, flush=True)
        time.sleep(0.001)

galton.checking.unbounded.until.until = endless
sys.argv[0] = "galton"
galton.cli.main()
"""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_interrupt_leaves_the_bounds_reached_so_far(options: list[str]) -> None:
    words = [sys.executable, "-c", ENDLESS, "check", str(DIE), "--prop", "P=? [ F d=6 ]", *options]
    with started(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        code, out, err = interrupted(process)
    assert code == 130
    assert out == "" or not options
    found = re.match(r"P=\? \[ F d=6 \]  between (0\.249\d+) and (0\.250\d+) so far \(patience, [\d,]+ sweeps, ", err)
    assert found, err


def test_progress_of_a_solver_on_a_terminal() -> None:
    terminal, other_end = pty.openpty()
    words = [sys.executable, "-c", ENDLESS, "check", str(DIE), "--prop", "P=? [ F d=6 ]"]
    with started(words, stdout=subprocess.PIPE, stderr=other_end, cwd=ROOT) as process:
        shown = read_until(terminal, " sweeps, bounds 0.2")
        code, _, _ = interrupted(process)
    os.close(other_end)
    os.close(terminal)
    assert code == 130
    assert "patience, " in shown


def test_no_progress_for_quick_models() -> None:
    terminal, other_end = pty.openpty()
    done = subprocess.run([*COMMAND, "info", DIE], stdout=subprocess.PIPE, stderr=other_end, cwd=ROOT, timeout=PATIENCE)
    os.write(other_end, b"END\n")
    assert (done.returncode, os.read(terminal, 4096)) == (0, b"END\r\n")
    os.close(other_end)
    os.close(terminal)


@pytest.mark.parametrize(
    "arguments", [["info", DIE], ["info", DIE, "--json"], ["check", DIE, "--prop", "P=? [ F d=6 ]"], ["info", "--help"]]
)
def test_a_pipe_that_nobody_reads(arguments: list[str]) -> None:
    """As in ``galton info … | head -0``."""
    words = [*COMMAND, *map(str, arguments)]
    with started(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.wait(timeout=PATIENCE)
    assert said == ""
    assert process.returncode in (0, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "info", DIE], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_an_interrupted_synthesis_keeps_its_boxes(tmp_path: Path) -> None:
    kept = tmp_path / "regions.json"
    asked = ["--const", "S0=18,I0=2,R0=0", "--param", "ki=0.01:0.1", "--param", "kr=0.1:0.5", "--json", str(kept)]
    prop = ["--prop", "P>=0.5 [ ill>0 U[5,10] ill=0 ]", "--tolerance", "1e-9"]
    words = [sys.executable, "-c", SEARCHING, "synth", str(ROOT / "models" / "sir.prism"), *asked, *prop]
    with started(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for _ in range(3):
            assert process.stderr.readline() == "ready\n"
        code, out, _ = interrupted(process)
    assert code == 130
    assert "stopped before the tolerance was reached; --resume goes on" in out
    found = json.loads(kept.read_text())
    assert found["interrupted"]
    assert len(found["boxes"]) >= 16
