"""Setting a CUDA device up takes the driver a quarter of a second, in which Python can import and read the model."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from threading import Thread

__all__ = ["set_up"]


def set_up(device: str) -> None:
    """Begin to set a device up, where one is asked for by name; whoever uses it waits until that is done.

    What goes wrong here goes wrong again there, and is told there.
    """
    kind, _, numbers = device.partition(":")
    first = numbers.partition(",")[0] or "0"
    if kind == "cuda" and first.isdecimal():
        # Not a daemon: whoever leaves early waits for it, because the driver must not be unloaded meanwhile.
        Thread(target=_retain_context, args=(int(first),)).start()


def _retain_context(number: int) -> None:
    """Make the context that the CUDA runtime will use. Calls into the driver leave Python to others meanwhile."""
    with suppress(OSError, AttributeError):  # no driver, or none that we know
        driver = ctypes.CDLL("libcuda.so.1")
        if driver.cuInit(0) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), number)
