"""The results of an experiment: a table on the screen, a CSV file, a plot."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checking.experiment_table import PARTS, cells_of
from ..io.output import Output
from . import telling

if TYPE_CHECKING:
    from ..checking.result import Result
    from ..lang.expressions import Value

    TableRow = tuple[
        Mapping[str, Value], Sequence[Result | str]
    ]  # values of constants, and an answer for each property

WIDTH = 18  # of a column of values


class Table:
    """A row per valuation of the constants, printed as soon as it is known."""

    def __init__(self, constants: Sequence[str], titles: Sequence[str]):
        self._constants = constants
        self._widths = [max(8, len(name)) for name in constants] + [max(WIDTH, len(name)) for name in titles]
        telling.say(telling.bold("  ".join(self._padded([*constants, *titles]))))

    def add(self, rows: Sequence[TableRow]) -> None:
        """Some rows."""
        telling.say("\n".join("  ".join(map(telling.verdict, self._padded(self._cells(*row)))) for row in rows))

    def close(self) -> None:
        """No row will follow."""

    def _cells(self, valuation: Mapping[str, Value], answers: Sequence[Result | str]) -> list[str]:
        from ..checking.result import shown

        constants = [shown(valuation[name]) for name in self._constants]
        return constants + [answer if isinstance(answer, str) else answer.text for answer in answers]

    def _padded(self, cells: Sequence[str]) -> list[str]:
        return [cell.rjust(width) for cell, width in zip(cells, self._widths, strict=True)]


class CsvFile:
    """The answers of an experiment in a CSV file, with one number in a cell.

    For each property there is its value, where it is the same in all initial states; for numbers, the smallest and the
    largest value over the initial states, and the bounds. Exact numbers have a column besides, with fractions.
    """

    def __init__(self, path: Path, constants: Sequence[str], titles: Sequence[str], exact: bool = False):
        self._output = Output(path)
        self._parts = (*PARTS, " exact") if exact else PARTS
        self._constants = constants
        self._writer = csv.writer(self._output.file)
        # Written with the first row: a disk that is full must not keep anybody from the answer.
        self._head: list[str] | None = [*constants, *(f"{name}{part}" for name in titles for part in self._parts)]

    def add(self, rows: Sequence[TableRow]) -> None:
        """Some rows."""
        self._write_head()
        for row in rows:
            self._guarded(self._writer.writerow, self._cells(*row))
        self._guarded(self._output.file.flush)  # also for who looks at the file beside

    def _cells(self, valuation: Mapping[str, Value], answers: Sequence[Result | str]) -> list[Any]:
        cells: list[Any] = [_cell(valuation[name]) for name in self._constants]
        for answer in answers:
            if isinstance(answer, str):
                cells += [answer, *[""] * (len(self._parts) - 1)]
                continue
            cells += map(_cell, cells_of(answer))
            if len(self._parts) > len(PARTS):
                cells.append(_fraction(answer))
        return cells

    def close(self) -> None:
        """No row will follow, perhaps because somebody lost patience: those that there are make the file."""
        self._write_head()
        self._guarded(self._output.complete)

    def _write_head(self) -> None:
        head, self._head = self._head, None
        if head is not None:
            self._guarded(self._writer.writerow, head)

    def _guarded(self, write: Callable[..., object], *arguments: Any) -> None:
        try:
            write(*arguments)
        except OSError as error:
            told = self._output.failed(error)
            self._output.discard()
            raise told from None


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else value


def _fraction(answer: Result) -> str:
    """An exact number with all its digits; a range as two of them."""
    from ..checking.result import full_fraction

    exact = answer.exact if isinstance(answer.exact, tuple) else (answer.exact,)
    return " to ".join(full_fraction(part) for part in exact if part is not None)


class Plot:
    """A picture of all rows, drawn when no more will follow."""

    def __init__(
        self,
        path: Path,
        constants: Sequence[str],
        titles: Sequence[str],
        x: str | None = None,
        log: str = "",
        title: str = "",
    ):
        from ..lang.source import GaltonError
        from ..lang.stream import suggestion
        from ..plot.experiments import check_kind

        if not constants:
            raise GaltonError("a plot needs a constant with a range, such as --const N=2:2:20")
        if x is not None and x not in constants:
            raise GaltonError(f"--plot-x: no constant '{x}' has a range; {suggestion(x, constants, 'ranges')}")
        check_kind(path)
        self._path, self._constants, self._titles = path, constants, titles
        self._how = {"x": x or constants[0], "log": log, "title": title}
        self._rows: list[TableRow] = []

    def add(self, rows: Sequence[TableRow]) -> None:
        """The points of some valuations."""
        self._rows += rows

    def close(self) -> None:
        """Draw all there is."""
        from ..plot.experiments import plot_experiment

        plot_experiment(self._rows, self._titles, self._path, **self._how)
