"""Reaction networks in SBML, the format of systems biology, as programs in the PRISM language.

A species is a variable that counts its molecules, a reaction is a command, a parameter is a constant. Laws have to be
mass action: a constant times the amounts of what reacts. Reading needs python-libsbml (``pip install 'galton[sbml]'``).

- :mod:`.reading` takes the file apart, and refuses what has no meaning in a Markov chain, by name and reason.
- :mod:`.laws` finds out what a law says: constants times powers of amounts.
- :mod:`.mass_action` compares that with what a reaction consumes, and counts combinations of molecules.
- :mod:`.bounds` finds out how many molecules of a species there can be.
- :mod:`.printing` writes the program.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["SUFFIXES", "prism_text"]

SUFFIXES = (".xml", ".sbml")
"""How files in SBML are called."""


def prism_text(path: str | Path) -> str:
    """The program that a file in SBML comes to; GaltonError says what is wrong with it, or cannot be meant."""
    from .printing import printed
    from .reading import read_network

    return printed(read_network(Path(path)))
