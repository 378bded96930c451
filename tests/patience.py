"""How long something may take in a test, on a machine that may have other things to do."""

from __future__ import annotations

import os

__all__ = ["allowed"]


def allowed(seconds: float) -> float:
    """More than these seconds, as far as the machine has more to do than it has cores.

    Tests run side by side, so a limit that is meant for one process alone would fail now and then.
    """
    return seconds * max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))
