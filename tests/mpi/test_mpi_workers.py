"""``--workers mpi``: independent pieces for the ranks of a job, with real mpirun."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import ROOT, environment, needs_mpi, ranks_of, run, start

pytestmark = needs_mpi

GALTON = ("-m", "galton")
MODEL = (*GALTON, "check", "models/herman.prism")
STEPS = (*MODEL, "-c", "N=3:2:9", "-p", 'R=? [ F "stable" ]')
SIR = ("models/sir.prism", "-c", "S0=9,I0=1,R0=0,kr=0.1", "--param", "ki=0.01:0.1", "-p", "P>=0.5 [ F<=20 ill=0 ]")


def alone(*words: str) -> subprocess.CompletedProcess[str]:
    """The same command without MPI."""
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment(), cwd=ROOT)


def test_experiment_is_that_of_one_core(tmp_path: Path) -> None:
    files = [tmp_path / "one.csv", tmp_path / "three.csv"]
    one = alone(*STEPS, "--threads", "1", "--csv", str(files[0]))
    three = run(3, *STEPS, "--workers", "mpi", "--csv", str(files[1]))
    assert (three.returncode, three.stderr) == (0, "")
    assert three.stdout == one.stdout
    assert files[0].read_text() == files[1].read_text()


def test_synthesis_is_that_of_one_core(tmp_path: Path) -> None:
    files = [tmp_path / "one.json", tmp_path / "three.json"]
    alone(*GALTON, "synth", *SIR, "--threads", "1", "--json", str(files[0]))
    three = run(3, *GALTON, "synth", *SIR, "--workers=mpi", "--json", str(files[1]))
    assert (three.returncode, three.stderr) == (0, "")
    one, other = (json.loads(file.read_text()) for file in files)
    assert one["boxes"] == other["boxes"]


def test_estimates_and_paths_are_those_of_one_core() -> None:
    asked = (*GALTON, "check", "models/die.prism", "-p", "P>=0.16 [ F d=6 ]", "--sim", "--json")
    one, two = (json.loads(done.stdout) for done in (alone(*asked), run(2, *asked, "--workers", "mpi")))
    assert {**one, "check_s": 0} == {**two, "check_s": 0}
    follow = (*GALTON, "simulate", "models/die.prism", "--paths", "5")
    assert run(2, *follow, "--workers", "mpi").stdout == alone(*follow).stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((*MODEL, "-c", "N=3:2:9", "-p", 'R=? [ F "stabel" ]', "--workers", "mpi"), "unknown label"),
        ((*MODEL, "--no-such-option", "--workers", "mpi"), "No such option"),
    ],
)
def test_mistakes_are_told_once_and_all_leave(words: tuple[str, ...], told: str) -> None:
    done = run(3, *words)
    assert done.returncode == 2
    assert done.stderr.count(told) == 1


def test_ranks_need_mpirun() -> None:
    assert "for a command that mpirun starts" in alone(*STEPS, "--workers", "mpi").stderr


@pytest.mark.parametrize("victim", [0, 2])
def test_killed_rank_ends_the_job_and_rows_are_kept(victim: int, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    asked = (*MODEL, "-c", "N=3:2:21", "-p", 'R=? [ F "stable" ]', "--workers", "mpi", "--csv", str(file))
    job = start(3, *asked)
    assert job.stdout is not None
    for _ in range(3):
        job.stdout.readline()  # the title and two rows
    os.kill(sorted(ranks_of(job))[victim], signal.SIGKILL)
    _, told = job.communicate(timeout=60)
    assert job.returncode
    assert "Killed" in told
    if victim:
        assert file.read_text().splitlines()[2].startswith("5,")


def test_interrupt_keeps_rows_and_ends_the_job(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    asked = (*MODEL, "-c", "N=3:2:21", "-p", 'R=? [ F "stable" ]', "--workers", "mpi", "--csv", str(file))
    job = start(2, *asked)
    assert job.stdout is not None
    for _ in range(3):
        job.stdout.readline()
    os.kill(sorted(ranks_of(job))[0], signal.SIGTERM)
    _, told = job.communicate(timeout=60)
    assert job.returncode
    assert "models are answered" in told
    assert file.read_text().splitlines()[2].startswith("5,")
