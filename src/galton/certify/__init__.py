"""Certificates of answers: numbers, ranks and strategies that :mod:`galton.verify` can check without a solver."""

from __future__ import annotations

from .api import certified

__all__ = ["certified"]
