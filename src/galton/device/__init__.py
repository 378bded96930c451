"""A place to compute: its arrays, its memory, its errors, its kernels."""
