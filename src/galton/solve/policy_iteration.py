"""Policy iteration with direct solves (Howard 1960): for reachability in chains and small MDPs.

Requires: the probabilities 0 and 1 are known; the first strategy leaves the undecided states with probability 1.
Guarantees: the optimum within 1e-6. In a chain it is one linear solve. The rounding of a solution is at most the
residual times the expected number of steps until the undecided states are left, which a second right-hand side gives;
where that is too much the answer is refused.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..lang.source import GaltonError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]

ACCURACY = 1e-6
ROUNDING = 64 * 2.0**-53  # of a row of the residual: a few operations on numbers up to 1
IMPROVEMENT = 1e-12  # relative; a smaller one is rounding and could make the iteration circle
DENSE = 300  # unknowns up to which a dense solve is quicker than importing SciPy


class InaccurateError(GaltonError):
    """A system so badly conditioned that the digits of its solution cannot be trusted."""

    kind = "numeric"


def policy_iteration(
    row_starts: Integers,
    columns: Integers,
    probabilities: Floats,
    choice_starts: Integers,
    known: Floats,
    strategy: npt.NDArray[np.int64],
    optimum: Literal["min", "max"],
) -> tuple[Floats, int]:
    """Solve x = opt Ax over the choices of each state.

    Parameters
    ----------
    row_starts, columns, probabilities
        The matrix, a row per choice, compressed by rows.
    choice_starts
        ``(states + 1,)`` where the choices of each state begin.
    known
        ``(states,)`` the value of each state, NaN where it is sought.
    strategy
        ``(states,)`` the choice of each state to begin with.

    Returns
    -------
    The values of all states, and the number of strategies tried.
    """
    unknown = np.flatnonzero(np.isnan(known))
    values = known.copy()
    sign = 1.0 if optimum == "max" else -1.0
    # What a strategy may be off: its rounding and, where there is a choice, improvements too small to be taken.
    per_step = ROUNDING + (IMPROVEMENT if len(row_starts) > len(choice_starts) else 0.0)
    tried = 0
    while unknown.size:
        tried += 1
        values[unknown], steps = _solve(row_starts, columns, probabilities, known, unknown, strategy[unknown])
        if not (steps.min() >= 1 - ACCURACY and steps.max() * per_step <= ACCURACY):
            raise InaccurateError(
                f"about {abs(steps).max():.1g} steps are expected before this is decided, too many for a direct solver"
            )
        scores = sign * np.add.reduceat(probabilities * values[columns], row_starts[:-1])
        best = np.maximum.reduceat(scores, choice_starts[:-1])[unknown]
        better = best > scores[strategy[unknown]] + IMPROVEMENT * np.abs(best)
        if not better.any():
            break
        for state, score in zip(unknown[better], best[better], strict=True):
            choices = scores[choice_starts[state] : choice_starts[state + 1]]
            strategy[state] = choice_starts[state] + int(np.argmax(choices == score))
    return values, tried


def _solve(
    row_starts: Integers, columns: Integers, probabilities: Floats, known: Floats, unknown: Integers, rows: Integers
) -> tuple[Floats, Floats]:
    """The values of the unknown states when each takes the given row, and the expected steps until one is known."""
    lengths = row_starts[rows + 1] - row_starts[rows]
    owner = np.repeat(np.arange(unknown.size), lengths)
    entries = np.arange(lengths.sum()) + np.repeat(row_starts[rows] - (np.cumsum(lengths) - lengths), lengths)
    position = np.full(known.size, -1)
    position[unknown] = np.arange(unknown.size)
    target, value = position[columns[entries]], probabilities[entries]
    inside = target >= 0
    constant = np.zeros(unknown.size)
    np.add.at(constant, owner[~inside], value[~inside] * known[columns[entries[~inside]]])
    row, column, value = owner[inside], target[inside], value[inside]
    right = np.stack([constant, np.ones(unknown.size)], axis=1)
    if unknown.size <= DENSE:
        system = np.eye(unknown.size)
        np.subtract.at(system, (row, column), value)
        with suppress(np.linalg.LinAlgError):  # singular to working precision
            right = np.asarray(np.linalg.solve(system, right), dtype=np.float64)
    else:
        from scipy.sparse import csc_array, eye_array
        from scipy.sparse.linalg import splu

        matrix = csc_array((value, (row, column)), shape=(unknown.size, unknown.size))
        with suppress(RuntimeError):  # likewise
            right = splu((eye_array(unknown.size, format="csc") - matrix).tocsc()).solve(right)
    return right[:, 0], right[:, 1]
