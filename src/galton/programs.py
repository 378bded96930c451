"""Read a model from a file or a text."""

from __future__ import annotations

from pathlib import Path

from .lang import Source, check_program, parse_model
from .lang.expressions import Value
from .model.program import Program


def load(path: str | Path, **constants: Value | str) -> Program:
    """A checked program from a file in the PRISM language, with values for its constants."""
    return check_program(parse_model(Source(str(path), Path(path).read_text())), constants)


def parse(text: str, **constants: Value | str) -> Program:
    """The same from a text."""
    return check_program(parse_model(Source("<text>", text)), constants)
