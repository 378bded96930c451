"""Symmetries of a program: found by colours and by the shape of its modules, then proved.

Searching may be careless, because nothing is believed that :mod:`.proof` has not shown: a permutation of variables maps
the program, and everything that a question looks at, to itself. Then all states of an orbit behave alike, and explorers
visit one of them (:mod:`galton.model.orbits`).

E. A. Emerson and A. P. Sistla, "Symmetry and model checking", Formal Methods in System Design 9 (1996);
M. Kwiatkowska, G. Norman and D. Parker, "Symmetry reduction for probabilistic model checking", CAV 2006.
"""

from .symmetries import Symmetries, Symmetry

__all__ = ["Symmetries", "Symmetry"]
