"""Programs as users hold them: read from a file or a text, built into a model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from .lang import Source, check_program, parse_model, program
from .lang.expressions import Value
from .lang.source import read_source

if TYPE_CHECKING:
    from .model.sparse import Model

__all__ = ["Program", "load", "parse"]


@dataclass(frozen=True, slots=True)
class Program(program.Program):
    """A checked PRISM program with its constants; :func:`load` and :func:`parse` make one."""

    def build(self, **options: object) -> Model:
        """Explore all reachable states; see :func:`galton.explore.build` for the options."""
        from .explore import build

        return build(self, **options)  # type: ignore[arg-type]


def load(path: str | Path, **constants: Value | str) -> Program:
    """A checked program from a file in the PRISM language, with values for its constants."""
    return _checked(read_source(path), constants)


def parse(text: str, **constants: Value | str) -> Program:
    """A checked program from a text in the PRISM language, with values for its constants."""
    return _checked(Source("<text>", text), constants)


def _checked(source: Source, constants: dict[str, Value | str]) -> Program:
    checked = check_program(parse_model(source), constants)
    return Program(**{field.name: getattr(checked, field.name) for field in fields(checked)})
