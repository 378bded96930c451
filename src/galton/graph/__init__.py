"""Questions about a model that its graph alone can answer."""

from ..backend.components import Components, EndComponents
from .components import bottom_components, strongly_connected_components
from .end_components import maximal_end_components
from .reachability import attractor, can_avoid, can_reach, forward_reachable, surely_reaches, zero_and_one

__all__ = [
    "Components",
    "EndComponents",
    "attractor",
    "bottom_components",
    "can_avoid",
    "can_reach",
    "forward_reachable",
    "maximal_end_components",
    "strongly_connected_components",
    "surely_reaches",
    "zero_and_one",
]
