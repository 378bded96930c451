"""Random paths: to look at, and to count. What they tell is an estimate with a confidence, never a proof."""

from .api import estimate, simulate
from .result import Estimate

__all__ = ["Estimate", "estimate", "simulate"]
