"""Questions about a model that its graph alone can answer."""

from .components import Components, bottom_components, strongly_connected_components
from .reachability import attractor, can_avoid, can_reach, forward_reachable, surely_reaches

__all__ = [
    "Components",
    "attractor",
    "bottom_components",
    "can_avoid",
    "can_reach",
    "forward_reachable",
    "strongly_connected_components",
    "surely_reaches",
]
