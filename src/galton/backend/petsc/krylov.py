"""Linear systems by PETSc: its matrices and vectors, Krylov methods (KSP) and preconditioners.

What comes out is a proposal; :mod:`galton.solve.ranks.sound` proves bounds of it. The method is BiCGStab with an
incomplete factorisation of each rank's block unless ``--petsc-options`` says otherwise.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...device.arrays import offsets
from ...lang.source import GaltonError
from .halo import Halo
from .world import world

__all__ = ["Krylov", "available", "describe", "take_options"]

# One level of fill takes about half the steps of none, and makes blocks of several ranks almost as good as the whole. A
# row may be all zeros but for rounding; the proof will tell.
DEFAULTS = {"pc_factor_levels": "1", "pc_factor_shift_type": "nonzero"}
DEBIAN = "/usr/lib/petscdir"  # where Debian has its builds, each with a folder of its own for petsc4py
MOST_STEPS = 2000
_OPTIONS: list[str] = []


def take_options(text: str) -> None:
    """Options for PETSc, as on its own command lines; to be called before it is needed first."""
    import shlex

    words = shlex.split(text)
    if words and not words[0].startswith("-"):
        raise GaltonError(
            f"--petsc-options begin with the name of one, as in '-ksp_type gmres', and not with {words[0]}"
        )
    _OPTIONS[:] = words  # read when PETSc is set up, which is now
    if not available():
        raise GaltonError("--petsc-options are for PETSc, and petsc4py is not installed (docs/cluster.md)")


@cache
def _module() -> Any:
    """petsc4py's PETSc, set up for all ranks; None where it is not installed."""
    if importlib.util.find_spec("petsc4py") is None:
        for folder in sorted(Path(DEBIAN).glob("petsc64-*/*-real/lib/python3/dist-packages"), reverse=True):
            sys.path.append(str(folder))
            break
    try:
        import petsc4py
    except ImportError:
        return None
    petsc4py.init(["galton", *_OPTIONS], comm=world().comm)
    from petsc4py import PETSc

    PETSc.Sys.pushErrorHandler("python")
    options = PETSc.Options()
    for name, value in DEFAULTS.items():
        for option in (name, f"sub_{name}"):  # of one rank, and of each rank's block
            if not options.hasName(option):
                options.setValue(option, value)
    return PETSc


def available() -> bool:
    """Whether PETSc is there."""
    return _module() is not None


def describe() -> str:
    """What solves linear systems, in words."""
    petsc = _module()
    if petsc is None:
        return "sweeps: petsc4py is not installed"
    return f"PETSc {'.'.join(map(str, petsc.Sys.getVersion()))}"


class Krylov:
    """``(1 - A) d = r`` for rows of a rank, given as lengths, places of columns in vectors and values."""

    def __init__(
        self,
        halo: Halo,
        lengths: npt.NDArray[np.int64],
        columns: npt.NDArray[np.integer],
        values: npt.NDArray[np.float64],
    ) -> None:
        petsc = _module()
        n, total, kind = halo.n, halo.total, petsc.IntType
        own = np.repeat(np.arange(n, dtype=columns.dtype), lengths)
        loops = columns == own  # divided out, unless rows were moved between ranks
        diagonal = 1.0 - np.bincount(own[loops], weights=values[loops], minlength=n)
        starts = offsets(lengths + 1 - np.bincount(own[loops], minlength=n))
        del own
        first = starts[:-1]  # of each row; the diagonal
        others = np.ones(starts[-1], dtype=bool)
        others[first] = False
        targets, entries = np.empty(len(others), dtype=kind), np.empty(len(others))
        targets[first], entries[first] = halo.numbers[:n], diagonal
        targets[others], entries[others] = halo.numbers[columns[~loops]], -values[~loops]
        starts = starts.astype(kind, copy=False)
        del diagonal, loops, others, columns, values  # PETSc makes copies
        sizes = ((n, total), (n, total))
        self.matrix = petsc.Mat().createAIJ(size=sizes, csr=(starts, targets, entries), comm=halo.world.comm)
        self.matrix.assemble()
        self.petsc, self.halo, self.steps = petsc, halo, 0
        self.x, self.b = self.matrix.createVecs()
        self.solver: Any = None

    def _prepare(self, relative: float) -> Any:
        if self.solver is None:
            solver = self.petsc.KSP().create(comm=self.halo.world.comm)
            solver.setOperators(self.matrix)
            solver.setType("bcgs")
            if self.halo.world.size > 1:
                solver.getPC().setType("bjacobi")
            else:
                solver.getPC().setType("ilu")
            solver.setFromOptions()
            self.solver = solver
        self.solver.setTolerances(rtol=relative, atol=1e-300, divtol=1e8, max_it=MOST_STEPS)
        return self.solver

    def solve(self, right: npt.NDArray[np.float64], relative: float) -> npt.NDArray[np.float64] | None:
        """A solution for this rank's part of the right side; None where the method failed on all ranks."""
        self.b.setArray(right)
        self.x.set(0.0)
        try:
            solver = self._prepare(relative)
            solver.solve(self.b, self.x)
        except self.petsc.Error:
            self.solver = None
            return None
        self.steps += int(solver.getIterationNumber())
        found: npt.NDArray[np.float64] = self.x.getArray().copy()
        return found if self.halo.world.all(np.isfinite(found).all()) else None

    def destroy(self) -> None:
        """Give the memory back."""
        for thing in (self.solver, self.matrix, self.x, self.b):
            if thing is not None:
                thing.destroy()
