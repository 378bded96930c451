"""Room for expressions that nest deeper than Python expects.

Programs that write models nest conditions hundreds deep, and a recursive descent spends several calls on each level.
Python's limit is there to protect the C stack, which calls from Python to Python have not used since 3.11.
"""

from __future__ import annotations

import sys
from types import TracebackType

from .source import LanguageError, Source, Span

LIMIT = 8_000


class DeepRecursion:
    """Raises Python's recursion limit for a while, and says in the user's words when that is still not enough."""

    def __init__(self, source: Source):
        self._source = source

    def __enter__(self) -> None:
        self._limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(self._limit, LIMIT))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.setrecursionlimit(self._limit)
        if isinstance(error, RecursionError):
            raise LanguageError("an expression is nested too deeply", self._source, Span(0, 0)) from None
