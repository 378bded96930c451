"""Models in numbers, for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...device.arrays import how_many

if TYPE_CHECKING:
    from ...model.sparse import Model

__all__ = ["model_info"]


def model_info(model: Model, seconds: float) -> dict[str, Any]:
    """How large a model is, and what it has."""
    variables = () if model.states is None else model.states.variables or ()
    return {
        "type": model.type,
        "states": model.n_states,
        "choices": model.n_choices,
        "transitions": model.n_transitions,
        "initial": len(model.initial),
        "bytes": model.memory,
        "seconds": round(seconds, 6),
        "placement": str(model.placement),
        "labels": [{"name": name, "states": how_many(mask)} for name, mask in model.labels.items()],
        "rewards": list(model.rewards),
        "variables": list(variables),
        "warnings": list(model.warnings),
    }
