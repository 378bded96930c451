"""Parameter synthesis: for which rates and probabilities does a property hold?

A box of parameter values gets bounds that hold for every point in it; boxes whose bounds do not decide are split
(Češka, Dannenberg, Kwiatkowska, Paoletti: Precise parameter synthesis for stochastic biochemical systems, 2014; with
batches of boxes as in PRISM-PSY, 2016).
"""

from __future__ import annotations

from .api import synthesize
from .regions import Box, Regions

__all__ = ["Box", "Regions", "synthesize"]
