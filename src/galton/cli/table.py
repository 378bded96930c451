"""The results of an experiment: a table on the screen, a CSV file, a plot."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..io.output import Output, replacing

if TYPE_CHECKING:
    from ..checking.result import Result
    from ..lang.expressions import Value

WIDTH = 18  # of a column of values
TITLE = 44  # of a property in a title


def title(name: str | None, text: str) -> str:
    """A property in few words."""
    short = name or " ".join(text.split())
    return short if len(short) <= TITLE else f"{short[: TITLE - 1]}…"


class Table:
    """A row per valuation of the constants, printed as soon as it is known."""

    def __init__(self, constants: Sequence[str], titles: Sequence[str]):
        self._constants = constants
        self._widths = [max(8, len(name)) for name in constants] + [max(WIDTH, len(name)) for name in titles]
        self._print([*constants, *titles], bold=True)

    def add(self, valuation: Mapping[str, Value], answers: Sequence[Result | str]) -> None:
        """One row."""
        from ..checking.result import shown

        cells = [shown(valuation[name]) for name in self._constants]
        cells += [answer if isinstance(answer, str) else answer.text for answer in answers]
        self._print(cells)

    def close(self) -> None:
        """No row will follow."""

    def _print(self, cells: Sequence[str], bold: bool = False) -> None:
        line = "  ".join(cell.rjust(width) for cell, width in zip(cells, self._widths, strict=True))
        typer.echo(typer.style(line, bold=True) if bold else line)


class CsvFile:
    """The same in a file: for each property its value and, for numbers, the bounds."""

    def __init__(self, path: Path, constants: Sequence[str], titles: Sequence[str]):
        self._output = Output(path)
        self._constants = constants
        self._writer = csv.writer(self._output.file)
        self._write([*constants, *(f"{name}{part}" for name in titles for part in ("", " lower", " upper"))])

    def add(self, valuation: Mapping[str, Value], answers: Sequence[Result | str]) -> None:
        """One row."""
        cells: list[Any] = [_cell(valuation[name]) for name in self._constants]
        for answer in answers:
            if isinstance(answer, str):
                cells += [answer, "", ""]
            else:
                bounds = (answer.lower, answer.upper) if answer.proved else (None, None)
                cells += [_cell(answer.value), *map(_cell, bounds)]
        self._write(cells)

    def close(self) -> None:
        """No row will follow, perhaps because somebody lost patience: those that there are make the file."""
        self._guarded(self._output.complete)

    def _write(self, cells: Sequence[Any]) -> None:
        self._guarded(self._writer.writerow, cells)
        self._guarded(self._output.file.flush)  # also for who looks at the file beside

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
    if isinstance(value, tuple):
        return " ".join(map(repr, value))
    return "" if value is None else value


class Plot:
    """Curves over the first constant, one for each property and each valuation of the others."""

    def __init__(self, path: Path, constants: Sequence[str], titles: Sequence[str]):
        from ..lang.source import GaltonError

        if not constants:
            raise GaltonError("a plot needs a constant with a range, such as --const N=2:2:20")
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise GaltonError("plots need Matplotlib: pip install 'galton[plot]'") from None
        self._figure = Figure(figsize=(7, 4.5), layout="constrained")
        if path.suffix.lower().lstrip(".") not in self._figure.canvas.get_supported_filetypes():
            raise GaltonError(f"'{path.suffix}' is no kind of picture; .png, .pdf and .svg are")
        self._path, self._constants, self._titles = path, constants, titles
        self._curves: dict[str, tuple[list[float], list[float]]] = {}

    def add(self, valuation: Mapping[str, Value], answers: Sequence[Result | str]) -> None:
        """The points of one valuation; what is no finite number is left out."""
        x, *others = self._constants
        fixed = ", ".join(f"{name}={valuation[name]}" for name in others)
        for name, answer in zip(self._titles, answers, strict=True):
            if isinstance(answer, str) or answer.value is None or isinstance(answer.value, tuple):
                continue
            label = f"{name}, {fixed}" if fixed else name
            points = self._curves.setdefault(label, ([], []))
            points[0].append(float(valuation[x]))
            points[1].append(float(answer.value))

    def close(self) -> None:
        """Draw all there is."""
        axes = self._figure.subplots()
        for label, (x, y) in self._curves.items():
            axes.plot(x, y, marker="o", markersize=4, label=label)
        axes.set_xlabel(self._constants[0])
        axes.grid(alpha=0.3)
        if len(self._curves) == 1:
            axes.set_ylabel(next(iter(self._curves)))
        elif self._curves:
            axes.legend(fontsize="small")
        with replacing(self._path, "binary") as file:
            self._figure.savefig(file, dpi=150, format=self._path.suffix.lower().lstrip("."))
