"""The workers of a Dask cluster. Dask itself asks again what a lost worker had, on another one."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from ..lang.source import GaltonError

__all__ = ["dask_workers"]

PATIENCE = 10  # seconds for a scheduler to answer


@contextmanager
def dask_workers(address: str) -> Iterator[Executor]:
    """An executor of the cluster whose scheduler has this address, or wrote this file (``scheduler.json``)."""
    try:
        from distributed import Client
    except ImportError as error:
        raise GaltonError("Dask is not installed; pip install 'galton[dask]' brings it") from error
    where = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client = Client(**where, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise GaltonError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        executor: Executor = client.get_executor()
        yield executor
