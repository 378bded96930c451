"""Axes that people can read at once: plain numbers on logarithmic scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis

__all__ = ["with_plain_numbers"]

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
