"""What doubles say about a question: a first guess for exact numbers, and bounds that these must lie in.

The bounds are those of the model of doubles. Each of its numbers is off from the text by a small factor, so the values
of both differ by at most about that factor to the power of twice the number of states (O'Cinneide, Entrywise
perturbation theory and error analysis for Markov chains, 1993), or of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...lang.source import GaltonError
from ...solve.settings import Settings
from ..gate import ImpossibleAnswerError
from ..quantity import Quantity
from .numbers import Number, nearest

__all__ = ["SETTINGS", "agree", "proposed"]

SETTINGS = Settings(eps=1e-9)
_ROUNDING = 2.0**-50  # of one number of the model, beside what was seen
_TINY = 1e-300  # where doubles vanish


def proposed(solve: Callable[[], Quantity]) -> Quantity | None:
    """What doubles say; None where they come to no answer."""
    try:
        found = solve()
    except GaltonError as error:
        if error.kind not in ("numeric", "limit"):
            raise
        return None
    return found if found.proved else None


def agree(values: Sequence[Number], found: Quantity | None, formula: str, deviation: float, length: int) -> None:
    """Raise an error where an exact value is outside of the bounds of doubles: one of the two is a mistake.

    ``deviation`` is the largest relative difference between the numbers of both models, ``length`` that of the longest
    way that matters: the number of states, or of steps.
    """
    slack = np.expm1(4.0 * length * (deviation + _ROUNDING))
    if found is None or not slack < 1:
        return
    exact = np.array([nearest(value) for value in values])
    low, high = found.lower, found.upper
    with np.errstate(invalid="ignore"):
        fine = (exact >= low - abs(low) * slack - _TINY) & (exact <= high + abs(high) * slack + _TINY)
    fine = np.where(np.isinf(exact) | np.isinf(high), (exact == low) & (exact == high), fine)
    if not fine.all():
        state = int(np.argmin(fine))
        raise ImpossibleAnswerError(
            f"{formula} is {float(exact[state])!r} in exact numbers in state number {state}, and doubles prove that it "
            f"is in [{float(low[state])!r}, {float(high[state])!r}]: this is a mistake of Galton, so there is no "
            "answer; please report it"
        )
