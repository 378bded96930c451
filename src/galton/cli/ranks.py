"""``galton check --device mpi``: the same command on all ranks, of which the first one talks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..lang.source import GaltonError

__all__ = ["on_all_ranks", "threads_of_rank"]


def threads_of_rank(device: str, threads: int | None) -> int | None:
    """How many threads a rank may use if nobody says: its part of the cores that it shares with others."""
    if device != "mpi" or threads is not None:
        return threads
    from ..backend.petsc.world import world

    return world().threads


@contextmanager
def on_all_ranks(
    device: str,
    *,
    petsc_options: str | None,
    checkpoint: Path | None,
    resume: Path | None,
    refused: Mapping[str, object],
) -> Iterator[None]:
    """Do something on all ranks, where that is the device; ``refused`` are options that ranks know nothing of."""
    given = {"--petsc-options": petsc_options, "--checkpoint": checkpoint, "--resume": resume}
    if device != "mpi":
        for option, meant in given.items():
            if meant is not None:
                raise GaltonError(f"{option} is for --device mpi; leave it away, or start the command with mpirun")
        yield
        return
    for option, value in refused.items():
        if value:
            raise GaltonError(f"{option} does not go with --device mpi; leave it away, or ask on one machine")
    from ..backend.petsc import checkpoint as checkpoints
    from ..backend.petsc.krylov import take_options
    from ..backend.petsc.world import across_ranks, world

    if world().rank:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if petsc_options is not None:
        take_options(petsc_options)
    with across_ranks() as everybody, checkpoints.kept(checkpoint, resume, everybody):
        yield
