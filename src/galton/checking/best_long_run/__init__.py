"""Long-run averages of MDPs: ``Smin=? [ φ ]``, ``Rmax=? [ S ]`` and the like (Puterman 1994, chapters 8 and 9).

Whatever the strategy, a run ends in an end component. So the best average is found in two steps: for every maximal end
component what can be earned by staying in it, its *gain*; and what can be expected of leaving and staying, where each
component is one state with one more choice, to stay for its gain (de Alfaro 1997; Ashok et al. 2017).
"""

from .average import Gains, best_long_run

__all__ = ["Gains", "best_long_run"]
