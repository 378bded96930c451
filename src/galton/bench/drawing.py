"""Axes that people can read at once: plain numbers on logarithmic scales, and seconds with their unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plot.axes import with_plain_numbers

if TYPE_CHECKING:
    from matplotlib.axis import Axis

__all__ = ["in_seconds", "with_plain_numbers"]


def in_seconds(axis: Axis) -> None:
    """Ticks as 50 µs, 20 ms, 3 s."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    axis.set_major_formatter(EngFormatter(unit="s"))
    if axis.get_scale() == "log":
        from matplotlib.ticker import LogLocator

        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_formatter(NullFormatter())
