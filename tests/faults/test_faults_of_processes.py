"""Signals, full disks, closed outputs, little memory: what was found is not lost, and a message says what is wrong."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from patience import allowed

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
COMMAND = [sys.executable, "-m", "galton"]
PATIENCE = 60.0
SIR = ["synth", str(MODELS / "sir.prism"), "-c", "S0=18,I0=2,R0=0", "--param", "ki=0.01:0.1", "--param", "kr=0.1:0.5"]
ASKED = [*SIR, "-p", "P>=0.5 [ ill>0 U[5,10] ill=0 ]"]

# Says on standard error how far it is: a function is replaced by one that tells of its calls.
TELLING = """
import sys, galton.cli, {module} as module
before = module.{name}
def told(*arguments, **options):
    print("ready", file=sys.stderr, flush=True)
    return before(*arguments, **options)
module.{name} = told
sys.argv[0] = "galton"
galton.cli.main()
"""


def modules(count: int) -> str:
    """So many synchronised modules of two branches each."""
    first = "dtmc module m1 x1 : bool; [a] true -> 0.5 : (x1'=false) + 0.5 : (x1'=true); endmodule\n"
    return first + "\n".join(f"module m{k}=m1 [x1=x{k}] endmodule" for k in range(2, count + 1))


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE, **options)


def stopped(words: list[str], number: int, calls: int, module: str, name: str) -> tuple[int, str, str, float]:
    """Send a signal when a function was called so many times; code, outputs, and the seconds that it took to end."""
    text = TELLING.format(module=module, name=name)
    with subprocess.Popen(
        [sys.executable, "-c", text, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr is not None
        for _ in range(calls):
            assert process.stderr.readline() == "ready\n"
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err, time.monotonic() - sent


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_sigterm_once_lost_a_synthesis(number: int, code: int, tmp_path: Path) -> None:
    kept = tmp_path / "regions.json"
    words = [*ASKED, "--tolerance", "1e-9", "--json", str(kept)]
    found, out, _, _ = stopped(words, number, 3, "galton.synth.refinement", "_put")
    assert found == code
    assert "--resume goes on" in out
    assert json.loads(kept.read_text())["interrupted"]
    assert os.listdir(tmp_path) == ["regions.json"]
    again = run(*ASKED, "--tolerance", "0.5", "--resume", kept)
    assert again.returncode == 0, again.stderr


def test_an_experiment_that_is_terminated_keeps_its_rows(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    words = ["check", str(MODELS / "die.prism"), "-p", "const int k; P=? [ F[k,k+9] d=6 ]", "-c", "k=0:4000"]
    code, out, _, _ = stopped([*words, "--csv", str(table)], signal.SIGTERM, 3, "galton.checking.answering", "check")
    assert code == 143
    rows = table.read_text().splitlines()
    assert len(rows) > 2
    assert len(out.splitlines()) == len(rows)
    assert os.listdir(tmp_path) == ["rows.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_was_ignored_while_one_state_was_expanded(number: int, tmp_path: Path) -> None:
    model = tmp_path / "m.prism"
    model.write_text(modules(28))
    words = ["info", str(model), "--memory", "3000"]
    code, out, _, seconds = stopped(words, number, 1, "galton.backend.cpu.explorer", "to_core")
    assert (code, out) == (128 + number, "")
    assert seconds < allowed(2.0)  # a tenth of a second, where nobody else computes


def test_a_state_with_more_successors_than_there_are_numbers(tmp_path: Path) -> None:
    model = tmp_path / "m.prism"
    model.write_text(modules(40))
    begin = time.monotonic()
    found = run("info", model)
    assert found.returncode == 2
    assert found.stderr.startswith("error: state (x1=false, x2=false")
    assert "has 1.1e+12 successors" in found.stderr
    assert time.monotonic() - begin < allowed(20)


def test_a_state_that_fills_the_memory_is_named(tmp_path: Path) -> None:
    model = tmp_path / "m.prism"
    model.write_text(modules(30))
    found = run("info", model, "--max-states", "2000000")
    assert found.returncode == 2
    assert "more than 2,000,000 states, and state (x1=false" in found.stderr
    assert "alone has millions of successors" in found.stderr


# Full disks: no file may become longer than a few bytes, which Python sees as an error when it writes.


def short_files(length: int) -> Any:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (length, length))


def test_a_full_disk_once_cost_the_file_to_resume_from(tmp_path: Path) -> None:
    kept = tmp_path / "regions.json"
    assert run(*ASKED, "--tolerance", "0.5", "--json", kept).returncode == 0
    before = kept.read_bytes()
    found = run(*ASKED, "--tolerance", "0.3", "--resume", kept, "--json", kept, preexec_fn=short_files(100))
    assert found.returncode == 2
    assert "% of the space" in found.stdout  # the answer is there
    assert "regions.json could not be written: File too large; the file of before is as it was" in found.stderr
    assert "Traceback" not in found.stderr
    assert kept.read_bytes() == before
    assert os.listdir(tmp_path) == ["regions.json"]


@pytest.mark.parametrize("output", ["--csv", "--strategy"])
def test_a_full_disk_does_not_cost_the_answer(output: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    words = ["check", MODELS / "consensus.prism", "-c", "N=2,K=2", "-p", 'Pmax=? [ F "finished" & "all_heads" ]']
    assert run(*words, output, target).returncode == 0
    length = target.stat().st_size
    target.write_text("before")
    found = run(*words, output, target, preexec_fn=short_files(length - 1))
    assert found.returncode == 2
    assert "Pmax=? [ F" in found.stdout
    assert f"{target} could not be written: File too large" in found.stderr
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("name", ["m.tra", "m.npz"])
def test_a_full_disk_does_not_cost_the_other_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("before")
    files = f"{tmp_path / name},{tmp_path / 'm.lab'}"
    found = run("build", MODELS / "die.prism", "--export", files, preexec_fn=short_files(160))
    assert found.returncode == 2
    assert f"{tmp_path / name} could not be written" in found.stderr
    assert (tmp_path / name).read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == sorted([name, "m.lab"])


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize("options", ["--json", "-c k=0:3"])
def test_a_closed_output(closed: str, options: str) -> None:
    prop = "const int k = 1; P=? [ F<=k d=6 ]" if options == "--json" else "const int k; P=? [ F<=k d=6 ]"
    text = f"'{sys.executable}' -m galton check models/die.prism -p '{prop}' {options} {closed}"
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("threads", ["100000", "99999999999", "0"])
def test_threads_that_nobody_has(threads: str) -> None:
    found = run("check", MODELS / "die.prism", "-p", "P=? [ F d=6 ]", "-t", threads)
    assert found.returncode == 2
    assert "1<=x<=1024" in found.stderr


@pytest.mark.parametrize("threads", [2, 400])
def test_too_little_memory_is_a_message(threads: int) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))

    found = run("info", MODELS / "herman.prism", "-c", "N=13", "-t", threads, preexec_fn=little)
    assert "Traceback" not in found.stderr
    assert found.returncode in (0, 2)
    if threads == 400:
        assert found.stderr.startswith(("error: the system has no more threads", "error: not enough memory for the"))


@pytest.mark.parametrize("steps", ["1e12", "1e18", "-3", '"many"'])
def test_a_strategy_that_claims_many_steps(steps: str, tmp_path: Path) -> None:
    """``"steps": 1e12`` once asked for 7 TiB."""
    path = tmp_path / "s.json"
    path.write_text(f'{{"galton": "strategy", "version": 1, "steps": {steps}, "decisions": []}}')
    words = ["check", MODELS / "consensus.prism", "-c", "N=2,K=2", "-p", 'P=? [ F "finished" ]', "--apply", path]
    found = run(*words)
    assert found.returncode == 2
    assert f"{path}: steps should be a whole number" in found.stderr
