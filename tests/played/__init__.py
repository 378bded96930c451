"""One or more devices played by the CPU, for tests where there is none.

CuPy's place is taken by a module of arrays that behave like CuPy's, and kernels are compiled by g++. Everything else is
Galton as it runs on a device, from the text of a model to the answer.
"""

from __future__ import annotations

import ast
import ctypes
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

import galton

from . import kernels
from .arrays import FUNCTIONS, ndarray
from .compiling import KEPT
from .devices import CUDADriverError, CUDARuntimeError, Device, OutOfMemoryError, devices, memory

__all__ = ["memory", "played_cupy", "played_device"]

# Limits below which a model is too small for a device: small models shall take the ways of large ones.
SMALL = {
    "galton.graph.small": "SMALL",
    "galton.backend.cuda.explorer.exploration": "FEW_KEYS",
    "galton.backend.cuda.explorer.meanwhile": "HEAD_START",
}

TYPES = ["bool_", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def _module(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)  # it is there, for who looks without importing it
    vars(module).update(contents)
    return module


def played_cupy() -> ModuleType:
    """What ``import cupy`` finds."""
    runtime = _module(
        "cupy.cuda.runtime",
        getDeviceCount=lambda: devices.count,
        getDevice=lambda: devices.current,
        runtimeGetVersion=lambda: 0,
        memcpy=lambda to, source, count, kind: ctypes.memmove(to, source, count),
        memGetInfo=lambda: (memory.free, memory.free),
        CUDARuntimeError=CUDARuntimeError,
    )
    driver = _module(
        "cupy.cuda.driver",
        CUDADriverError=CUDADriverError,
        # Of an explorer's kernel one block, of others none.
        occupancyMaxActiveBlocksPerMultiprocessor=lambda pointer, threads, shared: 0,
        funcSetAttribute=lambda pointer, attribute, value: None,
    )
    cuda = _module(
        "cupy.cuda",
        Device=Device,
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
        __version__=kernels.version(),
        cuda=cuda,
        get_default_memory_pool=lambda: memory,
        _core=SimpleNamespace(set_reduction_accelerators=lambda names: None),
    )


@contextmanager
def played_device(count: int = 1) -> Iterator[ModuleType]:
    """A device for a while, or several, numbered from 0."""
    cupy = played_cupy()
    installed = importlib.util.find_spec("cupy") is not None
    with ExitStack() as stack:
        if installed:  # modules of Galton then keep the real one when this ends
            _modules_with_cupy()
        _put_in_place(stack, {"cupy": cupy, "cupy.cuda": cupy.cuda})
        for module in _modules_with_cupy():
            _use(stack, module, cupy)
        importlib.import_module("galton.device.cuda.runtime").import_cupy()  # which makes its arrays known
        for name, limit in SMALL.items():
            stack.enter_context(patch.object(importlib.import_module(name), limit, 0))
        stack.enter_context(patch.multiple(devices, count=count, current=0))
        stack.enter_context(patch.dict(os.environ, {"GALTON_CACHE": str(KEPT)}))
        yield cupy


def _put_in_place(stack: ExitStack, modules: dict[str, ModuleType]) -> None:
    """Until the stack ends. ``patch.dict`` would also forget the modules of Galton that are imported until then."""
    for name, module in modules.items():
        before = sys.modules.get(name)
        sys.modules[name] = module
        stack.callback(sys.modules.pop if before is None else sys.modules.__setitem__, name, before)


def _use(stack: ExitStack, module: ModuleType, cupy: ModuleType) -> None:
    """Give a module of Galton this CuPy, and let it forget what it knows of the device and its kernels."""
    for name, value in list(vars(module).items()):
        if isinstance(value, ModuleType) and value.__name__ == "cupy":
            stack.enter_context(patch.object(module, name, cupy))
        elif hasattr(value, "cache_clear"):
            value.cache_clear()
            stack.callback(value.cache_clear)


def _modules_with_cupy() -> list[ModuleType]:
    return [importlib.import_module(name) for name in _names_with_cupy()]


@cache
def _names_with_cupy() -> list[str]:
    """The modules of Galton that import CuPy as soon as they are imported."""
    root = Path(galton.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text()
        if "import cupy" in text and any(_imports_cupy(node) for node in ast.parse(text).body):
            found.append(".".join(["galton", *path.relative_to(root).with_suffix("").parts]).removesuffix(".__init__"))
    return found


def _imports_cupy(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and any(alias.name == "cupy" for alias in node.names)
