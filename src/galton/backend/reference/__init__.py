"""What each primitive means, in a few lines of NumPy."""
