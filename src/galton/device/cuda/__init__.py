"""A CUDA device, through CuPy."""
