"""``galton check --device mpi`` with real ranks and real PETSc."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from jobs import needs_mpi, ranks_of, run, start

pytestmark = needs_mpi

BRP = ("-m", "galton", "check", "models/brp.prism", "-c", "N=16,MAX=2", "-p", 'P=? [ F "gave_up" ]', "--device", "mpi")
LARGE = ("-m", "galton", "check", "models/herman.prism", "-c", "N=21", "--no-symmetry", "--device", "mpi")


def bounds(done: subprocess.CompletedProcess[str]) -> tuple[float, float]:
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("{")]
    found = json.loads(line)
    return found["lower"], found["upper"]


@pytest.mark.parametrize("ranks", [2, 3])
def test_campaign(ranks: int) -> None:
    """Gallery and random programs: the same counts, and bounds that overlap."""
    asked = ("--gallery", "--most", "600", "--random", "4", "--seed", str(ranks), "--seconds", "40")
    done = run(ranks, "tests/mpi/campaign.py", *asked, seconds=180)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"([\d,]+) same", done.stdout)[1].replace(",", "")) >= 20  # type: ignore[index]


def test_first_rank_talks() -> None:
    done = run(2, *BRP, "--json", "--explain")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    found = json.loads(line)
    assert found["states"] == 549
    assert found["lower"] <= 4.2333344377342e-4 <= found["upper"]
    assert "2 ranks" in found["placement"]
    assert any("PETSc" in step["detail"] for step in found["plan"])


FAINT = """ctmc
module stages  s : [0..3] init 0;  [] s<3 -> 1e-150 : (s'=s+1);  endmodule
rewards true : s; endrewards
"""


def test_faint_numbers_are_lost_inside_the_bounds(tmp_path: Path) -> None:
    """Two jumps of rate 1e-150 within 1 have probability 5e-301: a product that is lost on the way to it must count."""
    model = tmp_path / "faint.prism"
    model.write_text(FAINT)
    for prop, value in (("P=? [ F<=1 s=2 ]", 5e-301), ("P=? [ F<=1 s=1 ]", 1e-150), ("R=? [ C<=1 ]", 5e-151)):
        done = run(2, "-m", "galton", "check", str(model), "-p", prop, "--device", "mpi", "--json")
        if done.returncode:
            assert "more than asked for" in done.stdout + done.stderr, "bounds as wide as that are said to be so"
        else:
            lower, upper = bounds(done)
            assert lower <= value <= upper, prop


def test_options_of_petsc_pass_through() -> None:
    asked = ("-m", "galton", "check", "models/cluster.prism", "-c", "N=4", "-p", 'S=? [ "premium" ]', "--device", "mpi")
    done = run(2, *asked, "--petsc-options", "-ksp_type gmres -pc_type asm -ksp_view")
    assert "type: gmres" in done.stdout
    assert "type: asm" in done.stdout


def test_go_on_with_another_number_of_ranks(tmp_path: Path) -> None:
    first = run(2, *BRP, "--json", "--checkpoint", str(tmp_path))
    low, high = bounds(first)
    for ranks in (1, 3):
        again = run(ranks, *BRP, "--json", "--resume", str(tmp_path))
        lower, upper = bounds(again)
        assert lower <= high
        assert low <= upper
    other = run(2, *(word.replace("MAX=2", "MAX=3") for word in BRP), "--resume", str(tmp_path))
    assert other.returncode == 2
    assert "was made for another model" in other.stderr
    next(tmp_path.glob("*/*-00001.bin")).write_bytes(b"")
    cut = run(2, *BRP, "--resume", str(tmp_path))
    assert cut.returncode == 2
    assert "cut short" in cut.stderr


LTL = ("models/consensus.prism", "-c", "N=2,K=2", "-p", "Pmax=? [ (F G (coin1=1)) & (G F coin2=0) ]")


def test_automaton_is_explored_and_kept_by_ranks(tmp_path: Path) -> None:
    """The product with an automaton is no other model for ranks: also where it is read again by more of them."""
    asked = ("-m", "galton", "check", *LTL, "--json")
    found = [
        bounds(run(2, *asked, "--device", "mpi", "--checkpoint", str(tmp_path))),
        bounds(run(3, *asked, "--device", "mpi", "--resume", str(tmp_path))),
        bounds(run(1, *asked, "--device", "cpu")),
    ]
    assert max(lower for lower, _ in found) <= min(upper for _, upper in found)
    assert found[0] == pytest.approx((0.1069444, 0.1069444), rel=1e-6)


def wait_for_ranks(job: subprocess.Popen[str], ranks: int) -> None:
    end = time.monotonic() + 30
    while len(ranks_of(job)) < ranks and time.monotonic() < end:
        time.sleep(0.05)


def wait_for_states(job: subprocess.Popen[str], megabytes: int = 150) -> None:
    """Until ranks have found many states, or have ended."""
    end = time.monotonic() + 60
    while job.poll() is None and time.monotonic() < end:
        pages = [int(Path(f"/proc/{rank}/statm").read_text().split()[1]) for rank in ranks_of(job)]
        if pages and min(pages) * 4096 > megabytes << 20:
            return
        time.sleep(0.05)


def test_killed_rank_ends_the_job() -> None:
    job = start(2, *LARGE, "-p", 'R{"steps"}=? [ F "stable" ]')
    wait_for_ranks(job, 2)
    time.sleep(2.0)
    os.kill(ranks_of(job)[1], signal.SIGKILL)
    begin = time.monotonic()
    _, told = job.communicate(timeout=30)
    assert time.monotonic() - begin < 15
    assert job.returncode
    assert "rank 1" in told or "rank 0" in told


def test_sigterm_writes_what_there_is(tmp_path: Path) -> None:
    cluster = ("models/cluster.prism", "-c", "N=300", "-p", 'S=? [ "premium" ]')
    job = start(2, "-m", "galton", "check", *cluster, "--device", "mpi", "--checkpoint", str(tmp_path))
    wait_for_ranks(job, 2)
    wait_for_states(job)
    for rank in ranks_of(job):
        os.kill(rank, signal.SIGTERM)
    _, told = job.communicate(timeout=60)
    assert job.returncode
    manifests = list(tmp_path.glob("*/manifest.json"))
    assert manifests, told
    assert json.loads(manifests[0].read_text())["kind"] in ("states", "model")


def test_rank_that_fails_alone_is_named(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text(
        "from galton.backend.petsc.world import across_ranks\n"
        "with across_ranks() as everybody:\n"
        "    if everybody.rank == 1:\n"
        "        raise MemoryError\n"
        "    everybody.meet()\n"
    )
    begin = time.monotonic()
    done = run(3, str(script))
    assert time.monotonic() - begin < 15
    assert done.returncode
    assert len(re.findall("error: rank 1 of 3 .* ended the job: not enough memory", done.stderr)) == 1


REFUSED = [
    (["--method", "jacobi"], "--method does not go with --device mpi"),
    (["--exact"], "--device mpi does nothing beside --exact"),
    (["--strategy", "s.json"], "--strategy does not go with --device mpi"),
    (["--certificate", "c.json"], "--certificate does not go with --device mpi"),
    (["-p", 'P=? [ (G F P>0.1 [ F "gave_up" ]) & (F G "gave_up") ]'], "that are not the whole property"),
    (["-p", 'A [ (G F "gave_up") & (F G "gave_up") ]'], "are not answered across ranks"),
    (["--petsc-options", "ksp_type gmres"], "begin with the name of one"),
    (["--resume", "nowhere"], "holds nothing to go on with"),
]


@pytest.mark.parametrize(("more", "told"), REFUSED)
def test_what_is_not_there_is_refused(more: list[str], told: str) -> None:
    done = run(1, *BRP, *more)
    assert done.returncode in (1, 2)
    assert told in done.stderr, done.stdout + done.stderr


def test_other_commands_refuse() -> None:
    done = run(1, "-m", "galton", "info", "models/die.prism", "--device", "mpi")
    assert done.returncode == 2
