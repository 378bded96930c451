"""A model whose arrays are elsewhere: from a device to the host, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..device.arrays import is_on_host
from .sparse import Model, Rewards, Values
from .states import PackedStates

__all__ = ["to_device", "to_host"]


def to_host(model: Model) -> Model:
    """The same model with NumPy arrays; the model itself if it has them already."""
    moved: Model = _moved(model, lambda array: array if isinstance(array, np.ndarray) else array.get())
    return moved


def to_device(model: Model) -> Model:
    """The same model with arrays on the current CUDA device; the model itself if it has them already."""
    from ..device.cuda.runtime import import_cupy
    from ..device.errors import device_errors

    if not is_on_host(model.columns):
        return model
    cupy = import_cupy()
    with device_errors("the model does not fit into the memory of the device"):
        moved: Model = _moved(model, lambda array: cupy.asarray(array) if isinstance(array, np.ndarray) else array)
    told = {key: value for key, value in moved.info.items() if key not in ("instead", "larger than the device")}
    return replace(moved, info={**told, "chosen by": "user"})


def _moved(part: Any, move: Callable[[Any], Any]) -> Any:
    """A part with its arrays moved: the same object where none had to be."""
    if hasattr(part, "dtype") and hasattr(part, "shape") and part.shape:
        return move(part)
    if isinstance(part, dict):
        moved = {name: _moved(value, move) for name, value in part.items()}
        return part if all(moved[name] is part[name] for name in part) else moved
    if is_dataclass(part) and isinstance(part, Model | Rewards | Values | PackedStates):
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        changed = {name: new for name, old in values.items() if (new := _moved(old, move)) is not old}
        return replace(part, **changed) if changed else part
    return part
