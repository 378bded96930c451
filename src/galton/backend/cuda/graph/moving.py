"""Models, masks and answers from the device to the CPU and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cupy as cp
import numpy as np

from ....model.sparse import Model, Values
from ...components import Components, EndComponents

__all__ = ["SMALL", "fetched", "sent"]

SMALL = 1 << 18  # transitions; from about here on the device is as fast as a core, whatever is asked


def fetched(value: Any) -> Any:
    """The same on the CPU; of a model only its graph."""
    if isinstance(value, Model):
        arrays = {name: fetched(getattr(value, name)) for name in ("choice_starts", "row_starts", "columns")}
        # Nobody looks at the numbers, but the kernels of the CPU want some.
        numbers = Values(dictionary=np.ones(1), index=np.zeros(value.n_transitions, dtype=np.uint8))
        return replace(value, **arrays, values=numbers)
    return _moved(value, cp.ndarray, cp.asnumpy)


def sent(value: Any) -> Any:
    """The same on the device."""
    return _moved(value, np.ndarray, cp.asarray)


def _moved(value: Any, kind: type, move: Callable[[Any], Any]) -> Any:
    if isinstance(value, kind):
        return move(value)
    if isinstance(value, tuple):
        return tuple(_moved(part, kind, move) for part in value)
    if isinstance(value, dict):
        return {name: _moved(part, kind, move) for name, part in value.items()}
    if isinstance(value, Components | EndComponents):
        return replace(value, **_moved(vars(value), kind, move))
    return value
