"""How the program ends before it is done: on signals, with outputs that nobody reads, without memory."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["exit_code", "memory_advice", "outputs_that_are_there", "terminated_as_interrupted", "unhurried"]


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends everything in the way that Ctrl-C does: what was found so far is kept."""


_code = 128 + signal.SIGINT


def exit_code() -> int:
    """The code for who was stopped by a signal: 130 after Ctrl-C, 143 after SIGTERM."""
    return _code


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, unless whoever started the program has it ignored."""
    global _code
    _code = 128 + signal.SIGINT
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(number: int, frame: FrameType | None) -> None:
    global _code
    _code = 128 + number
    raise Terminated


@contextmanager
def unhurried() -> Iterator[None]:
    """Let a signal wait until what was found is written; a second one does not wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {n: handler for n in (signal.SIGINT, signal.SIGTERM) if callable(handler := signal.getsignal(n))}
    waiting: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        waiting.append(number)
        if len(waiting) > 1:
            restore()
            signal.raise_signal(number)

    def restore() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)

    for number in usual:
        signal.signal(number, hold)
    try:
        yield
    finally:
        restore()
    if waiting:
        signal.raise_signal(waiting[0])


def outputs_that_are_there() -> None:
    """Give what was closed by whoever started the program (``>&-``) a place to go: then nobody has to ask."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def memory_advice(error: BaseException, what: str = "to go on") -> str:
    """What to tell who has too little memory, or too few threads."""
    if "threads" in str(error):
        return str(error)
    return f"not enough memory {what}; make the model smaller, or allow the program more memory (see ulimit -v)"
