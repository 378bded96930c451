"""What a method returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..model.values import Floats

__all__ = ["Solution", "Work"]


@dataclass(frozen=True, slots=True)
class Work:
    """One step of the plan that led to an answer: what ``--explain`` prints."""

    step: str  # what was done: "graph analysis", "equations", "proof" …
    detail: str = ""  # in words and numbers: sizes, formats, why this way
    iterations: int = 0  # sweeps over the matrix
    seconds: float = 0.0


@dataclass(eq=False)
class Solution:
    """Bounds on the unknowns of :class:`~galton.solve.equations.Equations`.

    Where ``proved`` is false, both are the same array: the method makes no promise. ``chosen`` is the best row of each
    unknown, None for a chain. ``shift`` is what the default method moved its proposal by to prove it, but for a factor.
    """

    lower: Floats
    upper: Floats
    method: str
    work: tuple[Work, ...] = ()
    chosen: npt.NDArray[np.int32] | None = None
    proved: bool = True
    shift: Floats | None = None
