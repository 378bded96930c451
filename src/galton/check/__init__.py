"""Properties of models."""

from .reachability import Result, check
from .resolution import Question, resolve

__all__ = ["Question", "Result", "check", "resolve"]
