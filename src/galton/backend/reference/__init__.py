"""What each operation of the protocol means, in plain Python and NumPy: for tests, and to be read.

Slow, in one thread, and meant for small models. The other backends are compared with it.
"""
