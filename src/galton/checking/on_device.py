"""Checking a model whose arrays are on a device; where that cannot be, the model is brought home and checked there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..lang.source import GaltonError
from ..model.sparse import Model
from ..solve.methods import FORWARD, runs_on_device
from ..solve.settings import Settings
from .result import Result

__all__ = ["checked"]


def checked(check: Callable[[Model, Settings], Result], model: Model, settings: Settings, *, strategy: bool) -> Result:
    """The answer of the device, or of the CPU with a warning that says why.

    Where memory was the reason, the CPU may ask the device again, for a part at a time.
    """
    from ..device.errors import DeviceError, DeviceMemoryError, device_errors

    chosen = model.info.get("chosen by") == "auto"
    reason = _why_not(settings, strategy)
    # What goes wrong is told to everybody; who did not ask for a device need not know what it is not for.
    tell = not (reason and chosen)
    if not reason:
        try:
            with device_errors("there is not enough memory on the device"):
                return replace(check(model, settings), device="cuda")
        except DeviceError as error:
            reason = str(error)
            settings = replace(settings, stream=isinstance(error, DeviceMemoryError))
        except GaltonError as error:
            if error.kind != "numeric":
                raise
            reason = str(error)
        except Exception as error:
            # A mistake of ours. Who asked for the device sees it; who did not gets an answer.
            if not chosen:
                raise
            reason = f"{type(error).__name__} on the device: {error}"
    found = check(_at_home(model, reason), settings)
    return replace(found, warnings=(*found.warnings, f"{reason}; answered on the CPU")) if tell else found


def _at_home(model: Model, reason: str) -> Model:
    """The model on the CPU. A device that has failed may not give it back: then there is nothing left to ask."""
    from ..device.errors import DeviceError, device_errors

    try:
        with device_errors("there is not enough memory"):
            return model.to_host()
    except DeviceError as error:
        message = f"{reason}; the model cannot be read back either ({error}); --device cpu does without"
        raise DeviceError(message) from error


def _why_not(settings: Settings, strategy: bool) -> str:
    """What keeps a property from being answered on a device; empty where nothing does."""
    if strategy and settings.by_hand:
        return "strategies by a method that is named are not made on a device"
    if settings.method == FORWARD or (settings.by_hand and not runs_on_device(settings.method or "")):
        return f"the method {settings.method} does not run on a device"
    return ""
