"""The graph analysis of :mod:`galton.graph` for models whose arrays lie on a CUDA device; same names, same meaning."""

from .components import bottom_components, strongly_connected_components
from .end_components import maximal_end_components
from .moving import SMALL, fetched, sent
from .reachability import attractor, can_avoid, can_reach, forward_reachable, surely_reaches, zero_and_one

__all__ = [
    "SMALL",
    "attractor",
    "bottom_components",
    "can_avoid",
    "can_reach",
    "fetched",
    "forward_reachable",
    "maximal_end_components",
    "sent",
    "strongly_connected_components",
    "surely_reaches",
    "zero_and_one",
]
