"""Compiling kernels with NVRTC, and launching them through CuPy.

A compiled program is kept on disk under the hash of its text and of the compiler, so that the same model explores at
once the next time. Nothing here is imported before someone asks for a device.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ....device.cuda.runtime import free_memory, import_cupy
from ....device.errors import DeviceError, first_lines
from .source import Source

THREADS = 256  # of a block
LONG_TEXT = 100_000  # characters of an explorer that takes seconds to compile
BLOCKS = 1 << 16  # at most, of kernels whose blocks do not wait for each other
# No fused multiply-add: it rounds once where the CPU rounds twice.
OPTIONS = ("-std=c++17", "-fmad=false", "-default-device", "-w")

Array = Any  # of CuPy, or in tests of NumPy


def compile_source(text: str, architecture: str) -> bytes:
    """Machine code for an architecture such as ``sm_90``; needs no device."""
    from cupy.cuda import nvrtc

    program = nvrtc.createProgram(text, "explore.cu", (), ())
    try:
        nvrtc.compileProgram(program, (f"--gpu-architecture={architecture}", *OPTIONS, *_haste(text, nvrtc)))
    except nvrtc.NVRTCError as error:
        log = first_lines(nvrtc.getProgramLog(program))
        raise DeviceError(f"the explorer of this model does not compile:\n{log}") from error
    return bytes(nvrtc.getCUBIN(program))


def _haste(text: str, nvrtc: Any) -> tuple[str, ...]:
    """Options that make compiling faster, of a compiler that has them."""
    version = nvrtc.getVersion()
    # Kernels are optimised side by side; those of long texts a little less, because they would take seconds.
    together = ("--split-compile=0",) if version >= (12, 8) else ()
    less = ("--Ofast-compile=mid",) if version >= (13, 0) and len(text) > LONG_TEXT else ()
    return together + less


def cached(text: str, architecture: str) -> bytes:
    """Machine code for an architecture, from the disk when the text has been compiled before."""
    from cupy.cuda import nvrtc

    try:
        version = nvrtc.getVersion()
    except (RuntimeError, OSError, ImportError) as error:  # its library is loaded at the first call
        raise DeviceError(f"NVRTC, which compiles for the device, does not load: {error}") from error
    key = "\n".join([text, architecture, *OPTIONS, str(version)])
    path = cache_directory() / f"{hashlib.sha256(key.encode()).hexdigest()}.cubin"
    try:
        return path.read_bytes()
    except OSError:
        pass
    code = compile_source(text, architecture)
    try:  # others may read or write the same file: it appears as a whole, or not at all
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(code)
        os.replace(file.name, path)
    except OSError:
        pass  # a cache that cannot be written only costs time
    return code


def cache_directory() -> Path:
    """Where compiled explorers are kept; ``GALTON_CACHE`` names another place."""
    if given := os.environ.get("GALTON_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "galton"


class CudaKernels:
    """A compiled explorer on the current device. Arguments of kernels are arrays, None, or 64-bit integers.

    Its parts are compiled at the same time; who needs a kernel waits for its part only, and ``waited`` says how long.
    """

    def __init__(self, source: Source):
        self.xp = import_cupy()
        self.waited = 0.0
        device = self.xp.cuda.Device()
        self._source = source
        workers = ThreadPoolExecutor(len(source.parts))
        architecture = f"sm_{device.compute_capability}"
        self._codes = [workers.submit(cached, part, architecture) for part in source.parts]
        workers.shutdown(wait=False)
        self._modules: dict[int, Any] = {}
        self._functions: dict[str, Any] = {}
        self._processors = int(device.attributes["MultiProcessorCount"])

    def run(self, name: str, work: int, *arguments: Array | int | None) -> None:
        """Launch enough threads for so many pieces of work."""
        if work > 0:
            grid = min(-(-work // THREADS), BLOCKS)
            self._function(name)((grid,), (THREADS,), [_argument(a) for a in arguments])

    def run_together(self, name: str, blocks: int, *arguments: Array | int | None) -> None:
        """Launch blocks that may wait for each other."""
        launch = self._function(name)
        launch((blocks,), (THREADS,), [_argument(a) for a in arguments], enable_cooperative_groups=True)

    def most_blocks(self, name: str) -> int:
        """How many blocks of a kernel the device holds at a time."""
        pointer = self._function(name).ptr
        each = self.xp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(pointer, THREADS, 0)
        return int(max(1, each)) * self._processors

    def synchronize(self) -> None:
        """Wait until everything is done."""
        self.xp.cuda.get_current_stream().synchronize()

    def free_memory(self) -> int:
        """Bytes that can still be taken on the device."""
        return free_memory(self.xp)

    def _function(self, name: str) -> Any:
        if name not in self._functions:
            self._functions[name] = self._module(self._source.part_with(name)).get_function(name)
        return self._functions[name]

    def _module(self, part: int) -> Any:
        if part not in self._modules:
            start = time.perf_counter()
            self._modules[part] = self.xp.cuda.function.Module()
            self._modules[part].load(self._codes[part].result())
            self.waited += time.perf_counter() - start
        return self._modules[part]


def _argument(value: Array | int | None) -> np.uint64:
    if value is None:
        return np.uint64(0)
    return np.uint64(value) if isinstance(value, int) else np.uint64(value.data.ptr)
