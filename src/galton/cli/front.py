"""Pareto sets as files: a picture, and a table of the corners."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..io.output import replacing
from ..lang.properties import Multi, Property

if TYPE_CHECKING:
    from ..checking.result import Result
    from .table import TableRow

__all__ = ["FrontCsv", "FrontPlot", "objectives_asked"]


def objectives_asked(prop: Property) -> int:
    """How many numbers a Pareto set has that a property asks for; 0 if it asks for something else."""
    if not isinstance(prop.expression, Multi):
        return 0
    asked = sum(getattr(part, "comparison", None) is None for part in prop.expression.objectives)
    return asked if asked > 1 else 0


class FrontCsv:
    """The corners of Pareto sets, one in a row: for each objective its number and the bounds of the strategy's."""

    def __init__(self, path: Path, constants: Sequence[str]):
        self._path, self._constants = path, constants
        self._head: list[str] = []
        self._rows: list[list[object]] = []

    def add(self, rows: Sequence[TableRow]) -> None:
        """The corners for some valuations of the constants; none for an error."""
        from ..checking.result import ParetoSet

        for valuation, answer in ((valuation, answer) for valuation, answers in rows for answer in answers):
            if isinstance(answer, str) or not isinstance(answer.value, ParetoSet):
                continue
            found = answer.value
            self._head = [f"{name}{part}" for name in found.objectives for part in ("", " lower", " upper")]
            for point, bounds in zip(found.points, found.bounds, strict=True):
                cells = [
                    cell for number, (low, high) in zip(point, bounds, strict=True) for cell in (number, low, high)
                ]
                self._rows.append([*(valuation[name] for name in self._constants), *cells])

    def close(self) -> None:
        """Write all there is."""
        with replacing(self._path) as file:
            csv.writer(file).writerows([[*self._constants, *self._head], *self._rows])


class FrontPlot:
    """The picture of one Pareto set."""

    def __init__(self, path: Path, constants: Sequence[str], objectives: int, title: str):
        from ..lang.source import GaltonError
        from ..plot.pareto import check_front_picture

        if constants:
            raise GaltonError("a picture shows one Pareto set: give no range; --csv FILE writes those of all values")
        try:
            check_front_picture(path, objectives)
        except GaltonError as error:
            raise GaltonError(f"{error}; --csv FILE writes its points") from None
        self._path, self._title = path, title
        self._answer: Result | None = None

    def add(self, rows: Sequence[TableRow]) -> None:
        """The set, if there is one."""
        ((_, (answer, *_)),) = rows
        self._answer = None if isinstance(answer, str) else answer

    def close(self) -> None:
        """Draw it."""
        from ..checking.result import ParetoSet
        from ..plot.pareto import plot_front

        if self._answer is not None and isinstance(self._answer.value, ParetoSet):
            plot_front(self._answer.value, self._path, self._title)
