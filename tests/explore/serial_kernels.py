"""The generated explorer, compiled for the CPU: the kernels run with one thread, the driver with NumPy.

What a device adds, many threads at a time, is tested where there is one (``pytest -m gpu``); everything that is
computed is the same code.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from galton.backend.cuda.explorer import explorer as cuda
from galton.backend.cuda.explorer.source import Source
from galton.backend.cuda.explorer.source import source as print_source
from galton.backend.limits import Limits
from galton.lower.lowering import Lowered
from galton.model.sparse import Model

DEVICE = (Path(__file__).parent / "serial" / "device.cuh").read_text()
COMPILER = ["g++", "-std=c++17", "-x", "c++", "-fPIC", "-shared", "-ffp-contract=off", "-w"]


class SerialKernels:
    """Kernels of one source as functions of a shared library."""

    xp = np
    waited = 0.0
    memory = 1 << 40

    def __init__(self, source: Source, optimize: str = "-O1"):
        with tempfile.TemporaryDirectory() as directory:
            library = Path(directory) / "explore.so"
            text = source.text.encode()
            subprocess.run([*COMPILER, optimize, "-o", str(library), "-"], input=text, check=True)
            self._library = ctypes.CDLL(str(library))

    def run(self, name: str, work: int, *arguments: Any) -> None:
        if work > 0:
            getattr(self._library, name)(*map(_argument, arguments))

    def run_together(self, name: str, blocks: int, *arguments: Any) -> None:
        self.run(name, blocks, *arguments)

    def most_blocks(self, name: str) -> int:
        return 4

    def synchronize(self) -> None:
        pass

    def free_memory(self) -> int:
        return self.memory


def _argument(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p(None)
    if isinstance(value, int):
        return ctypes.c_uint64(value)
    assert value.flags.c_contiguous
    return ctypes.c_void_p(value.ctypes.data)


def explore(lowered: Lowered, optimize: str = "-O1") -> Model:
    """As ``cuda.explore``, but a fault of the program is raised instead of being explained by the CPU explorer."""
    source = print_source(lowered, device=DEVICE)
    return cuda.Exploration(lowered, source, SerialKernels(source, optimize), Limits()).run()
