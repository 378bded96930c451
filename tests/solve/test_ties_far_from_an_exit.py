"""Rows that are worth the same, many steps from an exit: what rounding adds up to must not decide between them.

On the way to an exit a slow walk takes κ steps, and so many roundings add up in what it is worth, smoothly from state
to state. Another row that is worth exactly the same then looks better or worse by that, strategies change for ever, and
bounds of all rows are κ times wider than that. Least expected steps of symmetric MDPs were such questions: the shared
coin of 20 processes had no answer in 20 minutes.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import galton
from galton import _core
from galton.backend.protocol import Span

CONSENSUS = Path(__file__).parents[2] / "models" / "consensus.prism"


def line(n: int, skew: float) -> tuple[_core.System, np.ndarray]:
    """Expected steps of a walk on a line that leaves at its end only: n unknowns, of one row each, as an MDP's."""
    starts, columns, values = [0], [], []
    for s in range(n):
        ways = [(max(s - 1, 0), 0.5 + skew), (s + 1, 0.5 - skew)]
        for to, part in ways:
            if to == s:
                continue
            if to < n:
                columns.append(to)
                values.append(part)
        starts.append(len(columns))
    scale = np.ones(n)
    scale[0] = 1 / (0.5 - skew)  # a loop that was divided out
    constant = np.ones(n)
    constant[0] = scale[0]
    groups = np.arange(n + 1, dtype=np.int32)
    matrix = _core.Matrix(
        groups, np.array(starts, dtype=np.int32), np.array(columns, dtype=np.int32), np.array(values), None
    )
    return _core.System(matrix, scale, constant, -1), constant


def steps(n: int, skew: float) -> list[Fraction]:
    """The same in fractions: x(s) - x(s+1) from the other end on."""
    down, up = Fraction(0.5 + skew), Fraction(0.5 - skew)
    difference = [1 / (Fraction(1 / (0.5 - skew)) ** -1)]
    for _ in range(1, n):
        difference.append((1 + down * difference[-1]) / up)
    found = [Fraction(0)]
    for d in reversed(difference):
        found.append(found[-1] + d)
    return found[:0:-1]


@pytest.mark.parametrize(("n", "skew"), [(200, 0.0), (400, 0.0), (30, 0.125)])
def test_strategies_are_evaluated_to_the_last_digit(n: int, skew: float) -> None:
    system, _ = line(n, skew)
    exact = np.array([float(number) for number in steps(n, skew)])
    chosen, off = np.arange(n, dtype=np.int32), {}
    for fine in (False, True):
        x = np.ones(n)
        system.solve_induced(x, chosen, Span(0, n, 1), 1e-15, fine=fine)
        off[fine] = float(np.abs(x / exact - 1).max())
    assert off[True] <= 3e-16
    assert off[False] > 10 * off[True], "otherwise this tells nothing"


@pytest.mark.parametrize(("n", "eps"), [(8, 3e-9), (10, 1e-8)])
def test_ties_are_no_reason_for_longer_numbers(n: int, eps: float) -> None:
    """It took seconds with 8 processes, and minutes with 10: strategies were improved by what was no improvement."""
    found = galton.check(CONSENSUS, 'R{"steps"}min=? [ F "finished" ]', N=n, K=2, eps=eps)
    assert found.lower <= 12 * n**2 <= found.upper
    assert found.upper - found.lower <= 2 * eps * found.upper
    assert not any("longer numbers" in work.detail for work in found.work)
