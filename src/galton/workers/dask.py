"""The workers of a Dask cluster. Dask itself asks again what a lost worker had, on another one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from ..lang.source import GaltonError

__all__ = ["dask_workers"]

T = TypeVar("T")
PATIENCE = 10  # seconds for a scheduler to answer, and to come back
GLANCE = 1.0  # seconds between looks at whether it is there


class DaskWorkers(Executor):
    """The workers that a client of Dask knows.

    Dask's own executor waits for ever when the scheduler is gone for good; this one says so.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._pool = client, client.get_executor()
        self._asked: set[Future[Any]] = set()
        self._over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have a worker call a function."""
        if self._gone:
            raise BrokenExecutor("the Dask scheduler is gone")
        future: Future[T] = self._pool.submit(fn, *args, **kwargs)
        self._asked.add(future)
        future.add_done_callback(self._asked.discard)
        return future

    @property
    def _gone(self) -> bool:
        return str(self._client.status) in ("closing", "closed")

    def _watch(self) -> None:
        while not self._over.wait(GLANCE):
            if self._gone:
                for future in list(self._asked):
                    with suppress(InvalidStateError):
                        future.set_exception(BrokenExecutor("the Dask scheduler is gone"))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; a cluster goes on without us."""
        self._over.set()
        if not self._gone:
            self._pool.shutdown(wait=wait)


@contextmanager
def dask_workers(address: str) -> Iterator[Executor]:
    """An executor of the cluster whose scheduler has this address, or wrote this file (``scheduler.json``)."""
    try:
        from distributed import Client
    except ImportError as error:
        raise GaltonError("Dask is not installed; pip install 'galton[dask]' brings it") from error
    if address.endswith(".json"):
        address = _written(Path(address))
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise GaltonError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        executor = DaskWorkers(client)
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)


def _written(file: Path) -> str:
    """The address in the file of a scheduler; Dask would wait for one that is not there."""
    try:
        return str(json.loads(file.read_text())["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{file} is no file of a Dask scheduler; dask scheduler --scheduler-file writes one"
        raise GaltonError(message) from error
