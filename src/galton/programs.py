"""Read a model from a file or a text."""

from __future__ import annotations

from pathlib import Path

from .lang import Source, check_program, parse_model
from .lang.expressions import Value
from .model.program import Program


def read_source(path: str | Path) -> Source:
    """The text of a file. Old files have comments in old encodings: what is not UTF-8 is shown as such, not refused."""
    return Source(str(path), Path(path).read_text(encoding="utf-8", errors="replace"))


def load(path: str | Path, **constants: Value | str) -> Program:
    """A checked program from a file in the PRISM language, with values for its constants."""
    return check_program(parse_model(read_source(path)), constants)


def parse(text: str, **constants: Value | str) -> Program:
    """The same from a text."""
    return check_program(parse_model(Source("<text>", text)), constants)
