"""PRISM's own regression tests, where they lie beside this repository, and what Galton makes of them."""

from __future__ import annotations

import shlex
from pathlib import Path

SHARED = Path(__file__).parents[2].parent / "shared"
TESTS = SHARED / "prism-tests"
SUFFIXES = (".prism", ".nm", ".pm", ".sm", ".orig")  # .orig: what the imported files were once exported from


def models() -> list[str]:
    """All models, as paths below the folder of the tests; nothing where there is no such folder."""
    return sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("*") if path.suffix in SUFFIXES)


def valuations(model: str) -> list[dict[str, str]]:
    """The different constants that the argument files of a model and of its properties give, or none at all, once."""
    path = TESTS / model
    found = []
    for file in sorted(path.parent.glob(f"{path.name}*.args")):
        for line in file.read_text().splitlines():
            words = shlex.split(line, comments=True)
            if "-const" in words:
                found.append(first_values(words[words.index("-const") + 1]))
    return [dict(pairs) for pairs in dict.fromkeys(tuple(constants.items()) for constants in found)] or [{}]


def first_values(text: str) -> dict[str, str]:
    """Constants as PRISM's command line has them; of a range ``1:3`` or ``1:0.5:3``, the first value."""
    pairs = (piece.partition("=") for piece in text.split(","))
    return {name: value.partition(":")[0] for name, _, value in pairs}
