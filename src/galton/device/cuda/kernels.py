"""Kernels of a ``.cu`` file, compiled on first use (:mod:`.code`).

``#include "..."`` of a file beside is put into the text: what is compiled, and under what it is kept, is then all there
is.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from .code import Text, architecture, machine_code

__all__ = ["OPTIONS", "Kernels", "kernels", "kernels_text", "most_shared", "multiprocessors", "source_text"]

# Products and sums are rounded one by one, as on the CPU: bounds are proved with them.
OPTIONS = ("-std=c++17", "-fmad=false", "-default-device")
THREADS = 256  # a block: enough of them fit on a multiprocessor to fill it, whatever registers a kernel needs
SHARED_BYTES = 8  # the number of the attribute of a kernel in CUDA's driver

_INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)


class Kernels:
    """Compiled kernels, called by name. Every device that uses them loads them once."""

    def __init__(self, text: Text) -> None:
        self._code = machine_code(text)
        self._modules: dict[int, Any] = {}
        self._functions: dict[tuple[int, str], Any] = {}

    def launch(self, kernel: str, threads: int, *arguments: Any, block: int = THREADS) -> None:
        """Start at least so many threads. Numbers are passed as ``long long``, None as a null pointer."""
        if threads > 0:
            self._function(kernel)((-(-threads // block),), (block,), tuple(map(_argument, arguments)))

    def launch_together(self, kernel: str, threads: int, *arguments: Any, block: int = THREADS) -> None:
        """Start threads that may wait for each other; at most :meth:`most_threads`, so that all of them run at once."""
        grid = (-(-threads // block),)
        self._function(kernel)(grid, (block,), tuple(map(_argument, arguments)), enable_cooperative_groups=True)

    def launch_blocks(self, kernel: str, blocks: int, *arguments: Any, block: int, shared: int) -> None:
        """So many blocks, each with so many bytes of memory that its threads share: at most :func:`most_shared`."""
        function = self._function(kernel)
        cp.cuda.driver.funcSetAttribute(function.ptr, SHARED_BYTES, shared)
        function((blocks,), (block,), tuple(map(_argument, arguments)), shared_mem=shared)

    def most_threads(self, kernel: str, block: int = THREADS) -> int:
        """How many threads of a kernel the device holds at a time."""
        pointer = self._function(kernel).ptr
        blocks = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(pointer, block, 0)
        return int(blocks) * block * multiprocessors()

    def _function(self, kernel: str) -> Any:
        device = cp.cuda.runtime.getDevice()
        function = self._functions.get((device, kernel))
        if function is None:
            function = self._functions[device, kernel] = self._module(device).get_function(kernel)
        return function

    def _module(self, device: int) -> Any:
        if device not in self._modules:
            self._modules[device] = cp.cuda.function.Module()
            self._modules[device].load(self._code)
        return self._modules[device]


@cache
def kernels(path: Path, *defines: str) -> Kernels:
    """The kernels of a file, with macros given as ``NAME=text``."""
    return Kernels(kernels_text(path, *defines))


def kernels_text(path: Path, *defines: str) -> Text:
    """What is compiled for that, on the current device."""
    options = (*OPTIONS, f"--gpu-architecture={architecture()}", *(f"-D{define}" for define in defines))
    return Text(source_text(path), options, f"the file {path.name}")


@cache
def most_shared() -> int:
    """The bytes that the threads of a block can share."""
    most: int = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
    return most


@cache
def multiprocessors() -> int:
    """How many multiprocessors the device has: kernels whose threads wait for each other may not have more blocks than
    these can hold at once."""
    count: int = cp.cuda.Device().attributes["MultiProcessorCount"]
    return count


def source_text(path: Path) -> str:
    """The text of a file and, in the places of ``#include "..."``, once each, of the files beside it."""
    seen: set[Path] = set()

    def text(part: Path) -> str:
        def included(found: re.Match[str]) -> str:
            other = (part.parent / found[1]).resolve()
            if other in seen:
                return ""
            seen.add(other)
            return text(other)

        return _INCLUDE.sub(included, part.read_text(encoding="utf-8").replace("#pragma once\n", ""))

    return text(path)


def _argument(value: Any) -> Any:
    if value is None:
        return np.uintp(0)
    return np.int64(value) if isinstance(value, int) else value
