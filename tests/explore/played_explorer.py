"""The CUDA explorer on a device that the CPU plays.

What a real device adds, many threads at a time, is tested where there is one (``pytest -m gpu``); everything that is
computed is the same code.
"""

from __future__ import annotations

from played import played_device

from galton.backend.cuda.explorer import exploration as cuda
from galton.backend.cuda.explorer.source import source as print_source
from galton.backend.limits import Limits
from galton.lower.lowering import Lowered
from galton.model.sparse import Model


def explore(lowered: Lowered) -> Model:
    """As ``cuda.explore``, but a fault of the program is raised instead of being explained by the CPU explorer."""
    source = print_source(lowered)
    with played_device():
        return cuda.Exploration(lowered, source, cuda.CudaKernels(source), Limits()).run().to_host()
