"""What is tried where no proposal can be proved: components that are hard to leave.

For a chain, elimination without subtraction, whose error is known beforehand however badly conditioned the chain is
(``src/core/solve/eliminate.hpp``). For an MDP the same around policy iteration, with numbers as long as it takes. Then
interval iteration, which needs nothing but time. Only when all have failed is there no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .. import _core
from ..backend.cpu.matrix import matrix_of
from ..model.values import Floats
from .elimination import carry_through
from .equations import Equations, Int32s, Segment
from .settings import Settings
from .solution import TINY, NumericError

__all__ = ["solve_directly"]

SWEPT, SWEEPS = 4e9, 50_000  # entries and sweeps, after which interval iteration has taken long enough


def solve_directly(
    equations: Equations, segment: Segment, chosen: Int32s | None, lower: Floats, upper: Floats, settings: Settings
) -> str:
    """Write bounds of the unknowns of a segment, and rows that attain them; returns what gave them.

    Parameters
    ----------
    chosen
        ``(unknowns,)`` the rows taken; None for a chain.
    lower, upper
        ``(unknowns,)`` bounds; those of earlier unknowns are used.

    Raises
    ------
    NumericError
        Where nothing helps; it names the states and what was tried.
    """
    direct = _eliminated if chosen is None else _with_longer_numbers
    attempts: tuple[tuple[str, Callable[..., None]], ...] = (
        ("elimination" if chosen is None else "policy iteration with longer numbers", direct),
        ("interval iteration", _by_intervals),
    )
    failures = []
    number = equations.origin.number
    states = np.flatnonzero((number >= segment.first) & (number < segment.last))
    for name, attempt in attempts:
        try:
            attempt(equations, segment, chosen, lower, upper, settings)
            _insist(lower[segment.first : segment.last], upper[segment.first : segment.last], settings)
            return name
        except _TooLargeError as error:
            raise NumericError(str(error), states) from None
        except NumericError as error:
            failures.append(f"{name} ({error})")
    raise NumericError(
        f"no bounds could be proved for {len(states):,} states that are hard to leave; tried: "
        f"proposals and sweeps, {', '.join(failures)}; an answer without a guarantee can be had with --method",
        states=states,
    )


class _TooLargeError(NumericError):
    """No other method can help."""


def _insist(lower: Floats, upper: Floats, settings: Settings) -> None:
    """Bounds must be numbers, and close enough."""
    if not np.isfinite(upper).all():
        raise _TooLargeError("the values of some states are finite, and larger than any double (1.8e308)")
    middle = lower + (upper - lower) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        width = np.where(upper > TINY, (upper - lower) / 2 / (middle if settings.relative else 1.0), 0.0)
    if width.max() > settings.eps:
        raise NumericError(f"bounds up to {width.max():.2g} of a value apart")


def _eliminated(
    equations: Equations, segment: Segment, chosen: Int32s | None, lower: Floats, upper: Floats, settings: Settings
) -> None:
    origin, part = equations.origin, slice(segment.first, segment.last)
    elimination = _core.Elimination.of_rows(
        matrix_of(origin.model),
        rates=origin.model.type == "ctmc",
        number=origin.number,
        known=origin.known,
        reward=origin.reward,
        rows=equations.rows[part],
        first=segment.first,
        lower=lower,
        upper=upper,
    )
    carry_through(elimination, settings)
    elimination.solve(lower[part], upper[part])


def _with_longer_numbers(
    equations: Equations, segment: Segment, chosen: Int32s | None, lower: Floats, upper: Floats, settings: Settings
) -> None:
    from .longer import prove

    assert chosen is not None
    part = slice(segment.first, segment.last)
    chosen[part] = prove(equations, segment, chosen[part], lower, upper, settings)


def _by_intervals(
    equations: Equations, segment: Segment, chosen: Int32s | None, lower: Floats, upper: Floats, settings: Settings
) -> None:
    from .methods.interval import METHOD
    from .methods.method import Job

    part = slice(segment.first, segment.last)
    sweeps = int(np.clip(SWEPT / (equations.entries(segment) + segment.last - segment.first), 1, SWEEPS))
    job = Job(equations, replace(settings, max_iterations=sweeps), METHOD, allowed=0.8 * settings.eps)
    job.lower[: segment.first], job.upper[: segment.first] = lower[: segment.first], upper[: segment.first]
    job.run(segment)
    lower[part], upper[part] = job.lower[part], job.upper[part]
    if chosen is not None:  # the rows that are the best as far as the bounds tell
        job.system.improve(job.x, job.copy, chosen, segment.span(job.threads))
