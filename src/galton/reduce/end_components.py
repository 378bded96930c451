"""End components in which nothing changes: one unknown each, because inside them the equations say nothing."""

from __future__ import annotations

import numpy as np

from ..device.arrays import offsets
from ..graph import attractor
from ..model.sparse import Int32s, Mask, Model
from .submodels import entries_of

__all__ = ["ways_inside"]


def ways_inside(model: Model, through: Mask, exits: Mask, staying: Mask) -> Int32s:
    """Rows that stay inside end components, whose rows are ``staying``, and lead to one of the ``exits``."""
    groups = model.choice_starts
    assert groups is not None
    kept = np.flatnonzero(staying)
    if not len(kept):
        return groups[:-1].astype(np.int32)
    # The rows that stay, alone, are a model of their own: states without any keep none, which no search minds.
    starts = offsets(staying, np.int32)[groups]
    entries, lengths = entries_of(model, kept)
    inner = Model(
        type="mdp",
        choice_starts=starts,
        row_starts=offsets(lengths),
        columns=model.columns[entries],
        values=model.values,
        initial=model.initial,
    )
    rows = attractor(inner, through, exits)
    known = np.minimum(rows, len(kept) - 1)
    return np.where(np.diff(starts) > 0, kept[known], groups[:-1]).astype(np.int32)
