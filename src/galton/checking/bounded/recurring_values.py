"""What comes of more steps than can be made, where numbers come back to what they were: in exact fractions.

A small model often gets to numbers that a step no longer changes, or that come back after a few: then it does not
matter how many steps are still to be made, only their remainder. And where numbers have become nearly the same in all
states, no step leads away from that. Rows are taken to be distributions, whatever rounding did to their sums.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...backend.steps import Bellman, Chain, part_of
from ...device.arrays import on_host
from ...model.sparse import Mask, Model
from .question import BoundedQuestion, Floats

__all__ = ["recurring_bounds"]

SMALL = 20_000  # transitions that fractions are made of
LONGEST = 60  # steps after which numbers may come back


def recurring_bounds(ask: BoundedQuestion, keep: Mask, first: Floats, steps: int) -> tuple[Floats, Floats] | None:
    """Bound what so many steps make of the numbers ``first``, by steps after which the numbers come back.

    Only states of ``keep`` count; the others are zero. None where the model is too large, or nothing comes back soon.
    """
    model = ask.model.to_host()
    if model.n_transitions > SMALL:
        return None
    part = part_of(ask.model, keep, ask.threads)  # as the model has it: fractions are made of what comes out
    begun = min(ask.patience, steps)
    chain = (
        Bellman(part, part.of(first).copy(), None, ask.optimum == "max", ask.threads)
        if model.has_choices
        else Chain(part, part.of(first).copy(), threads=ask.threads)
    )
    done, faintest = 0, np.inf
    while done < begun:
        count = min(chain.batch, begun - done)
        seen = chain.advance(count, None)
        done, faintest = done + count, min(faintest, seen.faintest)
    if chain.lost(faintest) > 0:
        return None
    x, error = on_host(chain.x), chain.error(done)
    if part.n_states == model.n_states and x.max() - x.min() <= ask.settings.eps * x.min():
        every = np.ones(model.n_states)  # no step leads out of where the numbers are now
        return every * x.min() * (1 - error), every * x.max() * (1 + error)
    inside = np.arange(model.n_states) if part.states is None else on_host(part.states)
    start = [Fraction(0)] * model.n_states
    for state, value in zip(inside.tolist(), x.tolist(), strict=True):
        start[state] = Fraction(value)
    values = [start]
    rows = _rows(model)
    while len(values) <= LONGEST:
        values.append(_step(rows, set(inside.tolist()), values[-1], maximise=ask.optimum == "max"))
        if values[-1] == start:
            found = values[(steps - done) % (len(values) - 1)]
            room = Fraction(error) + Fraction(1, 2**52)
            bounds = [[float(value * (1 + sign * room)) for value in found] for sign in (-1, 1)]
            return np.array(bounds[0]), np.array(bounds[1])
    return None


def _rows(model: Model) -> list[list[dict[int, Fraction]]]:
    """The distributions of each state."""
    rows = []
    for state in range(model.n_states):
        weights = [{target: Fraction(value) for value, target in pairs} for _, pairs in model.transitions(state)]
        rows.append([{t: w / sum(row.values()) for t, w in row.items()} for row in weights])
    return rows


def _step(
    rows: list[list[dict[int, Fraction]]], inside: set[int], values: list[Fraction], *, maximise: bool
) -> list[Fraction]:
    best = max if maximise else min
    return [
        best(sum((p * values[t] for t, p in row.items()), Fraction(0)) for row in rows[s])
        if s in inside
        else Fraction(0)
        for s in range(len(rows))
    ]
