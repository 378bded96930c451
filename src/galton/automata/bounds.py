"""Temporal operators with bounds on the number of steps, unrolled.

``a U[l,h] b`` says that b holds after i steps for some i from l to h, and a before. Unrolled from the inside out,
``b | a & X (b | a & X (…))``, every level is one shared node, so that a bound of k steps makes a formula of about k
nodes. The states of an automaton know only which ``X … X b`` still count: ``G (a => F<=k b)`` has k + 2 of them.
"""

from __future__ import annotations

from .formula import Formula
from .simplification import conjunction, disjunction, negation, next_step, release, until, weak_until

LARGEST_BOUND = 1_000  # an automaton of as many states is made in seconds, and the time grows with the square


def bounded_until(left: Formula, right: Formula, low: int = 0, high: int | None = None) -> Formula:
    """Return ``a U[low,high] b``; without ``high``, ``a U>=low b``."""
    if high is None:
        found = until(left, right)
    else:
        found = right
        for _ in range(high - low):
            found = disjunction((right, conjunction((left, next_step(found)))))
    for _ in range(low):
        found = conjunction((left, next_step(found)))
    return found


def bounded_weak_until(left: Formula, right: Formula, low: int = 0, high: int | None = None) -> Formula:
    """Return ``a W[low,high] b``: as PRISM has it, not ``(a & !b) U[low,high] (!a & !b)``."""
    if (low, high) == (0, None):
        return weak_until(left, right)
    neither = conjunction((negation(left), negation(right)))
    return negation(bounded_until(conjunction((left, negation(right))), neither, low, high))


def bounded_release(left: Formula, right: Formula, low: int = 0, high: int | None = None) -> Formula:
    """Return ``a R[low,high] b``: not ``!a U[low,high] !b``."""
    if (low, high) == (0, None):
        return release(left, right)
    return negation(bounded_until(negation(left), negation(right), low, high))
