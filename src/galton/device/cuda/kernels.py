"""Kernels of a ``.cu`` file, compiled with NVRTC on first use.

The text is compiled for the device at hand; CuPy keeps the result on disk under a hash of the text, the options and the
compiler, so that another process does not compile again. ``#include "..."`` of a file beside is put into the text: what
is hashed is then everything that is compiled.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from ..errors import DeviceError, first_lines

__all__ = [
    "OPTIONS",
    "CompilationError",
    "Kernels",
    "kernels",
    "most_shared",
    "multiprocessors",
    "source_text",
]

# Products and sums are rounded one by one, as on the CPU: bounds are proved with them.
OPTIONS = ("-std=c++17", "-fmad=false")
THREADS = 256  # a block: enough of them fit on a multiprocessor to fill it, whatever registers a kernel needs

_INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)


class CompilationError(DeviceError):
    """Kernels that the compiler did not take: a mistake in Galton, or a compiler that is too old."""


class Kernels:
    """Compiled kernels, called by name."""

    def __init__(self, text: str, name: str, options: tuple[str, ...] = OPTIONS) -> None:
        self._module = cp.RawModule(code=text, options=options)
        self._functions: dict[str, Any] = {}
        try:
            self._module.compile()
        except cp.cuda.compiler.CompileException as error:
            raise CompilationError(f"the kernels of {name} do not compile:\n{first_lines(str(error))}") from error

    def launch(self, kernel: str, threads: int, *arguments: Any, block: int = THREADS) -> None:
        """Start at least so many threads. Numbers are passed as ``long long``, None as a null pointer."""
        if threads > 0:
            self._function(kernel)((-(-threads // block),), (block,), tuple(map(_argument, arguments)))

    def launch_together(self, kernel: str, threads: int, *arguments: Any, block: int = THREADS) -> None:
        """Start threads that may wait for each other; at most :meth:`most_threads`, so that all of them run at once."""
        function = self._function(kernel).kernel
        grid = (-(-threads // block),)
        function(grid, (block,), tuple(map(_argument, arguments)), enable_cooperative_groups=True)

    def launch_blocks(self, kernel: str, blocks: int, *arguments: Any, block: int, shared: int) -> None:
        """So many blocks, each with so many bytes of memory that its threads share: at most :func:`most_shared`."""
        function = self._function(kernel)
        function.max_dynamic_shared_size_bytes = shared
        function((blocks,), (block,), tuple(map(_argument, arguments)), shared_mem=shared)

    def most_threads(self, kernel: str, block: int = THREADS) -> int:
        """How many threads of a kernel the device holds at a time."""
        pointer = self._function(kernel).kernel.ptr
        blocks = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(pointer, block, 0)
        return int(blocks) * block * multiprocessors()

    def _function(self, kernel: str) -> Any:
        function = self._functions.get(kernel)
        if function is None:
            function = self._functions[kernel] = self._module.get_function(kernel)
        return function


@cache
def kernels(path: Path, *defines: str) -> Kernels:
    """The kernels of a file, with macros given as ``NAME=text``."""
    return Kernels(source_text(path), path.name, (*OPTIONS, *(f"-D{define}" for define in defines)))


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
