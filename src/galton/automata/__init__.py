"""Linear temporal logic and ω-automata: from a formula to a small deterministic automaton, and HOA files.

>>> from galton.automata import parse_ltl, translate
>>> formula, names = parse_ltl("G F a -> G F b")
>>> automaton = translate(formula, names)
>>> automaton.n_states
1
>>> automaton.accepts(stem=[0b01], loop=[0b01, 0b10])  # a now, then a and b in turn
True
"""

from __future__ import annotations

from .automaton import Automaton
from .formula import Formula
from .hoa import to_hoa
from .hoa_reader import read_hoa
from .text import parse_ltl, render
from .translation import translate

__all__ = ["Automaton", "Formula", "parse_ltl", "read_hoa", "render", "to_hoa", "translate"]
