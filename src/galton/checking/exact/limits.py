"""How far exact arithmetic goes: numbers grow with every step, and somebody is waiting."""

from __future__ import annotations

import time

from ...backend.failures import LimitError

__all__ = ["MOST_BITS", "MOST_TRANSITIONS", "PATIENCE", "Watchman", "check_size"]

MOST_TRANSITIONS = 5_000_000  # whose numbers are found one by one, in Python
MOST_BITS = 1 << 33  # of all numbers of a component together
PATIENCE = 300.0  # seconds for a property


def check_size(transitions: int) -> None:
    """Refuse models whose numbers alone would take minutes to find."""
    if transitions > MOST_TRANSITIONS:
        raise LimitError(
            f"the model has {transitions:,} transitions, and exact numbers are for at most {MOST_TRANSITIONS:,}; "
            "choose smaller constants, or ask without --exact for an answer with bounds"
        )


class Watchman:
    """Ends what takes longer than anybody waits."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience, self._end = patience, time.monotonic() + patience

    def look(self) -> None:
        """Raise an error if time is up."""
        if time.monotonic() > self._end:
            raise LimitError(
                f"the exact answer takes longer than the {self._patience:.0f} s that are its limit: numbers grow with "
                "the number of states that lead to each other; choose smaller constants, or ask without --exact for "
                "an answer with bounds"
            )
