"""How many random examples the tests of this folder try.

The usual run always tries the same ones; ``--hypothesis-profile=thorough`` tries thirty times as many, and new ones
each time.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def examples(usual: int) -> settings:
    """So many examples, times what the profile asks for more than the hundred of Hypothesis."""
    count = usual * settings.default.max_examples // 100
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(
        max_examples=count, deadline=None, derandomize=count == usual, suppress_health_check=slow, print_blob=False
    )
