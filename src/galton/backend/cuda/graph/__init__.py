"""Searches in the graph of a model whose arrays lie on a CUDA device."""

from .components import strong_components
from .end_components import end_components
from .reachability import reach_by, reach_every, reach_forward, reach_some, reach_surely

__all__ = [
    "end_components",
    "reach_by",
    "reach_every",
    "reach_forward",
    "reach_some",
    "reach_surely",
    "strong_components",
]
