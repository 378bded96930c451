"""Where to explore: on the CPU, on a CUDA device, or on whichever is better. The model remembers, and why."""

from __future__ import annotations

import importlib.util
import time
from dataclasses import replace
from pathlib import Path

from ..backend import CPU, CUDA, PETSC
from ..backend.limits import Limits
from ..backend.protocol import Watch
from ..device.cuda.runtime import select
from ..device.errors import DeviceError, DeviceMemoryError, device_errors
from ..device.placement import Placement, Request
from ..lang.source import GaltonError
from ..lower.lowering import Lowered
from ..model.sparse import Model

__all__ = ["explore", "missing"]

SMALL, FEW = 300_000, 3_000_000  # states and transitions that are left to the CPU in any case
PATIENCE = 1.0  # seconds that the CPU may take for more: about what it takes to set up a device
MANY = 16_000_000  # transitions: a device is through with the question before the CPU (galton bench open-crossing)
MATRICES = "matrices in parts on each"
SHARED = f"larger than the first one: explored by the CPU, kept in the memory of the host, {MATRICES}"
DRIVERS = (Path("/dev/nvidiactl"), Path("/dev/dxg"))  # there is no device without one of these


def explore(
    lowered: Lowered,
    device: str,
    *,
    threads: int,
    limits: Limits,
    transition_rewards: bool = False,
    watch: Watch | None = None,
) -> Model:
    """All reachable states of a lowered program; see :func:`galton.explore.build`."""
    request = Request.parse(device)

    def on_cpu(placement: Placement, watch: Watch | None = watch) -> Model:
        model = CPU.explorer.explore(
            lowered, threads=threads, limits=limits, transition_rewards=transition_rewards, watch=watch
        )
        return replace(model, placement=placement)

    if request.kind == "mpi":
        from ..backend.petsc.world import sharing

        everybody = sharing()  # an error where only one machine can go on
        there = Placement("petsc", f"asked for: {everybody.size} ranks", device)
        with everybody.guarding():
            return replace(
                PETSC.explorer.explore(lowered, threads=threads, limits=limits, watch=watch), placement=there
            )
    if request.kind == "cpu":
        return on_cpu(Placement.cpu("asked for", device))
    if transition_rewards:
        return on_cpu(Placement.cpu("rewards of single transitions are kept there only", device))
    if request.kind == "auto":
        if lacking := missing():
            return on_cpu(Placement.cpu(lacking, device))
        try:
            model = on_cpu(Placement.cpu("the model is small", device), _impatient(watch))
            if model.n_transitions <= MANY:
                return model
            del model
        except _TooLongError:
            pass
        # The device begins anew, which takes it no time.
    reason = "the model is large" if request.kind == "auto" else "asked for"
    there = Placement("cuda", reason, device)
    if len(request.numbers) > 1:
        there = replace(there, reason=f"{reason}: the model on the first one, {MATRICES}", devices=request.numbers)
    try:
        with device_errors("there is not enough memory on the device"):
            if request.numbers:
                select(request.numbers)
            model = CUDA.explorer.explore(lowered, threads=threads, limits=limits, watch=watch)
        return replace(model, placement=there)
    except DeviceError as error:
        larger = isinstance(error, DeviceMemoryError)
        if larger and there.devices:
            return on_cpu(replace(there, reason=SHARED))
        trouble = f"{error}; explored on the CPU instead"
        return on_cpu(replace(there.instead(trouble, told=True), streams=larger))
    except GaltonError:  # the model is at fault
        raise
    except Exception as error:
        # A mistake of ours. Who asked for the device sees it; who did not gets a model, and is told.
        if request.kind == "cuda":
            raise
        trouble = f"{type(error).__name__} on the device: {error}; explored on the CPU instead"
        return on_cpu(there.instead(trouble, told=True))


class _TooLongError(Exception):
    """A device would be ready by now, or the model is too large for the CPU."""


def _impatient(watch: Watch | None) -> Watch:
    """Watch an exploration, and end it when it takes long or finds much."""
    end = time.perf_counter() + PATIENCE

    def watching(states: int, transitions: int, rows: int) -> None:
        if watch is not None:
            watch(states, transitions, rows)
        if transitions > MANY or ((states > SMALL or transitions > FEW) and time.perf_counter() > end):
            raise _TooLongError

    return watching


def missing() -> str:
    """What a device would need and is not there, found out without loading anything; empty where nothing is."""
    if not any(driver.exists() for driver in DRIVERS):
        return "there is no CUDA device"
    return "" if importlib.util.find_spec("cupy") is not None else "CuPy, which drives a device, is not installed"
