"""Numbers of steps that nobody can make one by one: how long to hope that they need not be made."""

from __future__ import annotations

from ..lang.source import GaltonError

__all__ = ["TooManyStepsError", "be_patient", "patience"]

MOST_WORK = 1e14  # entries and rows that steps may go over in all: a day or two
SOME_WORK = 2e9  # and that many more steps may go over, in the hope of an early end: seconds
SOME_STEPS = 3 * 10**6  # likewise: a step takes some time, however small the model


class TooManyStepsError(GaltonError):
    """A number of steps beyond what can be made, where no early end was found."""

    kind = "limit"


def patience(entries: int, rows: int) -> int:
    """How many steps to make of too many, each over so much of a matrix."""
    return max(100, int(min(SOME_WORK / _work(entries, rows), SOME_STEPS)))


def be_patient(done: int, steps: int, entries: int, rows: int) -> None:
    """Give up after some steps, where there are more than can ever be made."""
    if done >= patience(entries, rows) and (steps - done) * _work(entries, rows) > MOST_WORK:
        raise TooManyStepsError(
            f"{steps:.3g} steps are too many to be made one by one, and after {done:,} of them it is not settled what "
            "the others come to; ask for fewer steps, or without a bound"
        )


def _work(entries: int, rows: int) -> int:
    return entries + 3 * rows + 1
