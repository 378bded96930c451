from __future__ import annotations

from hypothesis import settings

# For a long look: pytest tests/oracle --hypothesis-profile=thorough
settings.register_profile("thorough", deadline=None, max_examples=3_000)
