"""Which format the equations get: the one asked for, the one their rows suggest, or the faster of two."""

from __future__ import annotations

import time
from dataclasses import replace

import cupy as cp

from ..formats import FORMATS, SHORT, SMALL, Statistics, candidates
from .layout import Layout, lay_out, measure
from .system import System

__all__ = ["in_format", "seconds_per_sweep"]

LARGE = 1 << 22  # entries from which on sweeps are timed: fewer take no longer than that would
SWEEPS = 8


def in_format(matrix: Layout, name: str | None = None) -> Layout:
    """A matrix that is in CSR, in the format ``name``, or in one that suits it."""
    if name is not None:
        return lay_out(matrix, name, "as asked")
    entries = len(matrix.columns)
    by_length = "csr" if entries <= SHORT * matrix.rows else "csr-vector"
    if entries < SMALL:
        return lay_out(matrix, by_length, "small")
    seen = measure(matrix)
    names, why = candidates(seen)
    try:
        return _fastest(matrix, seen, names, why)
    except cp.cuda.memory.OutOfMemoryError:
        return lay_out(matrix, by_length, "no memory for another format")


def _fastest(matrix: Layout, seen: Statistics, names: tuple[str, ...], why: str) -> Layout:
    first = lay_out(matrix, names[0], why)
    if len(names) == 1 or seen.entries < LARGE:
        return first
    second = lay_out(matrix, names[1], why)
    found = [(seconds_per_sweep(layout), layout) for layout in (first, second)]
    (fast, best), (slow, other) = sorted(found, key=lambda pair: pair[0])
    timed = f"{fast * 1e6:,.0f} µs a sweep, {FORMATS[other.name]} {slow * 1e6:,.0f}"
    return replace(best, reason=f"{why}; {timed}")


def seconds_per_sweep(layout: Layout, sweeps: int = SWEEPS) -> float:
    """How long one of a few sweeps takes, after one that may have to load the kernels."""
    constant = cp.zeros(layout.rows)
    system = System(layout, None, constant, 0 if layout.groups is None else 1, compact=True)
    x = cp.zeros(layout.size)
    copy = cp.zeros(layout.size)
    for count in (1, sweeps):
        start = time.perf_counter()
        system.jacobi(x, copy, None, 0, layout.size, count, 0.0, False, 1.0, 1)
        seconds = (time.perf_counter() - start) / count
    return seconds
