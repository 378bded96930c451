"""What no question can notice is left out before a program is explored.

:mod:`.cone` finds the variables and commands that matter, by who reads what. The rest of this page says why leaving out
the others changes no answer.

M. Weiser, "Program slicing", IEEE Transactions on Software Engineering 10 (1984); E. M. Clarke, O. Grumberg and
D. Peled, "Model Checking" (1999), section 13.1 (cone of influence).
"""

from .slices import Slice, Slices

__all__ = ["Slice", "Slices"]
