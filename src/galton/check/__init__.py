"""Properties of models."""

from .reachability import Result, check

__all__ = ["Result", "check"]
