"""The list of what questions need of a device names only what there is."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cupy", reason="CuPy is not installed")

from galton.device.cuda import beforehand

LINES = beforehand.FILE.read_text().splitlines()


def test_statements_are_about_arrays_that_there_are() -> None:
    """A statement that raises is passed over on a device, and its kernels are compiled when they are needed."""
    statements = [line for line in LINES if not beforehand._is_file(line)]
    assert len(statements) > 100
    known = {*beforehand.small_arrays(np, 4), "SIZE"}
    for statement in statements:
        names = set(compile(statement, "beforehand.txt", "exec").co_names)
        assert names <= known | {*dir(np), *dir(np.ndarray)}, statement


def test_files_of_kernels_are_there() -> None:
    files = {line.partition("\t")[0] for line in LINES if beforehand._is_file(line)}
    assert len(files) > 10
    assert [name for name in files if not (beforehand.ROOT / name).exists()] == []
