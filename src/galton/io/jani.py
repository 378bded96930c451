"""Programs as JANI files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..lang import parse_model
from ..lang.jani.writer import LeftOut, jani_text
from ..lang.program import Program
from ..lang.properties import PropertyFile
from ..lang.syntax import ModelFile
from .output import replacing

__all__ = ["write_jani"]


def write_jani(
    program: Program | ModelFile, path: str | Path, properties: Sequence[PropertyFile] = ()
) -> list[LeftOut]:
    """Write a program to a JANI file.

    Parameters
    ----------
    program
        A checked program, whose constants keep the values they were given; or a model file as
        :func:`galton.lang.parse_model` reads it, whose constants stay open.
    path
        The file.
    properties
        Property files that go with it, as :func:`galton.lang.parse_properties` reads them. Their constants and labels
        join those of the model.

    Returns
    -------
    list
        The properties that JANI has no words for and that are not in the file, each with the reason.

    Examples
    --------
    >>> import galton
    >>> from tempfile import mkdtemp
    >>> program = galton.parse("dtmc  const int N;  module m  x : [0..N];  [] x<N -> (x'=x+1);  endmodule", N=3)
    >>> path = Path(mkdtemp()) / "walk.jani"
    >>> write_jani(program, path)
    []
    >>> galton.load(path).build()
    <dtmc: 4 states, 4 transitions>
    """
    if isinstance(program, ModelFile):
        syntax, constants = program, {}
    else:
        syntax, constants = parse_model(program.source), dict(program.constants)
    text, left_out = jani_text(syntax, properties, constants, Path(path).stem)
    with replacing(path) as file:
        file.write(text)
    return left_out
