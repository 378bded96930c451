"""Rounds in processes of their own, so that a crash or an endless loop is a failure with a seed and not the end."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
import traceback
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from multiprocessing.connection import Connection, wait
from random import Random
from typing import Any

from .campaigns import BY_NAME
from .judge import Judge
from .tally import Failure, Tally


def replay(name: str, seed: int, number: int, device: str = "cpu") -> Tally:
    """One round, here."""
    where = f"--only {name} --seed {seed} --round {number}"
    judge = Judge(where, "cuda" if device == "played" else device)
    try:
        with _played_device() if device == "played" else nullcontext():
            BY_NAME[name].play(Random(f"{name} {seed} {number}"), judge)
    except Exception:
        judge.fail("(the round itself)", traceback.format_exc(limit=-6))
    return judge.tally


def _played_device() -> AbstractContextManager[Any]:
    """The device that tests play: its folder lies beside this one, which is ``tests.fuzz`` or, for pytest, ``fuzz``."""
    home = (__package__ or "").removesuffix("fuzz")
    found: AbstractContextManager[Any] = import_module(f"{home}played").played_device()
    return found


def _rounds(
    name: str, seed: int, first: int, step: int, rounds: float, end: float, device: str, report: Connection
) -> None:
    if step > 1:  # each process has a core, and Galton as many threads as it sees cores
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[first % len(cores)]})
    number = first
    while number < rounds and time.monotonic() < end:
        report.send(("begun", number, None))
        report.send(("done", number, replay(name, seed, number, device)))
        number += step
    report.send(("over", number, None))


def run(name: str, seed: int, seconds: float, jobs: int = 1, device: str = "cpu", rounds: float = math.inf) -> Tally:
    """As many rounds as there is time for, each begun in it and ended, or as were asked for."""
    context: Any = multiprocessing.get_context("fork" if device == "cpu" else "spawn")
    end = time.monotonic() + seconds
    tally = Tally()
    at: dict[Connection, Any] = {}  # process, the round it is at, since when

    def start(first: int) -> None:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_rounds, args=(name, seed, first, jobs, rounds, end, device, theirs), daemon=True
        )
        process.start()
        theirs.close()
        at[ours] = [process, first, time.monotonic()]

    def lost(report: Connection, mistake: str) -> None:
        """A round whose process is gone: written down, and on with the next."""
        process, number, _ = at.pop(report)
        process.kill()
        process.join()
        tally.failures.append(Failure(f"--only {name} --seed {seed} --round {number}", "(the round itself)", mistake))
        if time.monotonic() < end:
            start(number + jobs)

    for job in range(jobs):
        start(job)
    while at:
        for report in wait(list(at), timeout=1.0):
            assert isinstance(report, Connection)
            try:
                kind, number, part = report.recv()
            except EOFError:
                at[report][0].join(5)
                lost(report, f"the process ended with {at[report][0].exitcode}")
                continue
            at[report][1:] = [number, time.monotonic()]
            if kind == "done":
                tally.add(part)
            if kind == "over":
                at.pop(report)[0].join()
        for report, (_, _, since) in list(at.items()):
            if time.monotonic() - since > BY_NAME[name].limit:
                lost(report, f"a round takes longer than {BY_NAME[name].limit:.0f} s")
    return tally
