"""Workers by name, as ``--workers`` has them: ``processes:8``, ``mpi``, ``dask:tcp://10.0.0.1:8786``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from ..lang.source import GaltonError

__all__ = ["FORMS", "check_workers", "open_workers"]

FORMS = "processes (one for each core), processes:8, mpi, or dask:ADDRESS"
MOST = 4096  # processes


@contextmanager
def open_workers(text: str) -> Iterator[Executor]:
    """An executor by its name; at the end of the block its workers leave.

    Examples
    --------
    >>> import galton
    >>> from galton.workers import open_workers
    >>> with open_workers("processes:2") as executor:
    ...     galton.experiment("models/herman.prism", 'R=? [ F "stable" ]', N=[3, 5], executor=executor)
    <experiment: R=? [ F "stable" ] over N: 2 rows>
    """
    kind, rest = check_workers(text)
    if kind == "processes":
        from .processes import Processes

        with Processes(int(rest)) as executor:
            yield executor
    elif kind == "mpi":
        from .ranks import ranks

        yield ranks()
    else:
        from .dask import dask_workers

        with dask_workers(rest) as executor:
            yield executor


def check_workers(text: str) -> tuple[str, str]:
    """The kind of workers and what goes with it; a sentence for what is neither.

    >>> check_workers("processes:8"), check_workers("dask:tcp://lab:8786")
    (('processes', '8'), ('dask', 'tcp://lab:8786'))
    """
    kind, colon, rest = text.partition(":")
    if kind == "processes":
        count = rest if colon else str(len(os.sched_getaffinity(0)))
        if not (count.isdecimal() and 1 <= int(count) <= MOST):
            raise GaltonError(f"processes are counted from 1 to {MOST:,}, as in processes:8, and not '{rest}'")
        return kind, count
    if kind == "mpi":
        if colon:
            raise GaltonError(f"how many ranks there are is a matter of mpirun -n: write mpi, and not '{text}'")
        return kind, ""
    if kind == "dask":
        if not rest:
            raise GaltonError("where is the scheduler? Give its address, as in dask:tcp://10.0.0.1:8786, or its file")
        return kind, rest
    raise GaltonError(f"workers are {FORMS}; '{text}' is none of these")
