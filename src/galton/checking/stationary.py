"""Long-run averages by a method chosen by hand: the stationary distribution of every bottom component.

As the literature has it, and PRISM: sweeps over the balance equations from the uniform distribution until little
changes, then division by the sum. The result is an estimate; the default (:mod:`.long_run`) proves bounds.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from ..backend.formats import ORDERS
from ..backend.protocol import Span, Stop
from ..device.arrays import namespace
from ..graph import Components
from ..model.sparse import Model
from ..model.values import Floats
from ..reduce.balance import Balance, balance
from ..solve.equations import Segment
from ..solve.methods import method
from ..solve.methods.base import Job
from ..solve.settings import Settings
from .quantity import Work

__all__ = ["average_gains", "stationary_distribution"]

ROUGHLY = 32  # sweeps after which the likeliest state of a component is known well enough to be fixed


def average_gains(
    model: Model, reward: Floats, components: Components, settings: Settings
) -> tuple[Floats, list[Work]]:
    """The gain of each bottom component, and what was done."""
    start = perf_counter()
    rows = balance(model, components, settings)
    xp, built = namespace(rows.members), perf_counter()
    distribution, job = _solved(rows, settings)
    total = xp.bincount(rows.component, weights=distribution, minlength=rows.count)
    earned = xp.bincount(rows.component, weights=distribution * reward[rows.members], minlength=rows.count)
    equations = rows.equations
    numbered = f", numbered {ORDERS[settings.order]}" if settings.order else ""
    detail = f"{equations.size:,} states, {len(equations.columns):,} entries{numbered}"
    laid_out = equations.matrix.describe()
    work = [
        Work("balance equations", f"{detail}; {laid_out}" if laid_out else detail, 0, built - start),
        Work(job.name, job.detail, job.sweeps, perf_counter() - built),
    ]
    return earned / total, work


def stationary_distribution(model: Model, components: Components, settings: Settings) -> Floats:
    """An estimate of the stationary distribution of each bottom component, in the order of their states.

    It is 0 in other states, and known up to a factor for each component.
    """
    rows = balance(model, components, settings)
    found: Floats = namespace(rows.members).zeros(model.n_states)
    found[rows.members] = _solved(rows, settings)[0]
    return found


def _solved(rows: Balance, settings: Settings) -> tuple[Floats, Job]:
    """A stationary distribution of each component, up to a factor."""
    chosen = method(settings.method or "")
    if chosen.balances == "from any start":
        job = Job(rows.equations, settings, chosen)
        job.x[:] = rows.start
        job.run(Segment(0, rows.equations.size, False))
        return job.x.astype(np.float64, copy=False), job
    rough = rows.start
    span, stop = Span(0, len(rough), settings.n_threads), Stop(ROUGHLY, 0.0)
    rows.equations.system.jacobi(rough, rough.copy(), None, span, stop, omega=0.9)
    equations, free = rows.with_fixed(rows.largest(rough))
    # Likely states are about 1 now, and there are hardly any digits to be had of others: errors are beside those.
    job = Job(equations, replace(settings, relative=False), chosen)
    job.sweeps = ROUGHLY
    if equations.size:
        job.run(Segment(0, equations.size, False))
    found = namespace(free).ones(rows.equations.size)
    found[free] = job.x
    return found, job
