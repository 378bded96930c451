"""The workers of a real Dask cluster on this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

import pytest
import same_answers

from galton.workers import LostWorkerError, in_order, open_workers

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as found:
        yield found


@pytest.fixture(scope="module")
def executor(cluster: Any) -> Iterator[Executor]:
    with open_workers(f"dask:{cluster.scheduler_address}") as found:
        yield found


def test_dask_answers_as_one_core_does(executor: Executor) -> None:
    assert same_answers.experiment(executor) == same_answers.experiment(None)
    assert same_answers.synthesis(executor) == same_answers.synthesis(None)
    assert same_answers.estimates(executor) == same_answers.estimates(None)
    assert same_answers.traces(executor) == same_answers.traces(None)


def test_dask_worker_killed_in_the_middle(executor: Executor, cluster: Any) -> None:
    def kill(done: int, total: int) -> None:
        if done == 1:
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    assert same_answers.experiment(executor, kill) == same_answers.experiment(None)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_piece_that_always_ends_a_dask_worker_is_an_error(executor: Executor) -> None:
    with pytest.raises(LostWorkerError, match="each worker that was asked this died"):
        list(in_order([die], executor))
