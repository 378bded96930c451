"""Expected rewards of small chains as fractions, for bounds that are met with equality."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...graph import bottom_components, forward_reachable
from ...model.sparse import Model
from ...model.values import Floats

__all__ = ["exact_rewards"]

MOST_STATES = 64  # fractions grow with every state that is eliminated
_ZERO = Fraction(0)


def exact_rewards(chain: Model, gains: Sequence[Floats]) -> tuple[Fraction, ...] | None:
    """Return the sums of each reward from the initial state; None for chains that are not small.

    Nothing may be gained in bottom components. Probabilities are divided by the sum of their row.
    """
    everywhere = np.ones(chain.n_states, dtype=np.bool_)
    first = np.zeros(chain.n_states, dtype=np.bool_)
    first[chain.initial[0]] = True
    inside = forward_reachable(chain, first, everywhere) & (bottom_components(chain).component < 0)
    states = [int(state) for state in np.flatnonzero(inside)]
    if len(states) > MOST_STATES:
        return None
    rows: dict[int, dict[int, Fraction]] = {}
    rewards = {state: [Fraction(float(gain[state])) for gain in gains] for state in states}
    for state in states:
        entries = slice(int(chain.row_starts[state]), int(chain.row_starts[state + 1]))
        values = [Fraction(float(value)) for value in chain.values[entries]]
        total = sum(values, _ZERO)
        rows[state] = {int(to): value / total for to, value in zip(chain.columns[entries], values, strict=True)}
    start = int(chain.initial[0])
    if start not in rows:
        return tuple(_ZERO for _ in gains)
    for state in sorted(states, key=lambda state: state == start):  # the initial one last
        row = rows.pop(state)
        loop = row.pop(state, _ZERO)
        row = {to: value / (1 - loop) for to, value in row.items()}
        own = [reward / (1 - loop) for reward in rewards[state]]
        if state == start:
            return tuple(own)
        for other, entries_of in rows.items():
            weight = entries_of.pop(state, _ZERO)
            if weight:
                rewards[other] = [a + weight * b for a, b in zip(rewards[other], own, strict=True)]
                for to, value in row.items():
                    entries_of[to] = entries_of.get(to, _ZERO) + weight * value
    raise AssertionError("the initial state was eliminated")
