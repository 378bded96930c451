"""A model whose arrays are elsewhere: from a device to the host, and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..device.arrays import is_on_host
from ..device.cuda.runtime import import_cupy
from ..device.errors import device_errors
from ..device.moving import moved
from ..device.moving import to_host as brought
from ..device.placement import Placement
from .sparse import Model

__all__ = ["to_device", "to_host"]


def to_host(model: Model) -> Model:
    """The model with NumPy arrays; the model itself if it has them already."""
    return model if is_on_host(model.columns) else replace(brought(model), placement=Placement.cpu("brought there"))


def to_device(model: Model) -> Model:
    """The model with arrays on the current CUDA device; the model itself if they are there already."""
    if not is_on_host(model.columns):
        return model
    cupy = import_cupy()
    with device_errors("the model does not fit into the memory of the device"):
        there = moved(model, lambda array: cupy.asarray(array) if isinstance(array, np.ndarray) else array)
    return replace(there, placement=Placement("cuda", "the model was brought there", asked="cuda"))
