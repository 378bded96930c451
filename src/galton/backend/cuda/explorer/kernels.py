"""Explorers on a device: compiled for one model each, and launched through CuPy.

Nothing here is imported before someone asks for a device.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ....device.cuda.code import Text, architecture
from ....device.cuda.runtime import free_memory, import_cupy
from .meanwhile import Compiling
from .source import Source

THREADS = 256  # of a block
TO_DEVICE = 1  # what CUDA calls a copy from the host
BLOCKS = 1 << 16  # at most, of kernels whose blocks do not wait for each other
# No fused multiply-add: it rounds once where the CPU rounds twice.
OPTIONS = ("-std=c++17", "-fmad=false", "-default-device", "-w")

Array = Any  # of CuPy, or in tests of NumPy


def explorer_texts(source: Source, architecture: str) -> list[Text]:
    """The parts of an explorer, to be compiled for an architecture such as ``sm_90``."""
    options = (*OPTIONS, f"--gpu-architecture={architecture}")
    return [Text(part, options, "the explorer of this model", large=True) for part in source.parts]


class CudaKernels:
    """A compiled explorer on the current device. Arguments of kernels are arrays, None, or 64-bit integers.

    Its parts are compiled at the same time; who needs a kernel waits for its part only, and ``waited`` says how long.
    """

    def __init__(self, source: Source):
        self.xp = import_cupy()
        self.waited = 0.0
        device = self.xp.cuda.Device()
        self._source = source
        self.compiling = Compiling(explorer_texts(source, architecture()))
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
            module = self._modules[part] = self.xp.cuda.function.Module()
            module.load(self.compiling.code(part))
            runtime = self.xp.cuda.runtime
            for name, numbers in self._source.filled.items():
                given = np.array(numbers, dtype=np.uint64)
                runtime.memcpy(module.get_global_var(name), given.ctypes.data, given.nbytes, TO_DEVICE)
            self.waited += time.perf_counter() - start
        return self._modules[part]


def _argument(value: Array | int | None) -> np.uint64:
    if value is None:
        return np.uint64(0)
    return np.uint64(value) if isinstance(value, int) else np.uint64(value.data.ptr)
