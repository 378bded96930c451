"""Linear equations Mx = c, solved by the methods that Galton has for Markov chains, and timed over trials.

With D the diagonal of M, Mx = c is x = D⁻¹(D - M)x + D⁻¹c, which is what Jacobi's method and BiCGStab take. Numbers may
be negative: neither method minds, as long as it is chosen by hand and proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np
import scipy.sparse

from ..device.arrays import on_host
from ..model.errors import NumericError
from ..model.sparse import Model
from ..model.values import Floats, Values
from ..solve.equations import Equations, Origin, Segment
from ..solve.methods import method
from ..solve.settings import Settings

__all__ = ["ERROR", "METHODS", "LinearSystem", "Solved", "series", "solve"]

METHODS = ("bicgstab", "jacobi")
ERROR = 1e-6  # how far an equation of Mx = c may be off


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Mx = c. No number on the diagonal of M is 0."""

    matrix: scipy.sparse.csr_array
    right: Floats

    @property
    def equations(self) -> Equations:
        """The equations as methods take them, x = Ax + b with nothing on the diagonal of A."""
        diagonal = self.matrix.diagonal()
        rest = scipy.sparse.csr_array(self.matrix - scipy.sparse.diags_array(diagonal))
        rest.eliminate_zeros()
        size = len(diagonal)
        rows = np.arange(size, dtype=np.int32)
        return Equations(
            groups=None,
            starts=rest.indptr.astype(np.int32),
            columns=rest.indices.astype(np.int32),
            values=Values.compress(-rest.data),
            scale=1.0 / diagonal,
            constant=self.right / diagonal,
            rows=rows,
            progress=rows,
            optimum=None,
            slack=0.0,  # of proofs, for which nobody asks
            segments=(Segment(0, size, False),),
            origin=_no_origin(),
        )

    @property
    def eps(self) -> float:
        """A change of an unknown that is this small leaves no equation off by more than :data:`ERROR`."""
        return ERROR / float(abs(self.matrix.diagonal()).max())

    def check(self, x: Floats) -> None:
        """Refuse what is no solution.

        Raises
        ------
        NumericError
            Where an equation is off by more than :data:`ERROR`, and a little for rounding.
        """
        off = float(abs(self.matrix @ x - self.right).max())
        if not off <= 1.01 * ERROR:
            raise NumericError(f"this is no solution: an equation is off by {off:.2g}, and {ERROR:g} is allowed")


TINY = LinearSystem(scipy.sparse.csr_array(np.array([[2.0, 1.0], [1.0, 2.0]])), np.array([1.0, 0.0]))


def _no_origin() -> Origin:
    """Equations are of a model; of these only where it lies is asked, and one state tells."""
    model = Model.from_matrix("dtmc", [[1.0]])
    return Origin(model, np.full(1, -1, dtype=np.int32), np.zeros(1), None)


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution, the seconds it took, and how many times the matrix was multiplied with a vector."""

    x: Floats
    seconds: float
    products: int


def solve(system: LinearSystem, name: str, device: str) -> Solved:
    """The solution by a method, on one thread of the CPU or on a device; only the method's own work is timed.

    Raises
    ------
    NumericError
        Where the method fails, and where it finds what is no solution.
    """
    equations = system.equations if device == "cpu" else _on_device(system.equations, device)
    settings = Settings(eps=system.eps, relative=False, method=name, threads=1)
    _ = equations.system  # in its format before the clock starts
    start = time.perf_counter()
    found = method(name).solve(equations, settings)
    seconds = time.perf_counter() - start
    x: Floats = on_host(found.lower)
    system.check(x)
    return Solved(x, seconds, found.work[0].iterations)


def _on_device(equations: Equations, device: str) -> Equations:
    """Equations on a CUDA device, the first where several are named."""
    from ..device.cuda.runtime import import_cupy, select
    from ..device.moving import moved
    from ..device.placement import Request

    cupy = import_cupy()
    if numbers := Request.parse(device).numbers:
        select(numbers)
    return moved(equations, cupy.asarray)


def series(
    systems: Callable[[], Iterable[LinearSystem]], methods: Sequence[str], device: str, budget: float
) -> dict[str, Any]:
    """Solve systems by some methods: of each the mean time, its standard deviation, and the mean number of products.

    ``budget`` are the seconds for all. Each method gets its share, and makes fewer trials where it does not last.
    """
    found = {name: _trials(systems(), name, device, budget / len(methods)) for name in methods}
    return {"seconds": sum(one.get("mean", 0.0) for one in found.values()), **found}


def _trials(systems: Iterable[LinearSystem], name: str, device: str, budget: float) -> dict[str, Any]:
    start = time.perf_counter()
    found: list[Solved] = []
    try:
        for system in systems:
            if not found:  # code is loaded, and kernels for this kind of matrix are compiled, when first used
                solve(TINY if device == "cpu" else system, name, device)
            found.append(solve(system, name, device))
            if time.perf_counter() - start > budget:
                break
    except NumericError as error:
        return {"error": str(error).splitlines()[0]}
    seconds = [one.seconds for one in found]
    return {
        "mean": fmean(seconds),
        "deviation": stdev(seconds) if len(seconds) > 1 else None,
        "products": fmean(one.products for one in found),
        "trials": len(found),
    }
