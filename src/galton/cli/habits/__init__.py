"""Habits: ``galton prism`` and ``galton storm`` take a command line of these tools as it is.

It is translated by one table for each tool (:mod:`.prism`, :mod:`.storm`), what is run is said, and what has no
counterpart is refused with a sentence. Nothing is left away without a word.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

__all__ = ["AS_IT_IS", "prism", "storm", "understood"]

Words = Annotated[
    list[str] | None, typer.Argument(metavar="WORDS…", show_default=False, help="As they are typed there.")
]
# All words are the other tool's, -h and -v too.
AS_IT_IS: dict[str, Any] = {
    "cls": TyperCommand,
    "context_settings": {
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        "help_option_names": ["--help"],
    },
}


OTHERS = ("prism", "storm", "bench", "automaton")  # take words of their own


def understood(words: list[str]) -> list[str]:
    """The words of a command line with what PRISM's users type by habit in Galton's own spelling."""
    long_with_one_dash = any(len(word) > 2 and word[0] == "-" and word[1:].isalpha() for word in words)
    if not long_with_one_dash or words[0] in OTHERS:
        return words
    from .plain import respelled

    return respelled(words)


def prism(words: Words = None) -> None:
    """Run a command line of PRISM's, as it is, and say what was run.

    `galton prism -help` lists the switches of PRISM's and what does the same here.

    \b
    Examples:
      galton prism models/die.prism models/die.props -const k=6 -prop 2
      galton prism models/die.prism -pf 'P=? [ F d=6 ]' -sparse -gs -epsilon 1e-8
      galton prism models/die.prism -exportmodel die.tra,sta,lab
    """
    from .prism import PRISM, translated
    from .running import run, show

    if not words or any(word in ("-help", "--help", "-?") for word in words):
        show("PRISM", PRISM)
    elif _asks_version(words):
        return
    else:
        run(*translated(words))


def storm(words: Words = None) -> None:
    """Run a command line of Storm's, as it is, and say what was run.

    `galton storm -h` lists the switches of Storm's and what does the same here.

    \b
    Examples:
      galton storm --prism models/die.prism --prop 'P=? [ F d=6 ]'
      galton storm --prism models/consensus.prism --constants N=2,K=2 --prop models/consensus.props --sound
    """
    from .running import run, show
    from .storm import STORM, translated

    if not words or any(word in ("-h", "-help", "--help") for word in words):
        show("Storm", STORM)
    elif _asks_version(words):
        return
    else:
        run(*translated(words))


def _asks_version(words: list[str]) -> bool:
    """Say which Galton this is, where somebody asks for the version of the other tool."""
    asks = any(word in ("-version", "--version") for word in words)
    if asks:
        from importlib.metadata import version

        typer.echo(f"Galton {version('galton')}, which takes this command line as its own")
    return asks
