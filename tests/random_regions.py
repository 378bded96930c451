"""Rows of random parametric chains, as the kernels of regions take them."""

from __future__ import annotations

import numpy as np

from galton.backend.regions import GroupedRows


def random_rows(seed: int, n_states: int, n_terms: int, *, forward: bool = False) -> GroupedRows:
    rng = np.random.default_rng(seed)
    states = np.sort(rng.choice(n_states, rng.integers(1, n_states + 1), replace=False)).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 4, len(states)))]).astype(np.int64)
    terms = rng.integers(0, n_terms, starts[-1]).astype(np.int32)
    group_starts = np.concatenate([[0], np.cumsum(rng.integers(1, 4, len(terms)))]).astype(np.int64)
    columns = rng.integers(0, n_states, group_starts[-1]).astype(np.int32)
    coefficients = rng.uniform(0.1, 1.0, group_starts[-1])
    return GroupedRows(states, starts, terms, group_starts, columns, coefficients, n_states, n_terms, forward)
