"""Many objects at once, without Python's collector of cycles in between.

The collector looks at all objects there are each time some thousands were made. Trees have no cycles, and for a long
text it would take longer than everything else. What was made goes to the oldest objects right away, which the collector
looks at seldom: by the way of those it never looks at.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uncollected"]

MANY = 10_000  # new objects, from which on the collector would be slow


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector of cycles still; who finds it still leaves it so.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # Counting frozen objects means going over them: only where a collection would follow.
            if gc.get_count()[0] > max(MANY, gc.get_threshold()[0]) and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
