"""Who does the work: one folder per device, each with all that is special to it.

A backend is a folder whose modules meet the protocols of :mod:`.protocol`: ``explorer``, ``graph``, ``rows``,
``lumping``, ``equations``, ``steps``, ``long_run``, ``regions``. A new device is a new folder, and a line here. Nothing
of a backend is loaded before it is asked for.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, cast

from ..device.arrays import library_of

if TYPE_CHECKING:
    from .protocol import Equations, Explorer, Graph, LongRun, Lumping, Regions, Rows, Steps

__all__ = ["BACKENDS", "CPU", "CUDA", "PETSC", "REFERENCE", "SPLIT", "Backend", "of"]


class Backend:
    """A folder of this package, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<backend {self.name}>"

    @cached_property
    def explorer(self) -> Explorer:
        """From a lowered program to a model."""
        return cast("Explorer", self._module("explorer"))

    @cached_property
    def graph(self) -> Graph:
        """Searches in the graph of a model."""
        return cast("Graph", self._module("graph"))

    @cached_property
    def rows(self) -> Rows:
        """Between states and their choices."""
        return cast("Rows", self._module("rows"))

    @cached_property
    def lumping(self) -> Lumping:
        """States that behave alike."""
        return cast("Lumping", self._module("lumping"))

    @cached_property
    def equations(self) -> Equations:
        """Equations of some states of a model, and sweeps over them."""
        return cast("Equations", self._module("equations"))

    @cached_property
    def long_run(self) -> LongRun:
        """Poisson's equation of an irreducible chain."""
        return cast("LongRun", self._module("long_run"))

    @cached_property
    def steps(self) -> Steps:
        """Steps of chains and MDPs."""
        return cast("Steps", self._module("steps"))

    @cached_property
    def regions(self) -> Regions:
        """Steps of parametric chains over boxes of parameters."""
        return cast("Regions", self._module("regions"))

    def _module(self, part: str) -> ModuleType:
        return import_module(f".{self.name}.{part}", __name__)


CPU, CUDA = Backend("cpu"), Backend("cuda")
PETSC = Backend("petsc")  # the ranks of an MPI job, which share models
SPLIT = Backend("cuda.split")  # equations, steps and long runs that several devices share
REFERENCE = Backend("reference")  # for tests: slow, and meant to be read; nobody is sent there
BACKENDS = {backend.name: backend for backend in (CPU, CUDA)}


def of(array: object, devices: tuple[int, ...] = ()) -> Backend:
    """The backend for what has this array: that of the library it is of; where devices are named, they share it."""
    if devices:
        return SPLIT
    library = library_of(array)
    return CPU if library is None else BACKENDS[library.name]
