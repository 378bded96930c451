"""Explore on a CUDA device."""

from .exploration import explore

__all__ = ["explore"]
