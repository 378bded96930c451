"""Pieces and their workers: order, errors, workers that die, and answers that do not depend on who gives them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import same_answers
from same_answers import HERMAN, SIR

import galton
from galton.workers import LostWorkerError, completed, in_order, open_workers
from galton.workers.asking import TRIES
from galton.workers.processes import Processes


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes(2) as executor:
        yield executor


def die(*, until: Path | None = None) -> str:
    """End the process that does this, each time or until a file is there."""
    if until is None or not until.exists():
        if until is not None:
            until.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def kill_all_once(executor: Processes) -> Callable[..., None]:
    """Kill the processes when something is told for the first time, whatever they do."""
    told: list[object] = []

    def kill(*news: object) -> None:
        for worker in [] if told else list(executor._workers):
            with suppress(ProcessLookupError):
                os.kill(worker.process.pid, signal.SIGKILL)  # type: ignore[arg-type]
        told.append(news)

    return kill


# The same answers.


@pytest.mark.parametrize("asked", [same_answers.experiment, same_answers.synthesis], ids=lambda asked: asked.__name__)
def test_processes_answer_as_one_core_does(asked: Callable[..., Any], processes: Processes) -> None:
    assert asked(processes) == asked(None)


def test_worker_killed_in_an_experiment(processes: Processes) -> None:
    assert same_answers.experiment(processes, kill_all_once(processes)) == same_answers.experiment(None)


def test_worker_killed_in_a_synthesis(processes: Processes) -> None:
    assert same_answers.synthesis(processes, kill_all_once(processes)) == same_answers.synthesis(None)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_paths_do_not_depend_on_the_number_of_workers(count: int) -> None:
    with ThreadPoolExecutor(count) as threads:
        assert same_answers.estimates(threads) == same_answers.estimates(None)
        assert same_answers.traces(threads) == same_answers.traces(None)


def test_paths_of_processes(processes: Processes) -> None:
    assert same_answers.estimates(processes) == same_answers.estimates(None)
    assert same_answers.traces(processes) == same_answers.traces(None)


# Workers that die.


def test_piece_of_a_lost_worker_is_asked_again(processes: Processes, tmp_path: Path) -> None:
    pieces: list[Callable[[], Any]] = [partial(pow, 2, i) for i in range(5)]
    pieces.insert(2, partial(die, until=tmp_path / "died"))
    assert list(in_order(pieces, processes)) == [1, 2, "alive", 4, 8, 16]


def test_piece_that_always_ends_its_worker_is_an_error(processes: Processes) -> None:
    found = dict(completed([partial(pow, 2, 3), die, partial(pow, 2, 4)], processes))
    assert (found[0].result(), found[2].result()) == (8, 16)
    with pytest.raises(LostWorkerError, match=r"each worker .* died \(process \d+ was ended by SIGKILL\): its memory"):
        found[1].result()


class Breaks(Executor):
    """An executor that does some work, and then breaks for good."""

    def __init__(self, count: int) -> None:
        self.left, self.submitted = count, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        if self.left < 0:
            raise BrokenExecutor("it was broken before")
        self.left -= 1
        future: Future[Any] = Future()
        if self.left >= 0:
            future.set_result(fn(*args, **kwargs))
        else:
            future.set_exception(BrokenExecutor("a process was killed"))
        return future


def test_broken_executor_keeps_the_rows_that_are_there() -> None:
    with pytest.warns(UserWarning, match="2 of 4 answers are errors; the first is a worker was lost"):
        found = galton.experiment(HERMAN, 'R=? [ F "stable" ]', N=[3, 5, 7, 9], executor=Breaks(2))
    assert [isinstance(row.result, LostWorkerError) for row in found] == [False, False, True, True]
    with pytest.raises(LostWorkerError, match="takes no more work"):
        galton.experiment(HERMAN, 'R=? [ F "stable" ]', N=[3, 5], executor=Breaks(0))


def test_broken_executor_keeps_the_boxes_that_are_there() -> None:
    asked = (HERMAN.parent / "sir.prism", "P>=0.5 [ F<=20 ill=0 ]")
    with pytest.warns(UserWarning, match="the regions so far: a worker was lost"):
        found = galton.synthesize(*asked, executor=Breaks(1), **SIR)
    assert found.boxes
    assert found.interrupted
    assert not found.complete
    whole = galton.synthesize(resume=found)
    assert whole.complete
    with pytest.raises(LostWorkerError):
        galton.synthesize(*asked, executor=Breaks(0), **SIR)


def test_tries_are_counted() -> None:
    class Kills(Breaks):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.left = 0
            return super().submit(fn, *args, **kwargs)

    executor = Kills(0)
    with pytest.raises(LostWorkerError):
        list(in_order([int], executor))
    assert executor.submitted == TRIES


# Order, errors, the end.


def sleep_and_tell(seconds: float, what: str) -> str:
    time.sleep(seconds)
    return what


def test_results_come_in_order() -> None:
    with ThreadPoolExecutor(2) as threads:
        assert list(in_order([partial(sleep_and_tell, 0.05, "a"), partial(sleep_and_tell, 0, "b")], threads)) == [*"ab"]


def test_pieces_without_end_are_asked_as_they_are_needed() -> None:
    asked: list[int] = []

    def pieces() -> Iterator[Callable[[], int]]:
        while True:
            asked.append(len(asked))
            yield partial(int, asked[-1])

    with ThreadPoolExecutor(2) as threads:
        found = in_order(pieces(), threads, ahead=4)
        assert [next(found) for _ in range(10)] == list(range(10))
        found.close()  # type: ignore[attr-defined]
    assert len(asked) <= 14


def wrong() -> None:
    raise EOFError("nothing more")  # what the end of a process looks like, too


def test_errors_of_pieces_are_theirs(processes: Processes) -> None:
    with pytest.raises(EOFError, match="nothing more") as caught:
        list(in_order([wrong], processes))
    assert "in a worker" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match="cannot be sent"):
        list(in_order([partial(open, os.devnull)], processes))
    with pytest.raises(Exception, match="pickle"):
        list(in_order([lambda: 1], processes))
    assert list(in_order([int], processes)) == [0]


def test_nobody_stays_behind() -> None:
    with Processes(1) as executor:
        (pid,) = in_order([os.getpid], executor)
        long = executor.submit(time.sleep, 1000)
        while not long.running():
            time.sleep(0.001)
    assert isinstance(long.exception(), BrokenExecutor)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_is_meant_by_no_workers() -> None:
    for text, told in (
        ("process:2", "workers are processes .one for each core., processes:8, mpi, or dask:ADDRESS; 'process:2'"),
        ("processes:0", "processes are counted from 1"),
        ("processes:many", "not 'many'"),
        ("mpi:4", "matter of mpirun -n"),
        ("dask", "where is the scheduler"),
        ("dask:no.json", "is no file of a Dask scheduler|Dask is not installed"),
        ("mpi", "for a command that mpirun starts"),
    ):
        with pytest.raises(galton.GaltonError, match=told), open_workers(text):
            pass
