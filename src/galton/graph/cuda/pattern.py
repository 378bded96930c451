"""A model's rows, and the kernels for their type of offsets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...backend.cuda.module import Kernels, kernels
from ...model.sparse import Model

__all__ = ["edges_of", "graph_kernels"]


def graph_kernels(offsets: Any, file: str) -> Kernels:
    """The kernels of a file of this package for these offsets of rows, an array of 4- or 8-byte integers."""
    return kernels(Path(__file__).with_name(file), f"OFFSET={'int' if offsets.itemsize == 4 else 'long long'}")


def edges_of(model: Model) -> tuple[Any, Any, Any]:
    """The first three arguments of every kernel."""
    return model.row_starts, model.columns, model.choice_starts
