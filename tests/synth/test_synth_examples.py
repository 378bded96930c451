"""The examples in docstrings."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["api", "parameters"])
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"galton.synth.{name}"))
    assert found.attempted
    assert not found.failed
