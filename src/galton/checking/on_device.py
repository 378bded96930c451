"""Checking a model whose arrays are on a device; where that cannot be, the model is brought home and checked there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..device.arrays import is_on_host
from ..device.errors import DeviceError, DeviceMemoryError, device_errors
from ..device.placement import Placement
from ..lang.source import GaltonError
from ..model.sparse import Model
from ..solve.methods import TIMED_ON_HOST, runs_on_device
from ..solve.settings import Settings
from .result import Result

__all__ = ["checked"]


def checked(check: Callable[[Model, Settings], Result], model: Model, settings: Settings, *, strategy: bool) -> Result:
    """The answer of the device, or of the CPU. The answer's placement says why; what went wrong is a warning besides.

    Where memory was the reason, the CPU may ask the device again, for a part at a time.
    """
    placement = model.placement
    unfit = _why_not(settings, strategy)
    reason, larger = unfit, False
    if not unfit:
        try:
            with device_errors("there is not enough memory on the device"):
                return replace(check(model, settings), placement=placement)
        except DeviceError as error:
            reason, larger = str(error), isinstance(error, DeviceMemoryError)
        except GaltonError as error:
            if error.kind != "numeric":
                raise
            reason = str(error)
        except Exception as error:
            # A mistake of ours. Who asked for the device sees it; who did not gets an answer, and is told.
            if not placement.chosen:
                raise
            reason = f"{type(error).__name__} on the device: {error}"
    if larger and placement.devices and not is_on_host(model.columns):
        # The first device has the model and no room for more; parts of what is left may fit on all of them.
        where = "the model was brought to the host, matrices in parts on each"
        shared = replace(placement, reason=f"{reason}; {where}")
        return checked(check, _at_home(model, reason, shared), settings, strategy=strategy)
    # Who did not ask for a device need not be warned of what it is not for.
    told = not (unfit and placement.chosen)
    there = placement.instead(f"{reason}; answered on the CPU", told=told)
    found = check(_at_home(model, reason, there), replace(settings, stream=settings.stream or larger))
    warnings = (*found.warnings, there.reason) if told else found.warnings
    return replace(found, warnings=warnings, placement=there)


def _at_home(model: Model, reason: str, placement: Placement) -> Model:
    """The model on the host. A device that has failed may not give it back: then there is nothing left to ask."""
    try:
        with device_errors("there is not enough memory"):
            return replace(model.to_host(), placement=placement)
    except DeviceError as error:
        message = f"{reason}; the model cannot be read back either ({error}); --device cpu does without"
        raise DeviceError(message) from error


def _why_not(settings: Settings, strategy: bool) -> str:
    """What keeps a property from being answered on a device; empty where nothing does."""
    if strategy and settings.by_hand:
        return "strategies by a method that is named are not made on a device"
    if settings.method in TIMED_ON_HOST or (settings.by_hand and not runs_on_device(settings.method or "")):
        return f"the method {settings.method} does not run on a device"
    return ""
