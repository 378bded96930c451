"""Random paths on a device: the explorer's printed functions, and a kernel that draws."""

from .paths import DevicePaths

__all__ = ["DevicePaths"]
