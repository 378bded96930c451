"""Where to explore: on the CPU, on a CUDA device, or on whichever is better."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

from ..backend.cpu import explorer as cpu
from ..backend.cpu.explorer import Watch
from ..backend.limits import Limits
from ..lang.source import GaltonError
from ..lower.lowering import Lowered
from ..model.sparse import Model

__all__ = ["explore"]

SMALL = 300_000  # states that are left to the CPU in any case
PATIENCE = 1.0  # seconds that the CPU may take for more: about what it takes to set up a device
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
    device, numbers = _devices(device)

    def on_cpu(watch: Watch | None = watch) -> Model:
        return cpu.explore(lowered, threads=threads, limits=limits, transition_rewards=transition_rewards, watch=watch)

    if device == "cpu" or transition_rewards or (device == "auto" and not _worth_looking()):
        return on_cpu()
    if device == "auto":
        try:
            return on_cpu(_impatient(watch))
        except _TooLongError:
            pass  # the device begins anew, which takes it no time
    from ..backend.cuda.explore import explorer as cuda
    from ..device.cuda.runtime import select
    from ..device.errors import DeviceError, DeviceMemoryError

    try:
        if numbers:
            select(numbers)
        model = cuda.explore(lowered, threads=threads, limits=limits, watch=watch)
        if len(numbers) > 1:
            model.info["devices"] = numbers
        model.info["chosen by"] = "auto" if device == "auto" else "user"
        return model
    except DeviceError as error:
        model = on_cpu()
        if isinstance(error, DeviceMemoryError):
            model.info["larger than the device"] = True
            model.info["chosen by"] = "auto" if device == "auto" else "user"
        if device == "cuda":
            model.info["instead"] = f"{error}; explored on the CPU instead"
        return model
    except GaltonError:  # the model is at fault
        raise
    except Exception:  # we are: who asked for the device sees it, who did not gets a model
        if device == "cuda":
            raise
        return on_cpu()


class _TooLongError(Exception):
    """The CPU has been at it for as long as a device takes to be ready."""


def _impatient(watch: Watch | None) -> Watch:
    """Watch an exploration, and end it when it takes long."""
    end = time.perf_counter() + PATIENCE

    def watching(states: int, transitions: int, rows: int) -> None:
        if watch is not None:
            watch(states, transitions, rows)
        if states > SMALL and time.perf_counter() > end:
            raise _TooLongError

    return watching


def _devices(text: str) -> tuple[str, tuple[int, ...]]:
    """What was asked for, and the numbers of CUDA devices, if any were given."""
    kind, _, numbers = text.partition(":")
    if kind not in ("auto", "cpu", "cuda") or (numbers and kind != "cuda"):
        raise GaltonError(f"there is no device '{text}'; give auto, cpu, cuda, or numbers of devices as in cuda:0,1")
    try:
        return kind, tuple(int(number) for number in numbers.split(",")) if numbers else ()
    except ValueError:
        raise GaltonError(f"'{text}' does not name devices by their numbers, as cuda:0,1 does") from None


def _worth_looking() -> bool:
    """Whether a device might be there, found out without loading anything."""
    return any(driver.exists() for driver in DRIVERS) and importlib.util.find_spec("cupy") is not None
