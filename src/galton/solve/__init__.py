"""Methods for the equation systems of models."""

from __future__ import annotations

from .equations import Equations
from .policy_iteration import policy_iteration
from .settings import Settings
from .solution import NumericError, Solution

__all__ = ["Equations", "NumericError", "Settings", "Solution", "policy_iteration", "solve"]


def solve(equations: Equations, settings: Settings) -> Solution:
    """Solve by the method that the settings name; the default proves its bounds."""
    from . import sound

    return sound.solve(equations, settings)
