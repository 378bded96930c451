"""Small models on a device are analysed by the CPU.

A small model takes less time on one core than it takes to start the kernels, and a search that goes step by step takes
a hundredth: its graph is fetched, and the answer sent back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np

from ..device.arrays import is_on_host, namespace, on_host
from ..device.moving import moved, to_host
from ..model.sparse import Model
from ..model.values import Values

__all__ = ["SMALL", "at_home_if_small"]

SMALL = 1 << 18  # transitions; from about here on a device is as fast as a core, whatever is asked

P = ParamSpec("P")
R = TypeVar("R")


def at_home_if_small(function: Callable[Concatenate[Model, P], R]) -> Callable[Concatenate[Model, P], R]:
    """Call the function with the graph of a small model on the host, wherever the model is."""

    @wraps(function)
    def called(model: Model, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if is_on_host(model.columns) or len(model.columns) >= SMALL:
            return function(model, *args, **kwargs)
        found = function(_graph_of(model), *to_host(args), **to_host(kwargs))
        xp = namespace(model.columns)
        return moved(found, xp.asarray)

    return called


def _graph_of(model: Model) -> Model:
    """The model on the host, without its numbers: nobody looks at them, but the kernels of the CPU want some."""
    numbers = Values(dictionary=np.ones(1), index=np.zeros(model.n_transitions, dtype=np.uint8))
    groups = None if model.choice_starts is None else on_host(model.choice_starts)
    return Model(
        type=model.type,
        choice_starts=groups,
        row_starts=on_host(model.row_starts),
        columns=on_host(model.columns),
        values=numbers,
        initial=on_host(model.initial),
    )
