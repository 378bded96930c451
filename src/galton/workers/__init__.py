"""Independent pieces of work, given to the workers of any ``concurrent.futures`` executor.

Experiments, synthesis, estimates and random paths all ask through here. Pieces are cut without a look at how many
workers there are, and what comes of them is put together in their order: the result is that of one core, bit for bit.
"""

from .asking import LostWorkerError, completed, in_order
from .naming import open_workers

__all__ = ["LostWorkerError", "completed", "in_order", "open_workers"]
