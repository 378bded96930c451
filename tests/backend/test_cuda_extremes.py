"""The least and the greatest number of each group, to the last digit."""

from __future__ import annotations

from typing import Any

import numpy as np
from systems import to_host


def test_extremes_keep_every_digit(xp: Any) -> None:
    """CuPy's own ``minimum.at`` gave 0.10000000149011612 for 0.1, and a proved long-run average was wrong."""
    from galton.device.cuda.extremes import extremes

    random = np.random.default_rng(5)
    groups = np.concatenate([np.arange(7), random.integers(0, 7, 500)]).astype(np.int32)
    numbers = random.choice([0.1, -0.1, 1e-300, -5e-324, 0.0, 1 / 3, -1e308, np.inf, -np.inf], len(groups))
    numbers[:7] = [0.1, -0.1, 1 / 3, -1 / 3, np.inf, -np.inf, 5e-324]
    groups[7:][groups[7:] < 4] = 4  # the first four have one number each
    least, greatest = (to_host(found) for found in extremes(xp.asarray(numbers), xp.asarray(groups), 7))
    for group in range(7):
        own = numbers[groups == group]
        assert (least[group], greatest[group]) == (own.min(), own.max())
