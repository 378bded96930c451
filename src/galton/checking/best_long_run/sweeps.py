"""Gains of end components by value iteration (White 1963; Puterman 1994, section 8.5), all components together.

Components may be periodic, and then steps alone go round for ever. The mean of two successive vectors every few steps
is what the usual change of the model does, a loop in every state, at less than its price.
"""

from __future__ import annotations

import numpy as np

from ...backend.steps import Bellman, part_of
from ...device.arrays import namespace
from ...model.errors import NumericError
from ...model.values import Floats
from ..unbounded.rewards import rewards_by_row
from .proof import Proof

__all__ = ["Iteration"]

ROUND = 8  # steps, after which a mean is taken
MOST_ROUNDS = 64  # between two proofs
AT_LEAST = 100  # steps, before which nobody knows how long it will take


class Iteration:
    """Value iteration that goes on where it was."""

    def __init__(self, proof: Proof) -> None:
        self.proof, inside = proof, proof.inside
        settings = proof.settings
        threads = settings.n_threads
        constant = rewards_by_row(inside.model, inside.reward)
        part = part_of(inside.model, None, threads)
        self._bellman = Bellman(part, proof.high.copy(), constant, proof.maximise, threads)
        self._first = inside.starts[:-1]
        self.sweeps = 0

    def run(self, patience: int) -> None:
        """Go on until all bounds are close, or it seems to take more sweeps than that for some."""
        proof, rounds, begun, limit = self.proof, 1, self.sweeps, self.sweeps + patience
        before = proof.excess
        while True:
            proof.attempt(self.advance(rounds))
            now = proof.excess
            wide = ~(now <= 1)
            if not wide.any():
                return
            seen = self.sweeps - begun >= AT_LEAST
            if seen and self.sweeps + _remaining(before[wide], now[wide], ROUND * rounds) > limit:
                return
            before, rounds = now, min(2 * rounds, MOST_ROUNDS)

    def look_ahead(self, h: Floats, rounds: int) -> Floats:
        """What becomes of a vector after some rounds."""
        self._bellman.x = h.copy()
        return self.advance(rounds)

    def advance(self, rounds: int) -> Floats:
        """The vector after some more rounds."""
        for _ in range(rounds):
            self._round()
        return self._bellman.x

    def _round(self) -> None:
        bellman, settings = self._bellman, self.proof.settings
        bellman.advance(ROUND - 1)
        before = bellman.x.copy()
        bellman.advance(1)
        x = (bellman.x + before) / 2
        # Only differences within a component matter.
        x -= x[self._first] if len(self._first) == 1 else x[self._first][self.proof.inside.component]
        bellman.x = x
        self.sweeps += ROUND
        settings.tell(step="long run", sweeps=self.sweeps)
        most = settings.max_iterations
        if most is not None and self.sweeps > most:
            raise NumericError(f"the long-run average has not converged within {most:,} sweeps; raise --max-iterations")


def _remaining(before: Floats, now: Floats, sweeps: int) -> float:
    """How many more sweeps the slowest of the components seems to take, if it goes on as in the last ones."""
    xp = namespace(now)
    with np.errstate(invalid="ignore", divide="ignore"):
        pace = xp.log(before / now) / sweeps
        left = xp.where(pace > 0, xp.log(now) / pace, np.inf)
    return float(left.max())
