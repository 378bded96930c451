"""Values within a number of steps, computed with bounds: there is nothing that a certificate could add to the model.

The recursion is Bellman's: a step takes the mean over successors, and the best row of a state. Each mean is rounded
down for the lower numbers and up for the upper ones, so that both stay bounds whatever the number of steps; the best
of bounds is a bound of the best. Small problems are computed in integers, numbers being multiples of 2^-1300, so that
what a double can hold keeps its digits. Large ones are computed in doubles.
"""

from __future__ import annotations

import math

import numpy as np

from .numbers import Floats, Mask, Vector, dyadic
from .question import Question, UncertifiableError

__all__ = ["bounds_of_steps"]

BITS, MOST_BITS = 1300, 100_000
FEW, MANY = 4 * 10**6, 4 * 10**9  # products that are computed in integers, and in doubles
_UNIT, _TINY = 2.0**-52, 2.0**-1074


def bounds_of_steps(question: Question) -> tuple[Vector, Vector]:
    """Lower and upper bounds in all states."""
    steps = question.repeat + (question.within or 0)
    work = steps * len(question.rows.columns)
    if work > MANY:
        raise UncertifiableError(
            f"{steps:,} steps over {len(question.rows.columns):,} transitions are too many to repeat"
        )
    if work > FEW:
        return _in_doubles(question)
    lower, upper = _in_integers(question)
    initial = question.model.initial
    if ((lower.sign_from(0) == 0) & (upper.sign_from(0) > 0))[initial].any():  # what is tiny is still not nothing
        smallest = -math.floor(math.log2(question.rows.values.min())) + 1
        lower, upper = _in_integers(question, BITS + min(steps * smallest, MOST_BITS))
    return lower, upper


def _maximises(question: Question) -> bool:
    return (question.optimum == "max") != question.negated


def _in_integers(question: Question, bits: int = BITS) -> tuple[Vector, Vector]:
    rows, one, count = question.rows, 1 << bits, question.model.n_states
    weights: list[tuple[int, list[int], list[int], int]] = []
    for row in range(rows.count):
        columns, values = rows.entries(row)
        parts = [dyadic(value) for value in values]
        low = min(e for _, e in parts)
        whole = [m << (e - low) for m, e in parts]
        weights.append((int(rows.owner[row]), columns, whole, sum(whole)))
    earned = [sum(_scaled(float(gain[row]), bits) for gain in question.gains) for row in range(rows.count)]
    best = max if _maximises(question) else min

    def step(x: list[int], up: bool, earning: bool) -> list[int]:
        found: list[int | None] = [None] * count
        for row, (state, columns, whole, weight) in enumerate(weights):
            mean = sum(p * x[j] for p, j in zip(whole, columns, strict=True))
            mean = -(-mean // weight) if up else mean // weight
            mean += earned[row] if earning else 0
            before = found[state]
            found[state] = mean if before is None else best(before, mean)
        return [value for value in found if value is not None]

    goal, fail, through = _sets(question)
    answers: list[Vector] = []
    for up in (False, True):
        if question.within is not None:
            x = [one if at else 0 for at in goal]
        elif question.collects:
            x = [0] * count
        else:  # the reward of the state at the end, which all its rows have
            x = [0] * count
            for row, (state, *_) in enumerate(weights):
                x[state] = earned[row]
        for _ in range(question.within or 0):
            x = [one if g else 0 if f else y for g, f, y in zip(goal, fail, step(x, up, False), strict=True)]
        for _ in range(question.repeat):
            x = [y if t else 0 for t, y in zip(through, step(x, up, question.collects), strict=True)]
        answers.append(Vector([(one - value if question.negated else value, -bits) for value in x]))
    return (answers[1], answers[0]) if question.negated else (answers[0], answers[1])


def _sets(question: Question) -> tuple[list[bool], list[bool], list[bool]]:
    everywhere = np.ones(question.model.n_states, dtype=np.bool_)
    through: Mask = everywhere if question.through is None else question.through
    return question.goal.tolist(), question.fail.tolist(), through.tolist()


def _scaled(value: float, bits: int) -> int:
    """A double as a multiple of 2^-bits; doubles have 1074 bits after the point at most."""
    mantissa, exponent = dyadic(value)
    return mantissa << (exponent + bits)


def _in_doubles(question: Question) -> tuple[Vector, Vector]:
    """Bound the value after all steps in double precision, with the rounding added.

    The mean of n products, divided by the sum of n weights, has a relative error of at most (2n + 2)·2^-53 but for
    underflow, which takes at most n·2^-1075 from the sum (Higham 2002, section 4.2); (2n + 6)·2^-52 covers that and the
    rounding of the correction. A mean is also between the least and the greatest of its numbers: nothing is lost
    where they are the same.
    """
    rows, starts = question.rows, question.rows.starts[:-1]
    sizes = np.diff(rows.starts)
    weight = np.add.reduceat(rows.values, starts)
    firsts = np.searchsorted(rows.owner, np.arange(question.model.n_states))
    best = np.maximum if _maximises(question) else np.minimum
    relative, absolute = (2 * sizes + 6) * _UNIT, (2 * sizes + 6) * _TINY * np.maximum(1.0, 2.0 / weight)

    def step(x: Floats, up: bool, earning: bool) -> Floats:
        there = x[rows.columns]
        mean = np.add.reduceat(rows.values * there, starts) / weight
        if up:
            mean = np.minimum(mean * (1 + relative) + absolute, np.maximum.reduceat(there, starts))
        else:
            mean = np.maximum(mean * (1 - relative) - absolute, np.minimum.reduceat(there, starts))
        if earning:
            mean = _added(mean, question, up)
        return best.reduceat(mean, firsts)

    through = np.ones(len(firsts), dtype=np.bool_) if question.through is None else question.through
    answers: list[Floats] = []
    for up in (False, True):
        if question.within is not None:
            x = question.goal.astype(np.float64)
        elif question.collects:
            x = np.zeros(len(firsts))
        else:
            x = _added(np.zeros(rows.count), question, up)[firsts]
        for _ in range(question.within or 0):
            x = np.where(question.goal, 1.0, np.where(question.fail, 0.0, step(x, up, False)))
        for _ in range(question.repeat):
            x = np.where(through, step(x, up, question.collects), 0.0)
        if question.negated:
            x = np.where(
                x == 0, 1.0, np.where(x == 1, 0.0, np.clip(np.nextafter(1 - x, -np.inf if up else np.inf), 0, 1))
            )
        answers.append(x)
    lower, upper = (Vector.of_doubles(x) for x in (answers if not question.negated else answers[::-1]))
    return lower, upper


def _added(numbers: Floats, question: Question, up: bool) -> Floats:
    """Numbers per row and what the rows earn, rounded outwards."""
    for gain in question.gains:
        rounded = np.nextafter(numbers + gain, np.inf if up else -np.inf)
        numbers = np.where(gain == 0, numbers, np.where(numbers == 0, gain, rounded))
    return numbers
