"""The last gate: what an answer may be, whoever found it.

Every quantity of every operator passes here, from every method and device. What cannot be an answer is an error, never
a number: a proof has a mistake in it then, and nobody may be told its result.
"""

from __future__ import annotations

import numpy as np

from ..device.arrays import how_many, namespace, on_host
from ..lang.source import GaltonError
from .quantity import Quantity

__all__ = ["ImpossibleAnswerError", "admit"]


class ImpossibleAnswerError(GaltonError):
    """Numbers that cannot be what was asked for."""

    kind = "numeric"


def admit(quantity: Quantity, formula: str, most: float, *, signed: bool = False) -> Quantity:
    """Return a quantity if it can be right; raise :class:`ImpossibleAnswerError` if not.

    Bounds are numbers that are not negative (nor -0, which is left over where a division went wrong) unless they are
    ``signed``, in order, at most ``most``, and infinite only in states for which graph analysis says so.
    """
    lower, upper = quantity.lower, quantity.upper
    ordered = lower <= upper  # false where either is no number
    if how_many(ordered) < len(ordered):
        raise _impossible("bounds that are out of order", quantity, formula, ~ordered)
    xp = namespace(lower)
    negative = xp.signbit(lower) | xp.signbit(upper)
    if how_many(negative) and not signed:
        raise _impossible("a number below zero", quantity, formula, negative)
    largest = float(upper.max()) if len(upper) else 0.0
    if largest > most:
        raise _impossible(f"more than {most:g}", quantity, formula, upper > most)
    if largest == np.inf:
        infinite = quantity.infinite
        expected = xp.zeros(len(upper), dtype=np.bool_) if infinite is None else infinite
        wrong = ((upper == np.inf) != expected) | ((lower == np.inf) != expected)
        if how_many(wrong):
            raise _impossible("an infinite bound of a finite number", quantity, formula, wrong)
    return quantity


def _impossible(what: str, quantity: Quantity, formula: str, where: np.ndarray) -> ImpossibleAnswerError:
    state = int(on_host(np.flatnonzero(where))[0])
    low, high = float(quantity.lower[state]), float(quantity.upper[state])
    return ImpossibleAnswerError(
        f"{formula} came out with {what} in state number {state}, [{low!r}, {high!r}] by {quantity.method}: this is a "
        "mistake of Galton, so there is no answer; please report it, and try --method interval"
    )
