"""Campaign: the command line in hard times: little memory, signals, full disks, closed pipes.

It says what happened in a sentence, ends soon, prints no traceback, is not killed, and does not harm a file that was
there.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import galton

from .judge import Judge

MODELS = Path(__file__).resolve().parents[2] / "models"
START = [sys.executable, "-c", "import sys; from galton.cli import main; sys.exit(main())"]
SECONDS = 120  # for a command; those here take a few
SOON = 15  # for a process that is told to end
MEGABYTE = 2**20

SIR = [
    "synth",
    str(MODELS / "sir.prism"),
    "-c",
    "S0=40,I0=3,R0=0",
    "--param",
    "ki=0.001:0.05",
    "--param",
    "kr=0.05:0.2",
]
SIR += ["-p", "P>=0.3 [ F<=20 ill=0 ]", "--tolerance", "0.0005"]
QUICK = [
    ["check", str(MODELS / "die.prism"), "-p", "P=? [ F d=6 ]"],
    ["check", str(MODELS / "consensus.prism"), "-c", "N=2,K=3", "-p", 'Pmin=? [ F "finished" & "all_heads" ]'],
    ["check", str(MODELS / "herman.prism"), "-c", "N=9", "-p", 'R=? [ F "stable" ]'],
    ["info", str(MODELS / "herman.prism"), "-c", "N=9"],
]
LARGE = [
    ["check", str(MODELS / "herman.prism"), "-c", "N=13", "-p", 'R=? [ F "stable" ]'],
    ["check", str(MODELS / "consensus.prism"), "-c", "N=4,K=8", "-p", 'Pmin=? [ F "finished" & "all_heads" ]'],
    ["check", str(MODELS / "tandem.prism"), "-c", "c=127", "-p", "S=? [ first=0 ]"],
    ["check", str(MODELS / "tandem.prism"), "-c", "c=63", "-p", "P=? [ F<=9 second=c ]"],
    ["info", str(MODELS / "kanban.prism"), "-c", "t=4"],
]


def play(random: Random, judge: Judge) -> None:
    judge.tally.models += 1
    judge.tally.questions += 1
    with tempfile.TemporaryDirectory() as folder:
        random.choice([memory, signals, disk, pipe])(random, judge, Path(folder))


def complain(
    judge: Judge, words: Sequence[str], how: str, code: int | None, told: str, allowed: Sequence[int] = ()
) -> None:
    question = f"galton {' '.join(words).replace(str(MODELS) + '/', '')} with {how}"
    if code is None:
        judge.fail(question, "does not end", told[-1000:])
    elif "Traceback" in told:
        judge.fail(question, "a traceback: " + told.strip().splitlines()[-1][:200], told[-1500:])
    elif code < 0 and -code not in allowed:
        judge.fail(question, f"ended by signal {-code}", told[-1000:])
    elif code > 2 and code - 128 not in allowed:
        judge.fail(question, f"exit code {code}", told[-1000:])


def run(words: Sequence[str], before: Callable[[], None], folder: Path) -> tuple[int | None, str, str]:
    try:
        done = subprocess.run(
            [*START, *words],
            preexec_fn=before,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            errors="replace",
        )
    except subprocess.TimeoutExpired as late:
        return None, str(late.stdout), str(late.stderr)
    return done.returncode, done.stdout, done.stderr


def memory(random: Random, judge: Judge, folder: Path) -> None:
    """So little that something somewhere fails to get it."""
    limit = random.randint(160, 700) * MEGABYTE  # below, Python's own libraries do not load
    words = random.choice(LARGE)

    def before() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    code, out, err = run(words, before, folder)
    complain(judge, words, f"{limit // MEGABYTE} MB", code, out + err)


def disk(random: Random, judge: Judge, folder: Path) -> None:
    """Files may not grow beyond a few bytes. What was there stays, and the answer is printed."""
    limit = random.choice([0, 1, 50, 300])
    kept = "what was there before\n" * 40
    target = folder / random.choice(["out.json", "out.csv"])
    target.write_text(kept)
    words = list(QUICK[1])
    if target.suffix == ".json":
        words += ["--strategy", target.name]
    else:
        words += ["--csv", target.name]
    if random.random() < 0.3:
        target = folder / "out.npz"
        target.write_text(kept)
        words = ["build", QUICK[0][1], "--export", target.name]

    def before() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    code, out, err = run(words, before, folder)
    how = f"files of {limit} bytes"
    complain(judge, words, how, code, out + err)
    if target.read_bytes() != kept.encode():
        judge.fail(
            f"galton {' '.join(words[-2:])} with {how}",
            f"the file that was there has {target.stat().st_size} bytes now",
        )
    if code == 0:
        judge.fail(f"galton {' '.join(words[-2:])} with {how}", "nothing could be written, and the exit code is 0")
    if words[0] == "check" and "Pmin" not in out:
        judge.fail(f"galton {' '.join(words[-2:])} with {how}", "the answer is not printed", out + err)


def pipe(random: Random, judge: Judge, folder: Path) -> None:
    """Nobody reads what is printed, the standard output is not there at all, or its disk is full."""
    words = [*random.choice(QUICK)]
    words += ["--json"] if words[0] == "check" and random.random() < 0.5 else []
    kind = random.choice(["a closed pipe", "no standard output", "a full disk"])
    if kind == "a full disk":
        writing = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, writing = os.pipe()
        os.close(reading)
    closed = kind == "no standard output"
    process = subprocess.Popen(
        [*START, *words],
        cwd=folder,
        stdout=writing,
        stderr=subprocess.PIPE,
        preexec_fn=(lambda: os.close(1)) if closed else None,
    )
    os.close(writing)
    try:
        _, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        complain(judge, words, kind, None, "")
        return
    complain(judge, words, kind, process.returncode, err.decode(errors="replace"), [signal.SIGPIPE])


def signals(random: Random, judge: Judge, folder: Path) -> None:
    """Told to end at some moment; a synthesis keeps what it has."""
    synthesis = random.random() < 0.5
    words = [*SIR, "--json", "regions.json"] if synthesis else random.choice(LARGE)
    number = random.choice([signal.SIGINT, signal.SIGTERM])
    process = subprocess.Popen([*START, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    started(process.pid)
    time.sleep(random.uniform(0.8, 3))
    how = f"{number.name}"
    ended_by_itself = process.poll() is not None
    process.send_signal(number)
    try:
        out, _ = process.communicate(timeout=SOON)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        complain(judge, words, how, None, "")
        return
    told = out.decode(errors="replace")
    complain(judge, words, how, process.returncode, told, [number])
    if synthesis and not ended_by_itself:
        try:
            galton.Regions.from_json(folder / "regions.json")
        except Exception as error:
            judge.fail(f"galton synth … --json with {how}", f"the boxes so far are lost: {error}"[:300], told[-1000:])


def started(pid: int) -> None:
    """Wait until the core is loaded: before, it is Python that is interrupted."""
    for _ in range(600):
        try:
            if "_core" in Path(f"/proc/{pid}/maps").read_text():
                return
        except OSError:
            return
        time.sleep(0.02)
