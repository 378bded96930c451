"""How much of everything a page may have."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

__all__ = ["MIB", "Limits"]

MIB = 1 << 20


def _half_of_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds on sizes, times and numbers.

    Attributes
    ----------
    message_bytes, text_bytes
        The longest message that is read from a page, and the longest file or text in an editor.
    seconds, memory_bytes
        For one question; who takes more is ended. None for no end of time.
    light_seconds
        The same for what an editor asks while somebody types.
    questions, waiting
        Questions that are answered at once, of all pages together, and that may wait on one page.
    pages
        How many may be open.
    idle_seconds
        After which a page that asks nothing is closed.
    stuck_seconds
        After which a page is closed that does not read what it is sent.
    graph_states, page_states
        States of a graph that is drawn, and of one page of a table.
    files
        How many a project folder may show.
    """

    message_bytes: int = 16 * MIB
    text_bytes: int = 8 * MIB
    seconds: float | None = 600.0
    memory_bytes: int = field(default_factory=_half_of_memory)
    light_seconds: float = 30.0
    questions: int = field(default_factory=lambda: max(4, len(os.sched_getaffinity(0))))
    waiting: int = 32
    pages: int = 16
    idle_seconds: float = 3600.0
    stuck_seconds: float = 20.0
    graph_states: int = 2000
    page_states: int = 1000
    files: int = 2000

    def told(self) -> dict[str, object]:
        """Those that a page has to know."""
        return {
            "message_bytes": self.message_bytes,
            "text_bytes": self.text_bytes,
            "seconds": self.seconds,
            "memory_bytes": self.memory_bytes,
            "questions": self.questions,
            "waiting": self.waiting,
            "graph_states": self.graph_states,
            "page_states": self.page_states,
        }
