"""Explore on a CUDA device."""
