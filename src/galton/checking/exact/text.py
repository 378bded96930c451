"""Exact numbers as people read them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..result import shown
from .numbers import as_fraction

__all__ = ["shown_exactly"]


def shown_exactly(value: Any) -> str:
    """A truth value, an integer, infinity, or a fraction, which is shortened where it is long."""
    if isinstance(value, (bool, int, float)):
        return shown(value)
    from ..result import fraction_text

    return fraction_text(Fraction(as_fraction(value)))
