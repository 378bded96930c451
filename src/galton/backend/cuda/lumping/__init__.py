"""States that behave alike, on the device."""

from .refinement import refine, split

__all__ = ["refine", "split"]
