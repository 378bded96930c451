"""Axes that people can read at once: plain numbers on logarithmic scales, and seconds with their unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis

__all__ = ["in_seconds", "with_plain_numbers"]

DECADES = 2  # on a shorter scale powers of ten alone are too few


def with_plain_numbers(axis: Axis) -> None:
    """Ticks of a logarithmic axis as 0.5, 1, 2, where it has few powers of ten."""
    from math import log10

    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    if log10(high / low) <= DECADES:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,g}" if number < 1e6 else f"{number:.0e}"))
    axis.set_minor_formatter(NullFormatter())


def in_seconds(axis: Axis) -> None:
    """Ticks as 50 µs, 20 ms, 3 s."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    axis.set_major_formatter(EngFormatter(unit="s"))
    if axis.get_scale() == "log":
        from matplotlib.ticker import LogLocator

        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_formatter(NullFormatter())
