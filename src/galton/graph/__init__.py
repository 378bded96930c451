"""Questions about a model that its graph alone can answer."""

from .reachability import attractor, can_avoid, can_reach, surely_reaches

__all__ = ["attractor", "can_avoid", "can_reach", "surely_reaches"]
