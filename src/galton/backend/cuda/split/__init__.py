"""Work that several CUDA devices share: each has a part of the rows, and the few numbers of others that these need.

The modules meet the protocols of a backend, for arrays that are on the host or on one of the devices.
"""
