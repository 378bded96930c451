"""What a method returns, and the errors that say why it did not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..lang.source import GaltonError
from ..model.values import Floats

__all__ = ["NumericError", "Solution"]


class NumericError(GaltonError):
    """A method that did not get there: the message says what to try."""

    kind = "numeric"


@dataclass(eq=False)
class Solution:
    """Bounds on the unknowns of :class:`~galton.solve.equations.Equations`.

    ``lower is upper`` where a method makes no promise. ``chosen`` is the best row of each unknown, None for a chain.
    """

    lower: Floats
    upper: Floats
    method: str
    iterations: int = 0
    chosen: npt.NDArray[np.int32] | None = None
    notes: list[str] = field(default_factory=list)
