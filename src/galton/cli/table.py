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
    """The answers of an experiment in a CSV file, with one number in a cell.

    For each property there is its value, where it is the same in all initial states; for numbers, the smallest and the
    largest value over the initial states, and the bounds. Exact numbers have a column besides, with fractions.
    """

    PARTS = ("", " min", " max", " lower", " upper")

    def __init__(self, path: Path, constants: Sequence[str], titles: Sequence[str], exact: bool = False):
        self._output = Output(path)
        self._parts = (*self.PARTS, " exact") if exact else self.PARTS
        self._constants = constants
        self._writer = csv.writer(self._output.file)
        # Written with the first row: a disk that is full must not keep anybody from the answer.
        self._head: list[str] | None = [*constants, *(f"{name}{part}" for name in titles for part in self._parts)]

    def add(self, valuation: Mapping[str, Value], answers: Sequence[Result | str]) -> None:
        """One row."""
        cells: list[Any] = [_cell(valuation[name]) for name in self._constants]
        for answer in answers:
            if isinstance(answer, str):
                cells += [answer, *[""] * (len(self._parts) - 1)]
                continue
            low, high = _spread(answer) or (None, None)
            single = _alone(answer) if low is None else low if low == high else None
            bounds = (answer.lower, answer.upper) if answer.proved else (None, None)
            cells += map(_cell, (single, low, high, *bounds))
            if len(self._parts) > len(self.PARTS):
                cells.append(_fraction(answer))
        self._write(cells)

    def close(self) -> None:
        """No row will follow, perhaps because somebody lost patience: those that there are make the file."""
        self._write_head()
        self._guarded(self._output.complete)

    def _write_head(self) -> None:
        head, self._head = self._head, None
        if head is not None:
            self._guarded(self._writer.writerow, head)

    def _write(self, cells: Sequence[Any]) -> None:
        self._write_head()
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
    return "" if value is None else value


def _fraction(answer: Result) -> str:
    """An exact number with all its digits; a range as two of them."""
    from ..checking.result import full_fraction

    exact = answer.exact if isinstance(answer.exact, tuple) else (answer.exact,)
    return " to ".join(full_fraction(part) for part in exact if part is not None)


def _alone(answer: Result) -> bool | str | None:
    """A truth value, the points of a Pareto set as text, or None for an answer that is undecided."""
    return answer.value if answer.value is None or isinstance(answer.value, bool) else answer.text


def _spread(answer: Result) -> tuple[float, float] | None:
    """The smallest and the largest number over the initial states; None where the answer is no number."""
    from ..checking.result import ParetoSet

    value = answer.value
    if value is None or isinstance(value, (bool, ParetoSet)):
        return None
    return value if isinstance(value, tuple) else (value, value)


class Plot:
    """Curves over the first constant, one for each property and each valuation of the others.

    A value that differs between initial states is drawn as a band from the smallest to the largest.
    """

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
        self._curves: dict[str, list[tuple[float, float, float]]] = {}  # the constant, the smallest, the largest value

    def add(self, valuation: Mapping[str, Value], answers: Sequence[Result | str]) -> None:
        """The points of one valuation; errors and what is undecided are left out."""
        x, *others = self._constants
        fixed = ", ".join(f"{name}={valuation[name]}" for name in others)
        for name, answer in zip(self._titles, answers, strict=True):
            if isinstance(answer, str) or answer.value is None:
                continue
            if (spread := _spread(answer)) is None:
                if not isinstance(answer.value, bool):
                    continue
                spread = answer.value, answer.value
            low, high = spread
            label = f"{name}, {fixed}" if fixed else name
            self._curves.setdefault(label, []).append((float(valuation[x]), float(low), float(high)))

    def close(self) -> None:
        """Draw all there is."""
        axes = self._figure.subplots()
        for label, points in self._curves.items():
            x, low, high = zip(*points, strict=True)
            (line,) = axes.plot(x, high, marker="o", markersize=4, label=label)
            if low != high:
                axes.plot(x, low, marker="o", markersize=4, color=line.get_color())
                axes.fill_between(x, low, high, alpha=0.2, color=line.get_color())
        axes.set_xlabel(self._constants[0])
        axes.grid(alpha=0.3)
        if not self._curves:
            axes.set_title("no value to draw")
        elif len(self._curves) == 1:
            axes.set_ylabel(next(iter(self._curves)))
        else:
            axes.legend(fontsize="small")
        with replacing(self._path, "binary") as file:
            self._figure.savefig(file, dpi=150, format=self._path.suffix.lower().lstrip("."))
