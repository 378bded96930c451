"""Kernels for CUDA devices. Nothing here is imported before a model lies on a device."""
