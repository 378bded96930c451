"""Explicit files on the command line: as models of every command, and from one format to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import MODELS, fails, galton  # type: ignore[import-not-found]

import galton as api
