"""How far long work is: a line on standard error, with a bar and the time left where an end is in sight.

On a terminal Rich draws it, from the second second on, and takes it away in the end. Elsewhere, in a log say, there is
a plain line now and then. Nothing moves backwards: what is done stays done.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Task",
    "current_loudness",
    "duration",
    "hidden",
    "listen",
    "loudness",
    "set_loudness",
    "task",
    "unseen",
    "watched",
]

QUIET, USUAL, VERBOSE = -1, 0, 1

QUIET_SECONDS = 1.0  # before anything is shown
REFRESH_SECONDS = 0.1
LINE_SECONDS = 30.0  # between plain lines, where nobody watches
VERBOSE_SECONDS = 3.0  # the same, for who asked to be told more
SURE = 0.01  # of the work, after which the rest can be guessed


@dataclass(eq=False)
class Task:
    """One piece of work. Whoever does it tells how far it is; :meth:`close` ends it."""

    board: _Board
    start: float = field(default_factory=lambda: time.monotonic())
    text: str = ""
    done: float | None = None
    _since: float = field(default_factory=lambda: time.monotonic())  # when the bar began
    _from: float = 0.0  # where it began

    def tell(self, text: str, done: float | None = None) -> None:
        """Say what is going on and, if that is known, which part of all of it is done, from 0 to 1."""
        self.text = text
        if done is not None and done == done:
            if self.done is None:
                self._since, self._from = time.monotonic(), done
            self.done = min(max(done, self.done or 0.0), 1.0)
        self.board.refresh()

    def begin_again(self) -> None:
        """Another part of the work begins, whose end is not known yet."""
        self.done = None

    def close(self) -> None:
        """It is done."""
        self.board.close(self)

    def __enter__(self) -> Task:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def left(self) -> float | None:
        """Seconds to the end, if the rest goes as fast as what is done; None where nobody knows."""
        if self.done is None or self.done - self._from < SURE:
            return None
        return (time.monotonic() - self._since) * (1.0 - self.done) / (self.done - self._from)

    @property
    def line(self) -> str:
        """All of it in a line."""
        parts = [self.text] if self.text else []
        if self.done is not None:
            parts.append(f"{self.done:.0%}")
        if self.left is not None:
            parts.append(f"about {duration(self.left)} left")
        return ", ".join([*parts, duration(time.monotonic() - self.start)])


@dataclass(eq=False)
class _Board:
    """All work that goes on, outermost first."""

    loudness: int = USUAL
    tasks: list[Task] = field(default_factory=list)
    listener: Callable[[Sequence[Task]], None] | None = None
    _live: Any = None
    _last: float = 0.0

    def refresh(self) -> None:
        """Show how far everything is, if it is time to."""
        now = time.monotonic()
        if self.listener is not None:
            if now - self._last >= REFRESH_SECONDS:
                self._last = now
                self.listener(self.tasks)
            return
        if self.loudness <= QUIET or now - self.tasks[0].start < QUIET_SECONDS:
            return
        if not watched():
            pause = VERBOSE_SECONDS if self.loudness >= VERBOSE else LINE_SECONDS
            if now - max(self._last, self.tasks[0].start) >= pause:
                self._last = now
                sys.stderr.write(f"{'; '.join(task.line for task in self.tasks)}\n")
                sys.stderr.flush()
        elif now - self._last >= REFRESH_SECONDS:
            self._last = now
            self._draw()

    def begin(self) -> Task:
        """A new piece of work, inside those that go on."""
        found = Task(self)
        if not self.tasks:
            self._last = found.start - LINE_SECONDS
        self.tasks.append(found)
        return found

    def close(self, task: Task) -> None:
        """Forget a piece of work, and those inside it."""
        if task in self.tasks:
            del self.tasks[self.tasks.index(task) :]
        if not self.tasks:
            self.hide()

    def hide(self) -> None:
        """Take away what is drawn, so that somebody can print."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        rows = Table.grid(padding=(0, 1))
        for task in self.tasks:
            bar = ProgressBar(total=1.0, completed=task.done, width=24) if task.done is not None else ""
            rows.add_row(bar, task.line)
        if self._live is None:
            self._live = Live(console=Console(stderr=True), transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(rows, refresh=True)


_BOARD = _Board()
_own = threading.local()  # the board of a thread that works unseen


def task() -> Task:
    """A new piece of work, inside those that go on."""
    board: _Board = getattr(_own, "board", _BOARD)
    return board.begin()


@contextmanager
def unseen() -> Iterator[None]:
    """Show nothing of what this thread does: it works for somebody elsewhere, beside others."""
    _own.board = _Board(loudness=QUIET)
    try:
        yield
    finally:
        del _own.board


def listen(listener: Callable[[Sequence[Task]], None] | None) -> None:
    """Tell somebody of all work that goes on, ten times a second, instead of showing it; None shows it again."""
    _BOARD.listener = listener


def watched() -> bool:
    """Whether somebody looks at standard error who can see things move."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def hidden() -> None:
    """Take away what is drawn: somebody is about to print."""
    _BOARD.hide()


@contextmanager
def loudness(level: int) -> Iterator[None]:
    """Show nothing (:data:`QUIET`), or more (:data:`VERBOSE`), for a while; all that goes on is closed at the end."""
    before, _BOARD.loudness = _BOARD.loudness, level
    try:
        yield
    finally:
        _BOARD.loudness = before
        _BOARD.tasks.clear()
        _BOARD.hide()


def set_loudness(level: int) -> None:
    """Show nothing, as usual, or more."""
    _BOARD.loudness = level


def current_loudness() -> int:
    """How much is shown."""
    return _BOARD.loudness


def duration(seconds: float) -> str:
    """Seconds for people.

    >>> duration(7.2), duration(200), duration(4000)
    ('7 s', '3 min 20 s', '1 h 7 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min"
