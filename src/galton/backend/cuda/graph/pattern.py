"""A model's rows, and the kernels for their type of offsets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....device.cuda.kernels import Kernels, kernels
from ....model.sparse import Model
from ...lumping import LumpRows

__all__ = ["COMPONENTS", "SEARCH", "TOGETHER", "check_lengths", "edges_of", "graph_kernels"]

SEARCH, TOGETHER, COMPONENTS = map(Path(__file__).with_name, ("search.cu", "together.cu", "components.cu"))


def graph_kernels(file: Path, offsets: Any) -> Kernels:
    """The kernels of a file for these offsets of rows, an array of 4- or 8-byte integers."""
    return kernels(file, "OFFSET=int" if offsets.itemsize == 4 else "OFFSET=long long")


def check_lengths(size: int, *masks: Any) -> None:
    """Refuse masks that are not of this length; None is none."""
    if any(mask is not None and len(mask) != size for mask in masks):
        raise ValueError("a mask of the wrong length")


def edges_of(model: Model | LumpRows) -> tuple[Any, Any, Any]:
    """The first three arguments of every kernel."""
    return model.row_starts, model.columns, model.choice_starts
