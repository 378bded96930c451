"""The exact values of constants.

A program knows its constants as doubles that may know what they were rounded from. Where one comes from a logarithm or
a root, nothing says so; therefore the definitions in the text are evaluated again, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...lang import parse_model, parse_properties
from ...lang.expressions import Expression, Value
from ...lang.program import Program
from ...lang.properties import substitute
from ...lang.rationals import Exact
from ...lang.source import GaltonError, Source
from ...lang.syntax import ConstantDeclaration
from .expressions import Compiler, Exactly
from .numbers import from_float, rational

__all__ = ["ExactConstants"]

_SHORT = 32  # bits of a double that nobody takes for a rounded logarithm


class RoundedConstantError(GaltonError):
    """A constant from outside that may not be what somebody wrote."""

    kind = "unsupported"


class ExactConstants(Mapping[str, Exactly]):
    """The exact values of the constants of a program, each found when it is asked for.

    ``source`` is the text of the properties, which may declare constants of their own.
    """

    def __init__(self, program: Program, source: Source) -> None:
        self._formulas, self._values = program.formulas, program.constants
        self._known: dict[str, Exactly] = {}
        self._definitions: dict[str, tuple[Expression, Source]] = {}
        if program.modules:
            self._note(parse_model(program.source).constants, program.source)
        self._note(parse_properties(source).constants, source)

    def _note(self, declarations: Iterable[ConstantDeclaration], source: Source) -> None:
        for declaration in declarations:
            if declaration.value is not None:
                self._definitions[declaration.name.name] = substitute(declaration.value, self._formulas), source

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __getitem__(self, name: str) -> Exactly:
        if name not in self._known:
            self._known[name] = self._value(name)
        return self._known[name]

    def _value(self, name: str) -> Exactly:
        value = self._values[name]
        if isinstance(value, (bool, int)):
            return value
        if name not in self._definitions:
            return _given(name, value)
        expression, source = self._definitions[name]
        exact = Compiler(source, {}, self).constant(expression)
        assert exact is not None, f"{name} depends on a variable"
        return rational(exact) if isinstance(exact, int) else exact


def _given(name: str, value: Value) -> Exactly:
    """A constant from outside: a number as it was written, or a double that is surely exact."""
    if isinstance(value, Exact):
        return rational(value.fraction)
    try:
        numerator, _ = value.as_integer_ratio()
    except (OverflowError, ValueError):
        raise RoundedConstantError(f"the constant '{name}' is {value}, and there is no exact answer for it") from None
    while numerator and not numerator & 1:
        numerator >>= 1
    if numerator.bit_length() > _SHORT:
        raise RoundedConstantError(
            f"the constant '{name}' is a double, {value!r}, that may have been rounded; for exact answers give it as a "
            "decimal number or a fraction"
        )
    return from_float(float(value))
