"""Which unknowns are 0: where nothing is paid on any path, or, for a minimum, where nothing has to be.

Numbers that come nearer to 0 for ever never get there, so methods that measure relatively must know. What sweeps from 0
leave at 0 is 0; the values themselves do not matter, so that they are set back to 1 before they get too small.
"""

from __future__ import annotations

import numpy as np

from ..backend.protocol import Span, Stop, System
from ..device.arrays import how_many, namespace
from ..model.values import Floats
from .equations import Int32s, Mask

__all__ = ["extend", "support"]


def support(system: System, span: Span, x: Floats, chosen: Int32s | None) -> Mask:
    """The unknowns of a range that are not 0, given which earlier ones are; by the rows chosen, or the best if None."""
    seen = (x > 0).astype(np.float64)
    return extend(system, span, seen, np.empty_like(seen), chosen)


def extend(system: System, span: Span, seen: Floats, copy: Floats, chosen: Int32s | None) -> Mask:
    """The unknowns of a range that are not 0.

    ``seen`` is 1 for earlier unknowns that are not 0, and afterwards for these as well.
    """
    part, xp = span.part, namespace(seen)
    seen[part] = 0.0
    while True:
        before = seen[part].copy()
        system.gauss_seidel(seen, copy, chosen, span, Stop(1))
        seen[part] = xp.maximum(before, seen[part] > 0)
        if not how_many(seen[part] != before):
            # Within a sweep a number may get too small to be seen; not in one that reads only ones.
            system.jacobi(seen, copy, chosen, span, Stop(1))
            seen[part] = xp.maximum(before, seen[part] > 0)
            if not how_many(seen[part] != before):
                return seen[part] > 0
