"""What a strategy for several objectives is worth: the chain that it leaves, asked for each of them.

The question takes its usual way, which shares neither the arena nor its equations. Formulas inside an objective are
about the MDP, as they are for the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...model.sparse import Mask
from ...solve.settings import Settings
from ..evaluation import Evaluation
from ..strategies.strategy_value import StrategyMistakeError
from .mixtures import MemoryStrategy, Worth
from .objectives import Objective

__all__ = ["require_worth"]


@dataclass(eq=False)
class _Followed(Evaluation):
    """Formulas over the chain of a strategy; those inside an operator mean what they mean in the MDP."""

    mdp: Evaluation | None = None
    places: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def mask(self, expression: object) -> Mask:
        assert self.mdp is not None
        return self.mdp.mask(expression)[self.places]  # type: ignore[arg-type]


def require_worth(
    strategy: MemoryStrategy, objectives: Sequence[Objective], promised: Sequence[Worth], evaluation: Evaluation
) -> None:
    """Raise :class:`StrategyMistakeError` unless the chain of a strategy has the numbers that were promised."""
    asked = evaluation.settings
    settings = Settings(eps=min(asked.eps, 1e-6), threads=asked.threads, watch=asked.watch)
    chain = strategy.induced()
    followed = _Followed(chain, evaluation.program, evaluation.source, settings, mdp=evaluation, places=strategy.states)
    for objective, worth in zip(objectives, promised, strict=True):
        found = followed.numbers(replace(objective.formula, optimum=None, comparison=None))
        low, high = (
            float(np.broadcast_to(bound, chain.n_states)[strategy.initial]) for bound in (found.lower, found.upper)
        )
        # Choices at random share probabilities, which are rounded once more.
        room = 1e-9 * max(abs(low), abs(high))
        if not (low <= worth.upper + room and high >= worth.lower - room):
            raise StrategyMistakeError(
                f"the strategy that was found has [{low:.9g}, {high:.9g}] for {objective.text}, and should have "
                f"[{worth.lower:.9g}, {worth.upper:.9g}]; this is a mistake of Galton, and the answer stands without "
                "the strategy: ask for it alone"
            )
