"""``galton warm-up``: compile for the device at hand what questions will need."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from . import telling
from .setting_up import set_up

__all__ = ["warm_up"]


def warm_up(
    device: Annotated[
        str, typer.Option("--device", metavar="cuda[:NUMBER]", help="The CUDA device to compile for.")
    ] = "cuda",
) -> None:
    """Compile for a CUDA device, once and on all cores, what questions will need.

    The first question on a machine does this by itself, and takes some seconds longer. Where it should not, for others
    or in a measurement, it can be done before. What is compiled is kept in ~/.cache/galton, or in the folder that
    GALTON_CACHE names.

    \b
    Examples:
      galton warm-up
      galton warm-up --device cuda:1
    """
    set_up(device)
    from ..device.cuda.code import cache_directory
    from ..device.cuda.runtime import select
    from ..device.placement import Request
    from ..lang.source import GaltonError

    request = Request.parse(device)
    if request.kind != "cuda":
        raise GaltonError(
            f"there is nothing to compile for {device!r}; give --device cuda, or cuda:1 for the second one"
        )
    start = time.perf_counter()
    select(request.numbers or (0,))  # whoever uses a device first has its kernels compiled
    seconds = time.perf_counter() - start
    telling.say(f"kernels for this device are in {cache_directory()}, after {seconds:.1f} s")
