"""Tests that need a CUDA device are skipped where there is none, with the reason."""

from __future__ import annotations

import pytest

from galton.explore.cuda_device import DeviceError, import_cupy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    asked = [item for item in items if "gpu" in item.keywords]
    if not asked:
        return
    try:
        import_cupy()
    except DeviceError as error:
        for item in asked:
            item.add_marker(pytest.mark.skip(reason=str(error)))
