"""Answers in exact numbers, ``--exact``.

The model is explored as always; its numbers are then those of the text, as rationals (:mod:`.program_numbers`). Doubles
propose a strategy and values. Exact arithmetic proves or mends them, component by component (:mod:`.equations`,
:mod:`.policies`), and the answer must lie in the bounds of doubles (:mod:`.proposals`).
"""

from .answering import check_exactly, terminal_for_exact
from .choices import device_for_exact, refuse_beside_exact, refuse_without_answer

__all__ = [
    "check_exactly",
    "device_for_exact",
    "refuse_beside_exact",
    "refuse_without_answer",
    "terminal_for_exact",
]
