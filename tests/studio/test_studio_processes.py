"""Processes of the studio: a stop is immediate, memory comes back, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from studio_client import MODELS_LARGE, Running, running

from galton.studio.limits import MIB

SOON = 60.0  # seconds, of a machine that has much else to do


def resident(number: int) -> int:
    """Bytes of memory of a process; 0 if it is not there."""
    try:
        return int(Path(f"/proc/{number}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def eventually(what: object, seconds: float = SOON) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("huge")
    (folder / "huge.prism").write_text(MODELS_LARGE)
    return folder


def test_a_question_about_millions_of_states_is_stopped_within_a_second(huge: Path) -> None:
    """Ten million states are on their way here, of which this waits for a few, so that it takes seconds."""
    with running(huge) as studio, studio.page() as page:
        assert page.ask("build", model="huge.prism", constants={"N": "3"})["model"]["states"] == 4**4
        number = page.send("build", model="huge.prism", constants={"N": "56"})  # 57**4 states
        eventually(lambda: max(map(resident, studio.workers())) > 200 * MIB, 60)
        (heavy,) = [one for one in studio.workers() if resident(one) > 200 * MIB]
        start = time.monotonic()
        page.stop(number)
        assert page.end(number)["reason"] == "by"
        eventually(lambda: heavy not in studio.workers())
        assert time.monotonic() - start < 1.0
        assert not [one for one in studio.workers() if resident(one) > 150 * MIB]
        assert page.ask("build", model="huge.prism", constants={"N": "3"})["model"]["states"] == 4**4


def test_a_page_that_closes_takes_its_processes_along(huge: Path) -> None:
    with running(huge) as studio:
        eventually(lambda: len(studio.workers()) == 2)
        with studio.page() as page:
            page.send("build", model="huge.prism", constants={"N": "56"})
            page.ask("diagnose", model="huge.prism")
            eventually(lambda: len(studio.workers()) == 4)
        eventually(lambda: len(studio.workers()) == 2)  # those that wait for the next page


def test_the_studio_leaves_nothing_behind(huge: Path) -> None:
    with running(huge) as studio, studio.page() as page:
        page.send("build", model="huge.prism", constants={"N": "56"})
        page.ask("diagnose", model="huge.prism")
        found = studio.workers()
        assert len(found) >= 2
    eventually(lambda: not any(resident(number) for number in found))


def test_workers_end_with_a_studio_that_is_killed(huge: Path) -> None:
    words = [sys.executable, "-m", "galton", "studio", str(huge), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert "?token=" in server.stdout.readline()

        def children() -> list[int]:
            found = subprocess.run(
                ["ps", "--ppid", str(server.pid), "-o", "pid="], capture_output=True, text=True, check=False
            )
            return [int(word) for word in found.stdout.split()]

        eventually(lambda: len(children()) == 2)
        workers = children()
        server.send_signal(signal.SIGKILL)
    eventually(lambda: not any(resident(number) for number in workers))


def test_ctrl_c_ends_the_studio(huge: Path) -> None:
    words = [sys.executable, "-m", "galton", "studio", str(huge), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.readline()
        time.sleep(0.5)
        server.send_signal(signal.SIGINT)
        assert server.wait(SOON) in (0, 130)
        assert "Traceback" not in server.stderr.read()


def test_a_worker_that_dies_is_told_and_replaced(studio: Running) -> None:
    with studio.page() as page:
        number = page.send("build", model="herman.prism", constants={"N": "21"})
        page.wait_for(number, "progress")
        busiest = max(studio.workers(), key=resident)
        os.kill(busiest, signal.SIGSEGV)
        end = page.end(number)
        assert end["event"] == "error"
        assert end["error"]["kind"] == "internal"
        assert page.ask("build", model="herman.prism", constants={"N": "3"})["model"]["states"] == 8


def test_small_answers_come_fast_once_a_worker_is_warm(studio: Running) -> None:
    """Ten milliseconds on a quiet machine. Nagle's algorithm would hold each second message for 40, always."""
    asked = {"model": "die.prism", "properties": [{"text": "P=? [ F d=6 ]"}]}
    with studio.page() as page:
        page.ask("check", **asked)
        took = []
        for _ in range(15):
            start = time.perf_counter()
            page.ask("check", **asked)
            took.append(time.perf_counter() - start)
        assert min(took) < 0.035
