"""The worked examples of documents 002 and 003, and the descriptions of formats beside the layouts of a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from played import played_device

from galton.bench import patterns, sweeps
from galton.bench.experiment import Options, Row
from galton.bench.storage import EMPTY, backward_segmented_scan, slices

NO_ENTRY, COLUMN = 1 << 30, (1 << 30) - 1
# Document 003, Figure 4: a is 1, b is 2.
STARTS = np.array([0, 2, 4, 5, 7, 8, 10, 11], dtype=np.int32)
COLUMNS = np.array([1, 2, 2, 3, 4, 0, 3, 4, 0, 1, 2], dtype=np.int32)
NUMBERS = np.arange(1.0, 12.0)


def rows_of(experiments: Any, name: str) -> list[Row]:
    (experiment,) = (one for one in experiments if one.name == name)
    return list(experiment.run(Options(models=Path("nowhere"))))


@pytest.mark.parametrize(
    ("module", "name", "count"),
    [(patterns, "003-example", 3), (sweeps, "002-example-1", 3), (sweeps, "002-example-2", 2)],
)
def test_worked_examples_of_the_papers(module: Any, name: str, count: int) -> None:
    rows = rows_of(module.EXPERIMENTS, name)
    assert len(rows) == count
    for row in rows:
        assert row.measured["same"] == "yes"
        assert {key: row.measured[key] for key in row.printed} == row.printed


def test_full_warp_segments() -> None:
    starts, columns, numbers = slices(STARTS, COLUMNS, NUMBERS, 4, 1)
    assert starts.tolist() == [0, 8, 14]
    assert columns.tolist() == [1, 2, 4, 0, 2, 3, EMPTY, 3, 4, 0, 2, EMPTY, 1, EMPTY]
    assert numbers.tolist() == [1, 3, 5, 6, 2, 4, 0, 7, 8, 9, 11, 0, 10, 0]


def test_half_warp_segments() -> None:
    starts, columns, numbers = slices(STARTS, COLUMNS, NUMBERS, 4, 2)
    assert starts.tolist() == [0, 4, 8, 12, 14]
    assert columns.tolist() == [1, 2, 2, 3, 4, EMPTY, 0, 3, 4, EMPTY, 0, 1, 2, EMPTY]
    assert numbers.tolist() == [1, 2, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0]


def test_a_backward_segmented_scan() -> None:
    found = backward_segmented_scan(np.array([4, 1, 6, 3, 8, 6, 1, 2, 5]), np.array([0, 3, 5]))
    assert found.tolist() == [11, 7, 6, 11, 8, 14, 8, 7, 5]


@pytest.mark.parametrize(("name", "lanes"), [("sliced", 1), ("half-sliced", 2)])
@pytest.mark.parametrize("compact", [False, True])
def test_the_layouts_of_a_device_are_as_described(name: str, lanes: int, compact: bool) -> None:
    """Whole segments: 64 rows of up to five entries, none empty."""
    random = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(random.integers(1, 6, 64))]).astype(np.int32)
    columns = random.integers(0, 64, starts[-1]).astype(np.int32)
    numbers = random.choice([0.125, 0.25, 0.5], starts[-1])
    with played_device() as cupy:
        from galton.backend.cuda.layout import csr, lay_out

        rows = csr(None, cupy.asarray(starts), cupy.asarray(columns), cupy.asarray(numbers), None)
        laid = lay_out(rows, name, compact=compact)
        words, codes, segments = (part.get() for part in (laid.columns, laid.codes, laid.starts))
        values = codes if laid.dictionary is None else laid.dictionary.get()[codes]
    assert (laid.dictionary is not None) == compact
    described = slices(starts, columns, numbers, 32, lanes)
    assert segments.tolist() == described[0].tolist()
    assert np.where(words & NO_ENTRY, EMPTY, words & COLUMN).tolist() == described[1].tolist()
    assert values.tolist() == described[2].tolist()


def test_the_sums_of_segments_on_a_device() -> None:
    """Document 002: what the scan leaves at the start of each segment, in the segmented format."""
    numbers, starts = np.array([4.0, 1, 6, 3, 8, 6, 1, 2, 5]), np.array([0, 3, 5, 9], dtype=np.int32)
    with played_device() as cupy:
        from galton.backend.cuda.layout import csr
        from galton.backend.cuda.system import System

        parts = (starts, np.zeros(9, dtype=np.int32), numbers)
        rows = csr(None, *(cupy.asarray(part) for part in parts), None, name="segmented")
        system, found = System(rows, None, cupy.zeros(3), 0), cupy.empty(3)
        system.multiply(cupy.ones(3), found, None, with_constant=False)
        assert found.get().tolist() == [11, 11, 14]
