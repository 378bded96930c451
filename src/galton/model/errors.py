"""Why a number could not be had."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..lang.source import GaltonError

__all__ = ["NumericError"]


class NumericError(GaltonError):
    """A method that did not get there: the message says what to try.

    ``states`` are those of the model that it is about, where that is known.
    """

    kind = "numeric"

    def __init__(self, message: str, states: npt.NDArray[np.integer] | None = None) -> None:
        super().__init__(message)
        self.states = states
