"""All that a synthesis has to know to be asked again, elsewhere or later: texts and numbers, nothing that was built.

``galton synth --json`` writes it with the boxes, so that ``--resume`` needs nothing else; an executor's workers get it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from ..checking.inquiring import read_subject
from ..io.fields import as_object, as_text, get, one_of
from ..lang import GaltonError, Source, parse_model
from ..lang.evaluation import LARGEST_INT
from ..lang.expressions import Value
from ..lang.program import Program
from ..lang.rationals import Exact
from ..lang.source import read_source
from ..lang.stream import nearest
from ..model.sparse import Model
from .refinement import Split

if TYPE_CHECKING:
    from ..lang.properties import PropertyFile
    from .parameters import Range

Direction = Literal["auto", "backward", "forward"]
DIRECTIONS: tuple[Direction, ...] = ("auto", "backward", "forward")
TOLERANCE = 0.01

__all__ = ["DIRECTIONS", "TOLERANCE", "Direction", "Inquiry", "given_texts", "model_of"]


@dataclass(frozen=True)
class Inquiry:
    """A question about a parametric model.

    ``properties`` is a text with one property, or with several of which ``chosen`` is a name or a number from 1.
    ``given`` are the constants as they were typed.
    """

    model: Source
    properties: Source
    ranges: Mapping[str, Range]
    given: Mapping[str, str] = field(default_factory=dict)
    chosen: str | None = None
    maximize: bool = False
    minimize: bool = False
    accuracy: float | None = None
    tolerance: float = TOLERANCE
    split: Split = "best"
    direction: Direction = "auto"

    def place(self, file: PropertyFile) -> int:
        """Which of the properties of the text is asked for."""
        count = len(file.properties)
        if self.chosen is None:
            if count != 1:
                names = ", ".join(p.name for p in file.properties if p.name)
                which = f"choose one by its name ({names}) or its number" if names else "choose one by its number"
                raise GaltonError(
                    f"one property is asked for, and this text has {count}" + (f"; {which}" if count else "")
                )
            return 0
        known = {str(number + 1): number for number in range(count)}
        known |= {p.name: number for number, p in enumerate(file.properties) if p.name}
        if self.chosen not in known:
            hint = nearest(self.chosen, [name for name in known if not name.isdigit()]) or f"there are {count}"
            raise GaltonError(f"no property is called '{self.chosen}'; {hint}")
        return known[self.chosen]

    @property
    def changed(self) -> bool:
        """Whether the file of the model says something else by now."""
        path = Path(self.model.name)
        return path.is_file() and read_source(path).text != self.model.text

    def to_json(self) -> dict[str, Any]:
        """What is not among the other fields of a file of regions."""
        return {
            "model": {"name": self.model.name, "text": self.model.text},
            "properties": {"name": self.properties.name, "text": self.properties.text, "chosen": self.chosen},
            "given": dict(self.given),
            "direction": self.direction,
        }

    @classmethod
    def from_json(
        cls, found: dict[str, Any], *, problem: str, tolerance: float, split: str, ranges: Mapping[str, Range]
    ) -> Inquiry:
        """An inquiry from a file, and from what the regions in it say; BadField for what does not fit."""
        model, properties = (as_object(get(found, name), f"asked: {name}") for name in ("model", "properties"))
        chosen = get(properties, "chosen")
        return cls(
            model=_source(model, "asked: model"),
            properties=_source(properties, "asked: properties"),
            ranges=ranges,
            given={
                as_text(name, "a constant"): as_text(value, f"asked: given: {name}")
                for name, value in as_object(get(found, "given"), "asked: given").items()
            },
            chosen=None if chosen is None else as_text(chosen, "asked: chosen"),
            maximize=problem == "maximise",
            minimize=problem == "minimise",
            accuracy=tolerance if problem == "values" else None,
            tolerance=tolerance,
            split=cast(Split, split),
            direction=cast(Direction, one_of(get(found, "direction"), DIRECTIONS, "asked: direction")),
        )


def _source(found: dict[str, Any], what: str) -> Source:
    return Source(*(as_text(get(found, part), f"{what}: {part}") for part in ("name", "text")))


def model_of(subject: Program | Source | str | Path) -> Source:
    """The text of what is asked about."""
    if isinstance(subject, Source):
        return subject
    read = read_subject(subject)
    if isinstance(read, Model):
        what = "a model that is built" if isinstance(subject, Model) else subject
        raise GaltonError(
            f"synthesis needs a program, with constants for parameters; {what} holds states, not commands"
        )
    return read.source


def given_texts(subject: object, given: Mapping[str, Value | str], ranges: Mapping[str, Range]) -> dict[str, str]:
    """The constants as texts; a program's own, which were chosen before, with those of the property."""
    found = {name: _text(value) for name, value in given.items()}
    if not isinstance(subject, Program):
        return found
    open_ones = [c.name.name for c in parse_model(subject.source).constants if c.value is None]
    own = {name: subject.constants[name] for name in open_ones if name in subject.constants and name not in ranges}
    return {**{name: _text(value) for name, value in own.items()}, **found}


def _text(value: Value | str) -> str:
    """A value as an expression that has it, to the last bit."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Exact):
        return _quotient(value.fraction)
    if isinstance(value, float) and isfinite(value):
        exact = Fraction(value)
        return str(value) if Fraction(str(value)) == exact else _quotient(exact)
    return str(value)


def _quotient(value: Fraction) -> str:
    """As a quotient; numbers that are no integers of the language are written as doubles."""
    small = value.denominator <= LARGEST_INT and abs(value.numerator) <= LARGEST_INT
    return str(value) if small else f"{value.numerator}.0/{value.denominator}.0"
