"""The device's graph analysis without a device: NumPy for CuPy, and the kernels compiled by g++, one thread at a time.

It shows that the algorithms are right; not that threads at the same time do not disturb each other, which tests marked
``gpu`` are for. Threads run in an order that changes from launch to launch, so that nothing relies on one.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from unittest.mock import patch

import numpy as np

_HERE = Path(__file__).parent
_KERNEL = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\(([^)]*)\)')
_SHARED = re.compile(r"#define (\w+_PARAMETERS)((?:.*\\\n)*.*)\n")  # parameters that several kernels have
_DRIVERS = ("search", "reachability", "components", "end_components")


class CompiledKernels:
    """What ``galton.device.cuda.kernels.Kernels`` is on a device."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._launches = 0

    def launch(self, kernel: str, threads: int, *arguments: Any, block: int = 64) -> None:
        self._launches += 1
        blocks = -(-threads // block)
        order = ctypes.c_longlong(self._launches % 3)
        if threads > 0:
            self._library[f"launch_{kernel}"](order, ctypes.c_longlong(blocks), block, *map(_argument, arguments))

    def most_threads(self, kernel: str, block: int = 64) -> int:
        """None can wait for another."""
        return 0


def _argument(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p(0)
    if isinstance(value, float):
        return ctypes.c_double(value)
    return ctypes.c_longlong(value) if isinstance(value, int) else ctypes.c_void_p(value.ctypes.data)


@cache
def compiled(path: Path, *defines: str) -> CompiledKernels:
    """The kernels of a ``.cu`` file."""
    from galton.device.cuda.kernels import source_text

    return CompiledKernels(library_of(with_launchers(source_text(path)), *defines))


def with_launchers(text: str) -> str:
    """Kernels as C++, each with a function that runs all its threads; parameters that have a name are written out."""
    text = f'#include "{_HERE / "cuda_on_cpu.h"}"\n{text}'
    for name, parameters in _SHARED.findall(text):
        text = re.sub(rf"([(,]\s*){name}\b", rf"\1{' '.join(parameters.replace(chr(92), '').split())}", text)
    return text + "".join(_launcher(*found) for found in _KERNEL.findall(text))


def library_of(text: str, *defines: str) -> ctypes.CDLL:
    """The text compiled; the library is kept until the text changes."""
    key = sha256("\n".join([text, (_HERE / "cuda_on_cpu.h").read_text(), *defines]).encode()).hexdigest()[:16]
    library = Path(gettempdir()) / f"galton-{key}.so"
    if not library.exists():
        unfinished = library.with_suffix(f".{os.getpid()}")  # others may be compiling the same
        options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-x", "c++", *(f"-D{define}" for define in defines)]
        subprocess.run(["g++", *options, "-", "-o", unfinished], input=text, text=True, check=True)
        unfinished.rename(library)
    return ctypes.CDLL(str(library))


def _launcher(name: str, parameters: str) -> str:
    names = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", parameters))
    return f"""
extern "C" void launch_{name}(long long kind_, long long blocks_, unsigned threads_, {parameters}) {{
    blockDim.x = threads_;
    gridDim.x = unsigned(blocks_);
    const long long total_ = blocks_ * threads_;
    for (long long i_ = 0; i_ < total_; ++i_) {{
        // Upwards, downwards, or the threads of all blocks in turn.
        const long long k_ = kind_ == 0 ? i_ : kind_ == 1 ? total_ - 1 - i_ : i_ % blocks_ * threads_ + i_ / blocks_;
        blockIdx.x = unsigned(k_ / threads_);
        threadIdx.x = unsigned(k_ % threads_);
        {name}({names});
    }}
}}
"""


@contextmanager
def without_a_device() -> Iterator[Any]:
    """``galton.graph`` on NumPy arrays, by the kernels of the device."""
    try:
        importlib.import_module("cupy")
        stand_in = False
    except ImportError:
        sys.modules["cupy"] = np
        stand_in = True
    importlib.import_module("galton.backend.cuda.graph")
    modules = [importlib.import_module(f"galton.backend.cuda.graph.{name}") for name in _DRIVERS]
    pattern = importlib.import_module("galton.backend.cuda.graph.pattern")
    positions = importlib.import_module("galton.device.cuda.positions")
    if stand_in:
        del sys.modules["cupy"]
    with ExitStack() as stack:
        for module in (pattern, positions):
            stack.enter_context(patch.object(module, "kernels", compiled))
        # Threads that wait for each other cannot run one after the other: the driver starts each step by itself.
        stack.enter_context(patch.object(modules[0], "multiprocessors", lambda: 0))
        for module in (*modules, positions):
            stack.enter_context(patch.object(module, "cp", np))
        yield _GraphOnDevice()


class _GraphOnDevice:
    """The functions of ``galton.graph``, whose arrays go to the device although they are NumPy's."""

    def __getattr__(self, name: str) -> Any:
        backends = importlib.import_module("galton.backend")
        function = getattr(importlib.import_module("galton.graph"), name)

        def called(*arguments: Any, **options: Any) -> Any:
            with patch.object(backends, "of", lambda array: backends.CUDA):
                return function(*arguments, **options)

        return called
