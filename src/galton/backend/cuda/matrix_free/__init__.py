"""Sweeps without a matrix: rows are computed anew from states, successors found by their rank in the set of states."""

from .numbers import Extremes, Numbers
from .states import StateSet, discover

__all__ = ["Extremes", "Numbers", "StateSet", "discover"]
