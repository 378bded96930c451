"""While the explorer of a new model is compiled, which takes seconds, the CPU explores; whoever is done first, wins.

Both find the same model, in the same order. A model that the CPU finds at once is not compiled for at all, so that an
experiment over many small models does not keep all cores busy with compiling.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Timer

from ....device.cuda.code import Text, is_kept, machine_code
from ....lower.lowering import Lowered
from ....model.sparse import Model
from ...cpu.explorer import Watch
from ...cpu.explorer import explore as explore_on_cpu
from ...failures import LimitError
from ...limits import Limits

__all__ = ["Compiling", "explored_meanwhile"]

HEAD_START = 0.2  # seconds of the CPU; 0: it does not compete
NOTE = "the CPU was done before the device's explorer was compiled"


class Compiling:
    """The parts of an explorer, compiled at the same time, each by a thread."""

    def __init__(self, texts: list[Text]) -> None:
        self._texts = texts
        self._codes: list[Future[bytes]] = []

    @property
    def kept(self) -> bool:
        """Whether they have been compiled before."""
        return all(map(is_kept, self._texts))

    @property
    def done(self) -> bool:
        """Whether the device can begin."""
        return bool(self._codes) and all(code.done() for code in self._codes)

    def start(self) -> None:
        """Begin, where nobody has."""
        if not self._codes:
            workers = ThreadPoolExecutor(len(self._texts))
            self._codes = [workers.submit(machine_code, text) for text in self._texts]
            workers.shutdown(wait=False)

    def code(self, part: int) -> bytes:
        """Of a part, when it is there."""
        self.start()
        return self._codes[part].result()


class _Overtaken(Exception):
    """The device can begin."""


def explored_meanwhile(
    lowered: Lowered, compiling: Compiling, *, threads: int, limits: Limits, watch: Watch | None
) -> Model | None:
    """The model, explored by the CPU and on the host; None where the device may begin, or has to."""
    if not HEAD_START or compiling.kept:
        return None
    start = time.perf_counter()
    timer = Timer(HEAD_START, compiling.start)
    timer.daemon = True
    timer.start()

    def watching(states: int, transitions: int, rows: int) -> None:
        if watch is not None:
            watch(states, transitions, rows)
        if compiling.done:
            raise _Overtaken

    try:
        model = explore_on_cpu(lowered, threads=threads, limits=limits, watch=watching)
    except (_Overtaken, LimitError):  # the device has limits of its own
        return None
    finally:
        timer.cancel()
    return replace(model, info={**model.info, "explorer": NOTE}, build_seconds=time.perf_counter() - start)
