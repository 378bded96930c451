"""Cases and campaigns that are known to fail; there are none."""

from __future__ import annotations

CASES: frozenset[str] = frozenset()
CAMPAIGNS: frozenset[str] = frozenset()
