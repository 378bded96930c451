"""Which version of an operation a model needs: a model on a CUDA device is analysed there, unless it is small."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np

from ..model.sparse import Model

__all__ = ["or_on_device"]

P = ParamSpec("P")
R = TypeVar("R")


def or_on_device(function: Callable[Concatenate[Model, P], R]) -> Callable[Concatenate[Model, P], R]:
    """Where the model's arrays are not NumPy's, call the function of the same name in :mod:`galton.backend.cuda.graph`.

    A small model takes less time on one core than it takes to start the kernels, and a search that goes step by step
    takes a hundredth: it is fetched, and the answer sent back.
    """

    @wraps(function)
    def either(model: Model, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if isinstance(model.columns, np.ndarray):
            return function(model, *args, **kwargs)
        from ..backend.cuda import graph as cuda

        if len(model.columns) < cuda.SMALL:
            return cuda.sent(function(cuda.fetched(model), *cuda.fetched(args), **cuda.fetched(kwargs)))
        found: R = getattr(cuda, function.__name__)(model, *args, **kwargs)
        return found

    return either
