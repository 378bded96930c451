"""The gain of one end component by policy iteration (Howard 1960; Haviv and Puterman 1991 for what communicates).

Value iteration creeps where a component is hard to cross. The bias of a strategy is found by the methods for chains,
which do not mind, and the bias of the best strategy proves its gain. A strategy that ends in several places is led to
the best of them first: in an end component there is always a way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...backend.chain import Chain
from ...backend.cpu.matrix import matrix_of
from ...device.arrays import offsets
from ...graph import Components, attractor, bottom_components, can_reach
from ...model.errors import NumericError
from ...model.sparse import Int32s, Mask, Model
from ...model.values import Floats
from ...reduce.submodels import entries_of, picked, with_rows
from ...solve.direct.elimination import average, averages
from ...solve.long_run import bias_of
from ..unbounded.rewards import rewards_by_row
from .proof import Proof
from .sweeps import Iteration

__all__ = ["improve", "led_home"]

MOST = 60  # strategies …
IN_VAIN = 8  # … and those in a row that narrow no bound
LOOK_AHEAD = 32  # rounds of value iteration between two of them
PARTS = 16  # places that a strategy may end in, of which the best is sought exactly
SMALL = 100  # states up to which elimination is done with a dense matrix


def improve(proof: Proof) -> int:
    """Narrow the bounds of a single component, from the strategy that they have; the sweeps that it took."""
    rows, sweeps, iteration = proof.policy(), 0, Iteration(proof)
    excess, narrowed = float(proof.excess[0]), 0
    for count in range(MOST):
        if proof.excess[0] < excess:
            excess, narrowed = float(proof.excess[0]), count
        if count - narrowed > IN_VAIN:
            break
        rows, home = led_home(proof, rows)
        try:
            high, low, done = _evaluate(proof, rows, home)
        except NumericError:
            break
        sweeps += done
        if not proof.open.any():
            break
        # A strategy that looks further ahead than one step is as good, and saves many of those to come.
        ahead = iteration.look_ahead(high + low, LOOK_AHEAD)
        proof.attempt(ahead)
        if not proof.open.any():
            break
        better = _better(proof, rows, *proof.drift(ahead))
        if better is None:
            better = _better(proof, rows, *proof.drift(high, low))
        if better is None:
            break
        rows = better
    return sweeps + iteration.sweeps


def _better(proof: Proof, rows: Int32s, below: Floats, above: Floats) -> Int32s | None:
    """The best rows by their drift where they are better for certain, the others as they are; None where none is.

    What is only as good may lead round in circles.
    """
    worth = below if proof.maximise else above
    best = proof.best_rows(worth)
    better = worth[best] > above[rows] if proof.maximise else worth[best] < below[rows]
    return np.where(better, best, rows).astype(np.int32) if better.any() else None


def led_home(proof: Proof, rows: Int32s) -> tuple[Int32s, Mask]:
    """A strategy that ends in one place wherever it begins, the best of those where the given one ends; and where."""
    model = proof.inside.model
    chain = replace(with_rows(model, rows, None), type="dtmc")
    ends = bottom_components(chain)
    home = ends.component == _best_end(proof, chain, rows, ends)
    if ends.count == 1:
        return rows, home
    # Those that may come to the best place keep their way; the others take one that gets closer to it.
    everywhere = np.ones(model.n_states, dtype=np.bool_)
    comes = can_reach(chain, everywhere, home)
    return np.where(comes, rows, attractor(model, ~home, home)).astype(np.int32), home


def _best_end(proof: Proof, chain: Model, rows: Int32s, ends: Components) -> int:
    """The bottom component with the best gain, roughly."""
    if ends.count == 1:
        return 0
    below, above = proof.drift(proof.high, proof.low)
    worth = (below if proof.maximise else above)[rows]
    members = ends.order
    reduce = np.minimum if proof.maximise else np.maximum
    sure: Floats = reduce.reduceat(worth[members], ends.starts[:-1])
    sign = 1.0 if proof.maximise else -1.0
    likely = np.argsort(-sign * sure, kind="stable")[:PARTS]
    earned = rewards_by_row(proof.inside.model, proof.inside.reward)[rows]
    gains = [_gain(proof, chain, earned, ends.states(int(k)), float(sure[k])) for k in likely]
    return int(likely[np.argmax(sign * np.array(gains))])


def _gain(proof: Proof, chain: Model, earned: Floats, members: Int32s, otherwise: float) -> float:
    """The gain of one bottom component, by elimination; or something else where that takes too long."""
    try:
        if len(members) <= SMALL:
            low, high = averages(matrix_of(chain), earned, members, np.array([0, len(members)]))
            return float(low[0] + high[0]) / 2 if np.isfinite(high[0]) else otherwise
        part = _chain(chain, members)
        return sum(average(part.matrix, earned[members], proof.settings)) / 2
    except NumericError:
        return otherwise


def _chain(chain: Model, members: Int32s) -> Chain:
    """Some states of a chain that it does not leave, in this order."""
    position = np.empty(chain.n_states, dtype=np.int32)
    position[members] = np.arange(len(members), dtype=np.int32)
    entries, lengths = entries_of(chain, members)
    return Chain(offsets(lengths), position[chain.columns[entries]], picked(chain.values, entries), None, None)


def _evaluate(proof: Proof, rows: Int32s, home: Mask) -> tuple[Floats, Floats, int]:
    """The two parts of the bias of a strategy, and the sweeps it took; every guess on the way narrows the bounds."""
    inside = proof.inside
    # The states where the strategy ends come first, because the methods begin there.
    order = np.concatenate([np.flatnonzero(home), np.flatnonzero(~home)]).astype(np.int32)
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    state, choice = inside.reward.state, inside.reward.choice
    chain = replace(
        _chain(with_rows(inside.model, rows, None), order),
        state=None if state is None else state[order],
        choice=None if choice is None else choice[rows[order]],
    )

    def seen(high: Floats, low: Floats) -> None:
        proof.attempt(high[position], low[position])

    high, low, sweeps = bias_of(chain, proof.settings.tighter(4), seen)
    return high[position], low[position], sweeps
