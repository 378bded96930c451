"""Damaged texts and files give an answer or a message: no traceback, no crash, little memory, and Ctrl-C in time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mutation_cases import kinds

COUNT = 60  # of each kind; bench and fuzz go on from there


@pytest.mark.parametrize("kind", kinds())
def test_damaged(kind: str) -> None:
    words = [sys.executable, Path(__file__).with_name("mutation_cases.py"), kind, "0", str(COUNT)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
