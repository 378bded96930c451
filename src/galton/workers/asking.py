"""Pieces asked of an executor: results as they come, and another try for those whose worker was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from ..lang.source import GaltonError

__all__ = ["AHEAD", "TRIES", "LostWorkerError", "completed", "in_order"]

AHEAD = 1000  # pieces that are asked before the first of them is done: more than any machine has workers
TRIES = 3  # of a piece, each of which ended its worker
GLANCE = 0.2  # seconds between looks at whether somebody wants to stop
KILLED = "KilledWorker"  # what Dask raises after some tries of its own; it need not be installed

T = TypeVar("T")
Watch = Callable[[], None]


class LostWorkerError(GaltonError):
    """A piece of work that has no answer, because whoever worked on it was lost."""

    kind = "lost worker"


@dataclass(frozen=True)
class _Asked(Generic[T]):
    """A piece that somebody works on."""

    place: int
    piece: Callable[[], T]
    tries: int = 1


def completed(
    pieces: Iterable[Callable[[], T]], executor: Executor, *, ahead: int = AHEAD, watch: Watch | None = None
) -> Iterator[tuple[int, Future[T]]]:
    """The places of pieces and what came of them, whichever is done first.

    A piece whose worker died is asked again; one that has no answer in the end has a :class:`LostWorkerError`. Who
    stops early cancels what nobody has begun. ``watch`` is called now and then.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as threads:
    ...     sorted((place, found.result()) for place, found in completed([str, int], threads))
    [(0, ''), (1, 0)]
    """
    waiting = (_Asked(place, piece) for place, piece in enumerate(pieces))
    asked: dict[Future[T], _Asked[T]] = {}
    try:
        while True:
            for one in islice(waiting, ahead - len(asked)):
                asked[_submitted(executor, one)] = one
            if not asked:
                return
            for future in wait(asked, timeout=GLANCE, return_when=FIRST_COMPLETED).done:
                one = asked.pop(future)
                again = _asked_again(executor, one, future)
                if isinstance(again, LostWorkerError):
                    yield one.place, _failed(again)
                elif again is not None:
                    asked[again] = _Asked(one.place, one.piece, one.tries + 1)
                else:
                    yield one.place, future
            if watch is not None:
                watch()
    finally:
        for future in asked:
            future.cancel()


def in_order(
    pieces: Iterable[Callable[[], T]], executor: Executor, *, ahead: int = AHEAD, watch: Watch | None = None
) -> Iterator[T]:
    """What came of pieces, in their order; an error is raised when it is its turn.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as threads:
    ...     list(in_order([str, int], threads))
    ['', 0]
    """
    done: dict[int, Future[T]] = {}
    following = 0
    for place, future in completed(pieces, executor, ahead=ahead, watch=watch):
        done[place] = future
        while following in done:
            yield done.pop(following).result()
            following += 1


def _submitted(executor: Executor, asked: _Asked[T]) -> Future[T]:
    try:
        return executor.submit(asked.piece)
    except BrokenExecutor as error:
        return _failed(_broken(error))


def _asked_again(executor: Executor, asked: _Asked[T], future: Future[T]) -> Future[T] | LostWorkerError | None:
    """A piece asked once more, or why it cannot be; None where its worker was not lost."""
    lost = CancelledError() if future.cancelled() else future.exception()
    if type(lost).__name__ == KILLED:  # Dask has tried it on other workers already
        return _deadly(f"{lost}")
    if not isinstance(lost, (BrokenExecutor, CancelledError)):
        return None
    if asked.tries == TRIES:
        return _deadly(f"{lost}")
    try:
        return executor.submit(asked.piece)
    except Exception as error:  # whatever an executor says that takes no more work
        return _broken(error)


def _failed(error: LostWorkerError) -> Future[T]:
    future: Future[T] = Future()
    future.set_exception(error)
    return future


def _deadly(why: str) -> LostWorkerError:
    told = f" ({why.partition('. ')[0].rstrip('.')})" if why else ""  # Dask goes on for long
    return LostWorkerError(
        f"each worker that was asked this died{told}: its memory may be too small; ask with fewer workers, or alone"
    )


def _broken(error: BaseException) -> LostWorkerError:
    told = f"{error}".rstrip(".") or type(error).__name__
    return LostWorkerError(f"a worker was lost, and its executor takes no more work: {told}; ask again with a new one")
