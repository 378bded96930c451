"""Methods for the equation systems of models: the default, which proves its bounds, and those chosen by hand."""

from __future__ import annotations

from ..model.errors import NumericError
from .equations import Equations
from .methods import METHODS, find
from .settings import Settings
from .solution import Solution

__all__ = ["METHODS", "Equations", "NumericError", "Settings", "Solution", "solve"]


def solve(equations: Equations, settings: Settings) -> Solution:
    """Solve by the method that the settings name; the default proves its bounds."""
    if not settings.by_hand:
        from . import sound

        return sound.solve(equations, settings)
    assert settings.method is not None
    outer, method = find(settings.method)
    if method.proves and equations.faint:
        raise NumericError(
            f"numbers of this model are at the end of what doubles can hold, where {method.name} proves nothing; "
            "leave --method away"
        )
    if outer is None:
        return method.solve(equations, settings)
    return outer(equations, settings, method)
