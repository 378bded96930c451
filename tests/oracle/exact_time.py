"""Answers about real time in CTMCs, by the exponential of the generator matrix in integers of many digits.

Numbers are whole multiples of 2**-BITS. Scaling and squaring with a Taylor series is the textbook method that is too
dear for large models and too simple to be wrong for small ones; what it loses is far below anything compared here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction

import exact_chains as chains
import numpy as np
from exact import Exact, Rewards, Vector

BITS = 640
ONE = 1 << BITS


def fixed(value: Fraction) -> int:
    """The multiple of 2**-BITS below."""
    return value.numerator * ONE // value.denominator


def exponential(matrix: Sequence[Sequence[Fraction]], time: Fraction) -> np.ndarray:
    """exp(matrix · time), as an array of Python integers."""
    scaled = [[value * time for value in row] for row in matrix]
    norm = max(sum(map(abs, row)) for row in scaled)
    squarings = max(0, math.ceil(norm).bit_length() + 3)
    small = np.array([[fixed(value / 2**squarings) for value in row] for row in scaled], dtype=object)
    term = np.array([[ONE if i == j else 0 for j in range(len(scaled))] for i in range(len(scaled))], dtype=object)
    result = term.copy()
    count = 1
    while np.any(term):
        term = (term.dot(small) >> BITS) // count
        term[np.equal(term, -1)] = 0  # the floor of a tiny negative number
        result = result + term
        count += 1
    for _ in range(squarings):
        result = result.dot(result) >> BITS
    return result


def transient(chain: Exact, absorbing: Collection[int], time: Fraction, values: Sequence[Fraction]) -> Vector:
    """In each state, the mean of ``values`` in the state where the chain is at a time, with some states made final."""
    return accumulated(chain, absorbing, time, values, [Fraction(0)] * len(values))


def accumulated(
    chain: Exact, absorbing: Collection[int], time: Fraction, final: Sequence[Fraction], rate: Sequence[Fraction]
) -> Vector:
    """The mean of ``final`` at a time plus what ``rate`` has earned until then: a column more in the exponential."""
    size = len(chain.rows)
    matrix = [[Fraction(0)] * (size + 1) for _ in range(size + 1)]
    for s in chain.states - frozenset(absorbing):
        matrix[s][s] = -chain.exit_rates[s]
        for target, probability in chain.rows[s][0].items():
            matrix[s][target] += probability * chain.exit_rates[s]
    for s in chain.states:
        matrix[s][size] = rate[s]
    result = exponential(matrix, time)
    column = [sum(int(result[s][t]) * final[t] for t in range(size)) for s in range(size)]
    return [Fraction(column[s] + int(result[s][size]), ONE) for s in range(size)]


def timed_until(
    chain: Exact, through: Collection[int], goal: Collection[int], low: Fraction, high: Fraction | None
) -> Vector:
    """P [ through U[low,high] goal ]; a high of None is infinity.

    Until ``low`` the path stays in ``through``; a jump at ``low`` itself has no chance. From there the goal is due
    within what is left.
    """
    through, goal = frozenset(through), frozenset(goal)
    if high is None:
        later = chains.until(chain, through, goal)
    elif high < low:
        later = [Fraction(0)] * len(chain.rows)
    else:
        failed = chain.states - through - goal
        later = transient(chain, goal | failed, high - low, [Fraction(s in goal) for s in range(len(chain.rows))])
    if low == 0:
        return later
    kept = [Fraction(x) if s in through else Fraction(0) for s, x in enumerate(later)]
    values = transient(chain, chain.states - through, low, kept)
    return [x if s in through else Fraction(0) for s, x in enumerate(values)]


def cumulative(chain: Exact, rewards: Rewards, time: Fraction) -> Vector:
    """R [ C<=time ]."""
    earned = [rewards.total(s) for s in range(len(chain.rows))]
    return accumulated(chain, (), time, [Fraction(0)] * len(chain.rows), earned)


def instantaneous(chain: Exact, rewards: Rewards, time: Fraction) -> Vector:
    """R [ I=time ]: the reward of the state then."""
    return transient(chain, (), time, rewards.state)
