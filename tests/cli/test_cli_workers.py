"""``--workers``: the same output as without, whatever is asked; what does not go with it is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from command_line import COMMAND, DIE, MODELS, PATIENCE, ROOT, galton

from galton.simulation.api import estimate_question

HERMAN = MODELS / "herman.prism"
SIR = [MODELS / "sir.prism", "-c", "S0=9,I0=1,R0=0,kr=0.1", "--param", "ki=0.01:0.1"]
SYNTH = ["synth", *SIR, "-p", "P>=0.5 [ F<=20 ill=0 ]"]
STEPS = ["check", HERMAN, "-c", "N=3:2:9", "-p", 'R=? [ F "stable" ]']
WALK = """dtmc const int N; const double p; module m x : [0..5]; [] x<N -> p : (x'=x+1) + 1-p : (x'=0); endmodule"""


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    path = tmp_path / "walk.prism"
    path.write_text(WALK)
    return path


def both(*arguments: object) -> tuple[Any, Any]:
    """What a command comes to on one core, and with workers."""
    return galton(*arguments, "--threads", 1), galton(*arguments, "--workers", "processes:2")


def test_rows_are_the_same(tmp_path: Path) -> None:
    alone, shared = both(*STEPS, "-p", 'const int T; P=? [ F<=T "stable" ]', "-c", "T=1:3")
    assert (shared.code, shared.out, shared.err) == (alone.code, alone.out, alone.err)
    files = [tmp_path / "alone.csv", tmp_path / "shared.csv"]
    galton(*STEPS, "--threads", 1, "--csv", files[0])
    galton(*STEPS, "--workers", "processes:2", "--csv", files[1])
    assert files[0].read_text() == files[1].read_text()


def test_errors_and_warnings_of_rows_are_told_as_without_workers(walk: Path) -> None:
    """A probability above 1, a variable beyond its range, states that got a self-loop, a property that is refused."""
    for more in (["-c", "p=0.2:0.4:1.4,N=5"], ["-c", "p=0.5,N=4:7"], ["-c", "p=0.5,N=3:4", "-p", "S=? [ x ]"]):
        alone, shared = both("check", walk, *more, "-p", "P=? [ F x=5 ]", "-p", "P=? [ F<=9 x=3 ]")
        assert (shared.code, shared.out, shared.err) == (alone.code, alone.out, alone.err)


def test_json_is_the_same_but_for_times() -> None:
    alone, shared = ([json.loads(line) for line in one.out.splitlines()] for one in both(*STEPS, "--json"))
    assert len(alone) == 4
    for one, other in zip(alone, shared, strict=True):
        assert one.keys() == other.keys()
        same = [name for name in one if not name.endswith("_s") and name != "placement"]
        assert {name: one[name] for name in same} == {name: other[name] for name in same}


def test_estimates_paths_and_boxes_are_the_same(tmp_path: Path) -> None:
    asked = ["check", DIE, "-p", "P=? [ F d=6 ]", "-p", "P>=0.16 [ F d=6 ]", "--sim", "--json"]
    alone, shared = ([json.loads(line) for line in one.out.splitlines()] for one in both(*asked))
    assert [{**one, "check_s": 0} for one in alone] == [{**one, "check_s": 0} for one in shared]
    follow = ["simulate", DIE, "--paths", 5]
    assert galton(*follow, "--workers", "processes:2").out == galton(*follow).out
    boxes = []
    for place, how in enumerate((["--threads", 1], ["--workers", "processes:2"])):
        file = tmp_path / f"{place}.json"
        assert galton(*SYNTH, *how, "--json", file).code == 0
        boxes.append(json.loads(file.read_text())["boxes"])
    assert boxes[0] == boxes[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([*STEPS, "--workers", "process:2"], "'process:2' is none of these"),
        ([*STEPS, "--workers", "processes:2", "--device", "cuda"], "workers compute on the CPU"),
        ([*STEPS, "--workers", "processes:2", "--device", "mpi"], "workers compute on the CPU"),
        ([*SYNTH, "--workers", "processes:2", "--device", "cuda"], "workers compute on the CPU"),
        (["check", DIE, "-p", "P=? [ F d=6 ]", "--workers", "processes:2"], "here is one: give a constant"),
        (["check", DIE, "-p", "const int k; P=? [ F d=k ]", "-c", "k=1:6", "--workers", "processes"], "here is one"),
        (["simulate", DIE, "--interactive", "--workers", "processes:2"], "--workers does nothing"),
        (["simulate", DIE, "--workers", "dask:"], "where is the scheduler"),
    ],
)
def test_what_does_not_go_with_workers(arguments: list[object], told: str) -> None:
    outcome = galton(*arguments)
    assert outcome.code == 2
    assert told in outcome.err


def test_mistake_is_told_before_workers_have_work() -> None:
    outcome = galton("check", HERMAN, "-c", "N=3:2:9", "-p", 'P=? [ F "stabel" ]', "--workers", "processes:2")
    assert outcome.code == 2
    assert outcome.err.count("unknown label") == 1


class Breaks(Executor):
    """Answers one piece, and is broken from then on."""

    left = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self.left:
            raise BrokenExecutor("nobody is there")
        self.left -= 1
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def broken(_: str) -> Iterator[Executor]:
    yield Breaks()


def test_rows_of_lost_workers_are_errors() -> None:
    with patch("galton.workers.open_workers", broken):
        outcome = galton("check", HERMAN, "-c", "N=3:2:5", "-p", 'R=? [ F "stable" ]', "--workers", "processes:2")
        boxes = galton(*SYNTH, "--workers", "processes:2")
    assert outcome.code == 1
    assert "0 to 1.33333333" in outcome.out
    assert "error: lost worker" in outcome.out
    assert "takes no more work: nobody is there" in outcome.err
    assert boxes.code == 2
    assert "stopped before the tolerance was reached" in boxes.out
    assert "takes no more work: nobody is there" in boxes.err


def test_ctrl_c_keeps_rows_and_leaves_nobody_behind(tmp_path: Path) -> None:
    """A terminal sends it to all processes; those of workers take no notice."""
    file = tmp_path / "rows.csv"
    asked = ["check", str(HERMAN), "-c", "N=3:2:21", "-p", 'R=? [ F "stable" ]', "--workers", "processes:2"]
    job = subprocess.Popen(
        [*COMMAND, *asked, "--csv", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background are deaf to it
    )
    assert job.stdout is not None
    lines = [job.stdout.readline() for _ in range(3)]  # two rows are there
    os.killpg(job.pid, signal.SIGINT)
    _, err = job.communicate(timeout=PATIENCE)
    assert job.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert file.read_text().splitlines()[2].startswith("5,")
    assert "3.2" in lines[2]
    end = time.monotonic() + PATIENCE  # Python's own helpers leave a moment after us
    while any(_in_session(path, job.pid) for path in Path("/proc").glob("[0-9]*/stat")):
        assert time.monotonic() < end
        time.sleep(0.01)


def _in_session(path: Path, session: int) -> bool:
    """Whether a process is of a session, and not just a name that nobody has asked for yet."""
    try:
        state, _, _, own, *_ = path.read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return int(own) == session and state not in "ZX"


def test_interrupted_estimates_are_kept(tmp_path: Path) -> None:
    file, told = tmp_path / "rows.csv", []

    def interrupted(*arguments: Any, **named: Any) -> Any:
        told.append(arguments)
        if len(told) == 2:
            raise KeyboardInterrupt
        return estimate_question(*arguments, **named)

    with patch("galton.cli.estimates.estimate_question", interrupted):
        asked = ["check", DIE, "-p", "const int k; P=? [ F d=k ]", "-c", "k=1:6", "--sim", "--csv", file]
        assert galton(*asked, "--workers", "processes:1").code == 130
    assert len(file.read_text().splitlines()) == 2
