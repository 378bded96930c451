"""A model whose arrays are on a device, copied to the host."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from .sparse import Model, Rewards, Values
from .states import PackedStates


def to_host(model: Model) -> Model:
    """The same model with NumPy arrays; the model itself if it has them already."""
    copied = _copied(model)
    return copied if isinstance(copied, Model) else model


def _copied(part: Any) -> Any:
    """A part with its arrays on the host: the same object where nothing had to be copied."""
    if hasattr(part, "get") and hasattr(part, "dtype"):  # an array of CuPy
        return part.get()
    if isinstance(part, dict):
        copies = {name: _copied(value) for name, value in part.items()}
        return part if all(copies[name] is part[name] for name in part) else copies
    if is_dataclass(part) and isinstance(part, Model | Rewards | Values | PackedStates):
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        copies = {name: _copied(value) for name, value in values.items()}
        changed = {name: value for name, value in copies.items() if value is not values[name]}
        return replace(part, **changed) if changed else part
    return part
