"""``galton lump``, and lumping in ``galton check``."""

from __future__ import annotations

from pathlib import Path

MODELS = Path(__file__).parents[2] / "models"
