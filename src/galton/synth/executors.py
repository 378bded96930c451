"""Boxes looked at by the workers of any ``concurrent.futures`` executor: threads, processes, other machines.

What travels is the inquiry, which is text, and the corners of boxes; bounds come back. A worker builds the model the
first time it is asked and keeps it, one for each of its threads, as an evaluator is for one thread. Boxes go in
portions of a fixed size, so that which boxes are looked at together does not depend on the number of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..workers import in_order
from .evaluator import Evaluator
from .inquiry import Inquiry
from .placement import Place
from .polynomials import Floats

PORTION = 16  # boxes: two bundles of those that are looked at side by side

__all__ = ["SharedEvaluator"]

_own = threading.local()


@dataclass(eq=False)
class SharedEvaluator:
    """Bounds by the workers of an executor; see :class:`.Evaluator`. ``local`` knows the space and the model.

    ``threads`` is how many each worker uses.
    """

    local: Evaluator
    inquiry: Inquiry
    executor: Executor
    threads: int = 1
    watch: Callable[[], None] | None = None
    boxes: int = 0
    steps: int = 0
    place: Place = field(init=False)

    def __post_init__(self) -> None:
        self.place = self.local.place

    @property
    def model(self) -> object:
        """What is looked at."""
        return self.local.model

    @property
    def space(self) -> tuple[Floats, Floats]:
        """The corners of the ranges of the parameters."""
        return self.local.space

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """``(boxes,)`` bounds that hold at all points of each box, whose corners are ``(boxes, parameters)``."""
        portions = [slice(first, first + PORTION) for first in range(0, len(low), PORTION)]
        asked = [partial(_bounds, self.inquiry, self.threads, low[some], high[some]) for some in portions]
        found = list(in_order(asked, self.executor, watch=self.watch))
        self.boxes += sum(boxes for _, _, boxes, _ in found)
        self.steps += sum(steps for _, _, _, steps in found)
        return np.concatenate([lower for lower, _, _, _ in found]), np.concatenate([upper for _, upper, _, _ in found])


def _bounds(inquiry: Inquiry, threads: int, low: Floats, high: Floats) -> tuple[Floats, Floats, int, int]:
    """What a worker does: bounds, and what they took in boxes and steps."""
    evaluator = _evaluator(inquiry, threads)
    boxes, steps = evaluator.boxes, evaluator.steps
    lower, upper = evaluator.bounds(low, high)
    return lower, upper, evaluator.boxes - boxes, evaluator.steps - steps


def _evaluator(inquiry: Inquiry, threads: int) -> Evaluator:
    """The evaluator that this thread of this worker made for an inquiry; the last one is kept."""
    if getattr(_own, "asked", None) != (inquiry, threads):
        from .api import Synthesis

        _own.evaluator = Synthesis.of(inquiry, device="cpu", threads=threads).evaluator
        _own.asked = inquiry, threads
    found: Evaluator = _own.evaluator
    return found
