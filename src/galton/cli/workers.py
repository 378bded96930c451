"""``--workers``: who works on the independent pieces of a command, and what does not go with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import typer

from ..lang.source import GaltonError

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

__all__ = ["Workers", "device_for_workers", "opened", "with_ranks"]

Workers = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="WHO",
        help="Share independent pieces with workers, each on one core unless --threads says more: processes:8 of this "
        "machine (processes for one a core), mpi, where mpirun started the command, or dask:ADDRESS, of a scheduler. "
        "The answers are those of one core, to the last bit; what a lost worker had is asked again.",
        show_default=False,
    ),
]


def device_for_workers(workers: str | None, device: str) -> str:
    """The device of a command with workers: the CPU, where nothing else was asked for."""
    if workers is None:
        return device
    from ..workers.naming import check_workers

    check_workers(workers)
    if device not in ("auto", "cpu"):
        raise GaltonError(f"workers compute on the CPU; leave out --workers, or --device {device}")
    return "cpu"


def opened(workers: str | None) -> AbstractContextManager[Executor | None]:
    """The executor that was asked for, or none."""
    if workers is None:
        return nullcontext()
    from ..workers import open_workers

    return open_workers(workers)


@contextmanager
def with_ranks(arguments: Sequence[str]) -> Iterator[None]:
    """Where a command is shared with MPI ranks, have them at hand; all but the first serve, and never come back.

    It is the text that tells, before anything is read: only the first rank may say what is wrong with it.
    """
    spread = "--workers=mpi" in arguments or ("--workers", "mpi") in pairwise(arguments)
    if not spread:
        yield
        return
    from ..workers.ranks import serving_ranks

    with serving_ranks():
        yield
