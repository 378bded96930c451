from __future__ import annotations

from hypothesis import settings

# Shared machines stall now and then; a test that takes long once is not wrong.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
