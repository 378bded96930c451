"""The gains of end components, one method after the other."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from ...device.arrays import how_many, is_on_host
from ...device.errors import DeviceError
from ...model.errors import NumericError
from ...solve.equations import Optimum
from ...solve.settings import Settings
from ..quantity import Work
from .components import Inside
from .decimals import settle
from .policies import improve
from .proof import Proof
from .sweeps import Iteration

__all__ = ["prove_gains"]

PATIENCE = 1000  # sweeps that value iteration may seem to take before something else is tried …
MOST_SWEEPS, MOST_ENTRIES = 50_000, 4e9  # … and where nothing else helps


def prove_gains(inside: Inside, optimum: Optimum, settings: Settings) -> tuple[Proof, list[Work]]:
    """Bounds on the gains of all components that are as close as the settings ask, and what was done.

    Raises
    ------
    DeviceError
        Where value iteration on a device is too slow; the CPU has other methods.
    NumericError
        Where nothing helps; it has the bounds that are known.
    """
    start = perf_counter()
    proof = Proof(inside, optimum, settings)
    iteration = Iteration(proof)
    iteration.run(PATIENCE)
    detail = f"{inside.count:,} end components, {len(inside.states):,} states"
    work = [Work("value iteration", detail, iteration.sweeps + proof.proofs, perf_counter() - start)]
    if not how_many(proof.open):
        return proof, work
    if not is_on_host(inside.states):
        raise DeviceError("the long-run average of an end component is more than value iteration can find in time")
    for k in np.flatnonzero(proof.open).tolist():
        start = perf_counter()
        part = proof.only(k)
        method, sweeps = _persist(part)
        proof.take(k, part)
        detail = f"an end component of {len(part.inside.states):,} states"
        work.append(Work(method, detail, sweeps, perf_counter() - start))
    return proof, work


def _persist(part: Proof) -> tuple[str, int]:
    """Close the bounds of a component that value iteration is slow for; returns what did it, and its sweeps."""
    size, sweeps = len(part.inside.states), improve(part)
    if not part.open[0]:
        return "policy iteration", sweeps
    if settle(part):
        return "policy iteration with longer numbers", sweeps
    iteration = Iteration(part)
    iteration.run(int(min(MOST_SWEEPS, MOST_ENTRIES / len(part.inside.model.columns))))
    sweeps += iteration.sweeps
    if not part.open[0]:
        return "value iteration", sweeps
    best = "greatest" if part.maximise else "least"
    raise NumericError(
        f"the {best} long-run average of an end component with {size:,} states lies in [{float(part.lower[0]):.9g}, "
        f"{float(part.upper[0]):.9g}], and no method at hand comes closer: tried value iteration and policy iteration; "
        "a larger --eps may do"
    )
