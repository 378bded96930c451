"""Several objectives of an MDP at once, ``multi(…)``: bounds met together, the best under bounds, Pareto sets."""

from .answer import answer

__all__ = ["answer"]
