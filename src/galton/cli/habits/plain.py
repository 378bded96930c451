"""PRISM's spellings in Galton's own commands: those that clash with nothing work, the others are answered.

``-const N=5`` would else be read as ``-c onst`` and a word that nobody expects.
"""

from __future__ import annotations

import re

from ...lang.source import GaltonError
from .prism import PRISM
from .switches import Switch

__all__ = ["respelled"]

SAME = {"-const": "--const", "-pf": "--prop", "-pctl": "--prop", "-csl": "--prop"}
FLAGS = {"-exact": "--exact", "-fair": "--fair", "-absolute": "--absolute", "-relative": "--relative"}
CHOSEN = ("-prop", "-property")
A_NAME = re.compile(r"[\w-]+")


def respelled(words: list[str]) -> list[str]:
    """The words of a command with PRISM's spellings replaced; GaltonError for those that are spelled otherwise here."""
    known = {name: switch for switches in PRISM.values() for switch in switches for name in switch.spellings}
    found: list[str] = []
    for place, word in enumerate(words):
        if word in SAME or word in FLAGS:
            found.append(SAME.get(word) or FLAGS[word])
        elif word in CHOSEN:
            # PRISM's takes a number or a name, Storm's a text.
            value = words[place + 1] if place + 1 < len(words) else ""
            found.append("--name" if A_NAME.fullmatch(value) else "--prop")
        elif len(word) > 2 and word in known:
            raise GaltonError(_answer(word, known[word]))
        else:
            found.append(word)
    return found


def _answer(word: str, switch: Switch) -> str:
    beside = "'galton prism' takes a command line of PRISM's as it is"
    if switch.outcome == "done":
        takes = f" {switch.takes}" if switch.takes else ""
        return f"{word}{takes} is {switch.ours} here; {beside}"
    what = "has no counterpart here" if switch.outcome == "refused" else "needs nothing here"
    return f"{word} of PRISM {what}: {switch.note}"
