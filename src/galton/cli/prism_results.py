"""Results as PRISM writes them with ``-exportresults FILE[:options]``: a list, a matrix, comments or a data frame."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ..io.output import replacing
from ..lang.source import GaltonError
from ..lang.stream import suggestion

if TYPE_CHECKING:
    from ..checking.result import Result
    from ..lang.expressions import Value
    from .table import TableRow

__all__ = ["Exported", "PrismResults", "read_target"]

SHAPES = ("list", "matrix", "comment", "dataframe")
SEPARATORS = ("tab", "csv")

Known = dict[tuple[str, ...], str]  # results by the values of constants


@dataclass
class Exported:
    """A property: its name and its text, the constants that matter to it, and what it came to."""

    name: str | None
    text: str
    constants: Sequence[str]
    results: Known = field(default_factory=dict)

    @property
    def title(self) -> str:
        """As it stands in a file of properties, with the spaces that PRISM prints."""
        text = re.sub(r" ?([&|]) ?", r"\1", " ".join(self.text.split()))
        return text if self.name is None else f'"{self.name}": {text}'


def read_target(text: str) -> tuple[Path, str, str]:
    """The file, the shape and the separator that ``FILE:options`` asks for."""
    file, _, options = text.partition(":")
    shape, separator = "list", "tab"
    for option in filter(None, options.split(",")):
        if option in SHAPES:
            shape = option
        elif option in SEPARATORS:
            separator = option
        else:
            hint = suggestion(option, (*SHAPES, *SEPARATORS), "options")
            raise GaltonError(f"results are not written as '{option}'; {hint}")
    return Path(file), shape, separator


class PrismResults:
    """A file of results, written when no more will follow; bounds are not in it."""

    def __init__(self, target: str, properties: Sequence[Exported]):
        self._path, self._shape, separator = read_target(target)
        self._csv = separator == "csv" or self._shape == "dataframe"
        self._properties = properties

    def add(self, rows: Sequence[TableRow]) -> None:
        """Some rows."""
        for valuation, answers in rows:
            for prop, answer in zip(self._properties, answers, strict=True):
                key = tuple(_value(valuation[name]) for name in prop.constants)
                prop.results.setdefault(key, _answer(answer))

    def close(self) -> None:
        """Write all there is."""
        with replacing(self._path) as file:
            if self._shape == "dataframe":
                file.write(self._frame())
            else:
                parts = ["".join(f"{line}\n" for line in self._part(prop)) for prop in self._properties]
                file.write("\n".join(parts))

    def _part(self, prop: Exported) -> Iterator[str]:
        """The lines of one property; it is named where there are several."""
        several = len(self._properties) > 1
        if self._shape == "comment":
            for key, result in prop.results.items():
                given = ",".join(f"{name}={value}" for name, value in zip(prop.constants, key, strict=True))
                yield f"// RESULT{f' ({given})' if given else ''}: {result}"
            if several:
                yield prop.title
            return
        if several:
            yield self._head(prop.title)
        yield from self._matrix(prop) if self._shape == "matrix" else self._list(prop)

    def _list(self, prop: Exported) -> Iterator[str]:
        yield self._line([*prop.constants, "Result"])
        for key, result in prop.results.items():
            yield self._line([*key, result])

    def _matrix(self, prop: Exported) -> Iterator[str]:
        """The last constant goes to the right and the one before it downwards; others have a matrix each."""
        if not prop.constants:
            yield from prop.results.values()
            return
        *outer, across = prop.constants
        if not outer:
            yield self._head(across)
            yield self._line([key[-1] for key in prop.results])
            yield self._line(list(prop.results.values()))
            return
        *fixed, down = outer
        for number, (values, part) in enumerate(groupby(prop.results, key=lambda key: key[:-2])):
            if number:
                yield ""
            given = "".join(f"{name}={value}, " for name, value in zip(fixed, values, strict=True))
            yield self._head(f"{given}{down}\\{across}")
            keys = list(part)
            yield self._line(["", *dict.fromkeys(key[-1] for key in keys)])
            for value, row in groupby(keys, key=lambda key: key[-2]):
                yield self._line([value, *(prop.results[key] for key in row)])

    def _head(self, text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if self._csv else f"{text}:"

    def _line(self, cells: Sequence[str]) -> str:
        if not self._csv:
            return "\t".join(cells)
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(cells)
        return line.getvalue()

    def _frame(self) -> str:
        names = list(dict.fromkeys(name for prop in self._properties for name in prop.constants))
        lines = [self._line(["Property", *names, "Result"])]
        for number, prop in enumerate(self._properties, 1):
            for key, result in prop.results.items():
                known = dict(zip(prop.constants, key, strict=True))
                cells = [known.get(name, "") for name in names]
                lines.append(self._line([prop.name or f"Property_{number}", *cells, result]))
        return "".join(f"{line}\n" for line in lines)


def _answer(answer: Result | str) -> str:
    if isinstance(answer, str):
        return answer
    value = answer.value
    if isinstance(value, tuple):  # over several initial states
        return f"[{_value(value[0])},{_value(value[1])}]"
    return answer.text if not isinstance(value, (bool, int, float)) else _value(value)


def _value(value: Value) -> str:
    """A number as PRISM prints it: all its digits, without those that say nothing."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value)
