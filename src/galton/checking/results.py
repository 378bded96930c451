"""The answers to several properties of one model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

from ..lang.markup import grid
from ..lang.source import GaltonError
from ..lang.stream import nearest
from ..model.tables import import_pandas
from .result import Result

if TYPE_CHECKING:
    import pandas

__all__ = ["Results"]


class Results(Sequence[Result]):
    """Answers in the order of the properties; ``results["name"]`` is that of a property with a name.

    Examples
    --------
    >>> import galton
    >>> program = galton.parse("dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);  endmodule")
    >>> results = galton.check(program, ['"heads": P=? [ F<=1 s=1 ]', "P>=1 [ F s>0 ]"])
    >>> results["heads"].value, results[1].value, len(results)
    (0.5, True, 2)
    """

    def __init__(self, results: Iterable[Result]):
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, place: int | str) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> Results: ...
    def __getitem__(self, place: int | str | slice) -> Result | Results:
        if isinstance(place, slice):
            return Results(self._results[place])
        if isinstance(place, int):
            return self._results[place]
        for result in self._results:
            if place in (result.name, result.formula):
                return result
        names = [result.name or result.formula for result in self._results]
        hint = nearest(place, names) or f"there are {', '.join(names)}"
        raise GaltonError(f"no property is called '{place}'; {hint}")

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row for each property: its value and bounds, how it was found, and in how many seconds.

        It needs pandas.
        """
        pandas = import_pandas()

        rows = [
            {
                "property": result.name or result.formula,
                "value": result.value,
                "lower": result.lower,
                "upper": result.upper,
                "method": result.method,
                "seconds": result.seconds,
            }
            for result in self
        ]
        return pandas.DataFrame(rows).set_index("property")

    def __repr__(self) -> str:
        return "\n".join(f"{f'{result.name}: ' if result.name else ''}{result!r}" for result in self)

    def _repr_html_(self) -> str:
        rows = [[result.name or "", result.formula, result.text, result.margin.strip()] for result in self]
        return grid(["name", "property", "value", "bounds"], rows)
