"""A device played by the CPU: CuPy's place is taken by a module of arrays that behave like CuPy's, and kernels are
compiled by g++. Everything else is Galton as it runs on a device, from the text of a model to the answer."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import gettempdir
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from . import kernels
from .arrays import FUNCTIONS, OutOfMemoryError, memory, ndarray

__all__ = ["memory", "played_cupy", "played_device"]

DRIVERS = {
    "galton.backend.cuda": (
        *("krylov", "layout", "system", "formats", "restrict", "rows", "bias", "steps", "numbers"),
        *("chain", "levels", "induced", "regions"),
    ),
    "galton.device.cuda": ("kernels", "positions", "extremes"),
    "galton.backend.cuda.graph": ("search", "reachability", "components", "end_components"),
}
TYPES = ["bool_", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


class CUDARuntimeError(RuntimeError):
    """``cupy.cuda.runtime.CUDARuntimeError``."""


class CUDADriverError(RuntimeError):
    """``cupy.cuda.driver.CUDADriverError``."""


def _module(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(contents)
    return module


def _device() -> Any:
    # No multiprocessor holds blocks that wait for each other: threads run one after the other.
    return SimpleNamespace(
        compute_capability="played", attributes={"MultiProcessorCount": 0, "MaxSharedMemoryPerBlockOptin": 0}
    )


def played_cupy() -> ModuleType:
    """What ``import cupy`` finds."""
    runtime = _module(
        "cupy.cuda.runtime",
        getDeviceCount=lambda: 1,
        memGetInfo=lambda: (1 << 30, 1 << 30),
        CUDARuntimeError=CUDARuntimeError,
    )
    driver = _module(
        "cupy.cuda.driver",
        CUDADriverError=CUDADriverError,
        # Of an explorer's kernel one block, of others none.
        occupancyMaxActiveBlocksPerMultiprocessor=lambda pointer, threads, shared: 0,
    )
    cuda = _module(
        "cupy.cuda",
        Device=_device,
        runtime=runtime,
        driver=driver,
        memory=_module("cupy.cuda.memory", OutOfMemoryError=OutOfMemoryError),
        compiler=_module("cupy.cuda.compiler", CompileException=kernels.CompileException),
        nvrtc=_module("cupy.cuda.nvrtc", **kernels.nvrtc_functions()),
        function=_module("cupy.cuda.function", Module=kernels.Module),
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
    )
    return _module(
        "cupy",
        **FUNCTIONS,
        **{name: getattr(np, name) for name in TYPES},
        ndarray=ndarray,
        RawModule=kernels.RawModule,
        cuda=cuda,
        get_default_memory_pool=lambda: memory,
        _core=SimpleNamespace(set_reduction_accelerators=lambda names: None),
    )


@contextmanager
def played_device() -> Iterator[ModuleType]:
    """A device for a while."""
    cupy = played_cupy()
    installed = importlib.util.find_spec("cupy") is not None
    with ExitStack() as stack:
        if installed:  # modules of Galton then keep the real one when this ends
            modules = _drivers()
        _put_in_place(stack, {"cupy": cupy, "cupy.cuda": cupy.cuda})
        if not installed:
            modules = _drivers()
        module = modules["galton.device.cuda.kernels"]
        for one in modules.values():
            stack.enter_context(patch.object(one, "cp", cupy))
        # Small models take the ways of large ones.
        stack.enter_context(patch.object(importlib.import_module("galton.graph.small"), "SMALL", 0))
        stack.enter_context(
            patch.object(importlib.import_module("galton.backend.cuda.explorer.exploration"), "FEW_KEYS", 0)
        )
        for cached in (module.kernels, module.multiprocessors, module.most_shared):
            cached.cache_clear()
            stack.callback(cached.cache_clear)
        directory = Path(gettempdir()) / "galton-played"
        stack.enter_context(patch.dict(os.environ, {"GALTON_CACHE": str(directory)}))
        yield cupy


def _put_in_place(stack: ExitStack, modules: dict[str, ModuleType]) -> None:
    """Until the stack ends. ``patch.dict`` would also forget the modules of Galton that are imported until then."""
    for name, module in modules.items():
        before = sys.modules.get(name)
        sys.modules[name] = module
        stack.callback(sys.modules.pop if before is None else sys.modules.__setitem__, name, before)


def _drivers() -> dict[str, ModuleType]:
    names = [f"{package}.{name}" for package, names in DRIVERS.items() for name in names]
    return {name: importlib.import_module(name) for name in names}
