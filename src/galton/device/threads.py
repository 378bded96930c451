"""How many threads may be asked for."""

from __future__ import annotations

from ..lang.source import GaltonError

MOST_THREADS = 1024  # more than any machine has cores; each takes memory of its own

__all__ = ["MOST_THREADS", "check_threads"]


def check_threads(threads: int | None) -> None:
    """Refuse what no machine can start, or nobody can mean; None stands for all cores."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise GaltonError(
            f"{threads} threads cannot compute; give a number from 1 to {MOST_THREADS}, or none for all cores"
        )
