"""``galton.experiment``: properties for many values of constants, from Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .checking.asking import Answers, Asked, Inquiry, QuietWorker, Row
from .checking.experiment import Valuation, ranges, valuations
from .checking.experiment_table import PARTS, cells_of, title_of
from .checking.inquiring import choose, inquire
from .checking.result import Result, shown
from .lang.expressions import Value
from .lang.markup import grid
from .lang.program import Program
from .lang.source import GaltonError
from .lang.stream import nearest
from .model.moving import to_host
from .model.sparse import Model
from .model.tables import import_pandas
from .progress import task, watched
from .solve.settings import Settings
from .workers import LostWorkerError, completed

if TYPE_CHECKING:
    import pandas

__all__ = ["Experiment", "ExperimentRow", "experiment"]

Progress = Callable[[int, int], None]  # told how many rows are done, and how many there are
FEW = 100  # rows that a notebook shows


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentRow:
    """What properties came to for some values of constants: ``row["N"]``, ``row.result``.

    Attributes
    ----------
    constants
        The values of those constants that run through several.
    results
        A result for each property, or the error that there was instead.
    """

    constants: Mapping[str, Value]
    results: tuple[Result | GaltonError, ...]

    @property
    def result(self) -> Result | GaltonError:
        """The result of the only property, or of the first."""
        return self.results[0]

    def __getitem__(self, constant: str) -> Value:
        return self.constants[constant]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={shown(value)}" for name, value in self.constants.items())
        return f"<{values}: {', '.join(map(_text, self.results))}>"


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Sequence[ExperimentRow]):
    """A row for each combination of values of constants; the constant given first changes last.

    Attributes
    ----------
    constants
        The names of the constants that run through several values.
    properties
        The properties in few words: their names, or what they ask.
    rows
        What was found.
    interrupted
        Whether somebody stopped it; ``rows`` are those that were done.
    model
        The name of the file of the model; empty for none.

    Examples
    --------
    >>> import galton
    >>> text = "dtmc  const int N;  module m  x : [0..N];  [] x<N -> 0.5:(x'=x+1) + 0.5:true;  endmodule"
    >>> walk = galton.parse(text, N=1)
    >>> found = galton.experiment(walk, "P=? [ F<=4 x=N ]", N=range(1, 4))
    >>> [f"{row['N']}: {row.result:.4f}" for row in found]
    ['1: 0.9375', '2: 0.6875', '3: 0.3125']
    """

    constants: tuple[str, ...]
    properties: tuple[str, ...]
    rows: tuple[ExperimentRow, ...]
    interrupted: bool = False
    model: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __iter__(self) -> Iterator[ExperimentRow]:
        return iter(self.rows)

    @property
    def errors(self) -> tuple[GaltonError, ...]:
        """What went wrong, row by row."""
        return tuple(found for row in self.rows for found in row.results if isinstance(found, GaltonError))

    def column(self, prop: str | int = 0) -> list[Any]:
        """The values of one property, by its name, its text or its place, in the order of the rows; None for errors."""
        place = prop if isinstance(prop, int) else self._place(prop)
        return [None if isinstance(found := row.results[place], GaltonError) else found.value for row in self.rows]

    def _place(self, prop: str) -> int:
        title = title_of(None, prop)
        if title not in self.properties:
            hint = nearest(title, self.properties) or f"there are {', '.join(self.properties)}"
            raise GaltonError(f"no property is called '{prop}'; {hint}")
        return self.properties.index(title)

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a column for each constant and, for each property, its value and its bounds.

        Where initial states differ there is no single value, and columns for the smallest and the largest. Cells of
        errors are empty; :attr:`errors` has them. It needs pandas.
        """
        pandas = import_pandas()

        columns: dict[str, list[Any]] = {name: [row.constants[name] for row in self.rows] for name in self.constants}
        for place, title in enumerate(self.properties):
            found = [row.results[place] for row in self.rows]
            cells = [cells_of(one) if isinstance(one, Result) else (None,) * len(PARTS) for one in found]
            differ = any(isinstance(one, Result) and isinstance(one.value, tuple) for one in found)
            for part, column in zip(PARTS, zip(*cells, strict=True), strict=True):
                bounds = part in (" lower", " upper") and any(cell is not None for cell in column)
                if part == "" or bounds or (differ and part in (" min", " max")):
                    columns[f"{title}{part}"] = list(column)
        return pandas.DataFrame(columns)

    def plot(self, path: str | Path | None = None, *, x: str | None = None, log: bool | str = False) -> Any:
        """Draw the values; :func:`galton.plot.experiments.plot_experiment` tells the options.

        Parameters
        ----------
        path
            Where to write the picture, or with ``.html`` a page; a notebook shows what is returned.
        x
            The constant to draw over; the first, if not given.
        log
            Whether the values have a logarithmic scale; ``"x"`` for the constant, ``"xy"`` for both.
        """
        from .plot.experiments import plot_experiment

        title = ": ".join(filter(None, (self.model, self.properties[0] if len(self.properties) == 1 else "")))
        rows = [(row.constants, row.results) for row in self.rows]
        return plot_experiment(rows, self.properties, path, x=x, log=log, title=title)

    def __repr__(self) -> str:
        over = f" over {', '.join(self.constants)}" if self.constants else ""
        what = f"<experiment: {', '.join(self.properties)}{over}: {len(self):,} row{'s' * (len(self) != 1)}"
        errors = f", {len(self.errors):,} errors" if self.errors else ""
        return f"{what}{errors}{', interrupted' if self.interrupted else ''}>"

    def _repr_html_(self) -> str:
        rows = [[*map(shown, row.constants.values()), *map(_text, row.results)] for row in self.rows[:FEW]]
        if len(self) > FEW:
            rows.append([f"… and {len(self) - FEW:,} more rows", *[""] * (len(rows[0]) - 1)])
        return grid([*self.constants, *self.properties], rows, "interrupted" if self.interrupted else "")


def experiment(
    subject: Model | Program | str | Path,
    props: str | Path | Sequence[str | Path],
    *,
    eps: float | None = None,
    method: str | None = None,
    settings: Settings | None = None,
    fair: bool = False,
    device: str = "auto",
    exact: bool = False,
    executor: Executor | None = None,
    progress: bool | Progress | None = None,
    name: str | Sequence[str] | None = None,
    constants: Mapping[str, object] | None = None,
    **more_constants: object,
) -> Experiment:
    """Answer properties for all combinations of values of constants.

    Only what changes is done again: a model is built once for all values of constants of the properties, and a bound
    that runs through many values is answered in one pass.

    Parameters
    ----------
    subject
        A program, a model, or the path of a file. Constants of a program may be open, or get other values here; the
        path will do where a program cannot be read without them.
    props
        A property, the path of a file of properties, or a list of these.
    eps, method, settings, fair, device, exact
        Choices about the numbers; see :func:`galton.check`.
    executor
        Who works on the rows side by side: any ``concurrent.futures.Executor``, such as a ``ProcessPoolExecutor``.
        What goes to one worker is all that is asked of one model; of a model that is built already, one property. A
        worker that dies does not lose the rows of others: its piece is asked again and, where that does not help, its
        rows hold a :class:`galton.workers.LostWorkerError`.
    progress
        Called with the number of models done and of all of them. By default, and for ``True``, a line on standard error
        says so, by default where that is a terminal; ``False`` for none.
    name
        Of files, only the properties of these names, or of these numbers, counted from 1, as texts.
    constants, more_constants
        For each constant a value, or many: a range, a list, an array, or a text such as ``"0:0.1:1"``, whose numbers
        are exact.

    Returns
    -------
    Experiment
        A row for each combination of values. Cells that could not be answered hold the error, and there is a warning.
        If somebody stops it by Ctrl-C, the rows that are done.

    Raises
    ------
    GaltonError
        If a property makes no sense, or nothing at all could be answered.

    Examples
    --------
    >>> import galton
    >>> text = "dtmc  const int N;  module m  x : [0..N];  [] x<N -> 0.5:(x'=x+1) + 0.5:true;  endmodule"
    >>> walk = galton.parse(text, N=1)
    >>> found = galton.experiment(walk, "const int T;  P=? [ F<=T x=N ]", N=[1, 2], T=range(2, 5))
    >>> found
    <experiment: P=? [ F<=T x=N ] over N, T: 6 rows>
    >>> found.column()
    [0.75, 0.875, 0.9375, 0.25, 0.5, 0.6875]
    """
    chosen, device = choose(settings, eps, method, exact=exact, fair=fair, device=device)
    given = {**(constants or {}), **more_constants}
    inquiry = inquire(subject, props, given, chosen, raises=False, name=name)
    if executor is not None and isinstance(inquiry.subject, Model):
        inquiry = replace(inquiry, subject=to_host(inquiry.subject))  # workers may have no device, or another
    varying = ranges({**inquiry.of_model, **inquiry.of_properties})
    names = tuple(name for name in given if name in varying)
    tasks = _tasks(inquiry, device)
    _refuse_slips(tasks[0])
    with _Reporter(progress, len(tasks)) as reporter:
        done, interrupted = _done(tasks, executor, reporter)
    titles = tuple(title_of(prop.name, prop.text) for prop in inquiry.properties)
    found = Experiment(names, titles, tuple(_rows(done, names, inquiry)), interrupted, _model_name(inquiry))
    _complain(found)
    return found


def _model_name(inquiry: Inquiry) -> str:
    """The name of the model's file, without its folder and suffix."""
    if isinstance(inquiry.subject, Model) or inquiry.subject.source.name.startswith("<"):
        return ""
    return Path(inquiry.subject.source.name).stem


Found = list[tuple[Valuation, list[Result | GaltonError]]]  # the constants, and an answer for each property


@dataclass(frozen=True)
class _Task:
    """What one worker does: all that is asked of the model with these constants."""

    inquiry: Inquiry
    constants: Valuation
    device: str

    def row(self) -> Row:
        """The questions, after a look at the choices."""
        row = self.inquiry.row(self.constants)
        if not isinstance(self.inquiry.subject, Model):
            self.inquiry.check_choices(row, self.device, ())
        return row

    def __call__(self) -> Found:
        row = self.row()
        worker = QuietWorker(self.inquiry.settings, {"device": self.device})
        try:
            answers = Answers(self.inquiry, row, worker)
        except GaltonError as error:
            return self._failed(row, error)
        return [
            ({**valuation, **_settled(valuation, asked)}, [answers.of(one).found for one in asked])
            for valuation, asked in zip(row.valuations, row.asked, strict=True)
        ]

    def lost(self, error: LostWorkerError) -> Found:
        """What there is where no worker came to an end."""
        return self._failed(self.row(), error)

    def _failed(self, row: Row, error: GaltonError) -> Found:
        return [(valuation, [error] * len(self.inquiry.selected)) for valuation in row.valuations]


def _settled(valuation: Valuation, asked: Sequence[Asked]) -> Valuation:
    """Constants that were given as texts, as the numbers that they are."""
    return {name: one.constants[name] for one in asked for name in valuation if name in one.constants}


def _tasks(inquiry: Inquiry, device: str) -> list[_Task]:
    """One for each model or, of a model that is built, one for each property."""
    if isinstance(inquiry.subject, Model):
        return [_Task(replace(inquiry, selected=[one]), {}, device) for one in inquiry.selected]
    return [_Task(inquiry, constants, device) for constants in valuations(inquiry.of_model)]


def _refuse_slips(first: _Task) -> None:
    """Tell what is wrong with the text of a property before anything is built."""
    for asked in first.inquiry.row(first.constants, alone=True).slips:
        assert asked.wrong is not None
        raise asked.wrong


def _done(tasks: Sequence[_Task], executor: Executor | None, reporter: _Reporter) -> tuple[dict[int, Found], bool]:
    """What tasks came to, by their places, and whether somebody stopped it."""
    done: dict[int, Found] = {}
    try:
        if executor is None:
            for place, task in enumerate(tasks):
                done[place] = task()
                reporter.tell(len(done))
        else:
            for place, future in completed(tasks, executor):
                try:
                    done[place] = future.result()
                except LostWorkerError as error:
                    done[place] = tasks[place].lost(error)
                reporter.tell(len(done))
    except KeyboardInterrupt:
        return done, True
    return done, False


def _rows(done: Mapping[int, Found], names: Sequence[str], inquiry: Inquiry) -> Iterator[ExperimentRow]:
    """Rows in their order; those of a model that is built have their answers from several tasks."""
    if not isinstance(inquiry.subject, Model):
        for place in sorted(done):
            for constants, results in done[place]:
                yield ExperimentRow(_of(constants, names), tuple(results))
    elif len(done) == len(inquiry.selected):
        for parts in zip(*(done[place] for place in sorted(done)), strict=True):
            yield ExperimentRow(_of(parts[0][0], names), tuple(one for _, results in parts for one in results))


def _of(constants: Valuation, names: Sequence[str]) -> dict[str, Any]:
    return {name: constants[name] for name in names}


def _complain(found: Experiment) -> None:
    """Raise the error where nothing was answered; warn where something was not."""
    if not found.errors:
        return
    count = len(found) * len(found.properties)
    if len(found.errors) == count:
        raise found.errors[0]
    message = f"{len(found.errors):,} of {count:,} answers are errors; the first is {found.errors[0]}"
    warnings.warn(message, stacklevel=3)


class _Reporter:
    """Tells how far an experiment is."""

    def __init__(self, progress: bool | Progress | None, total: int):
        self._progress, self._total = progress, total
        shows = watched() if progress is None else progress is True
        self._task = task() if shows else None

    def __enter__(self) -> _Reporter:
        return self

    def tell(self, done: int) -> None:
        """So many models are done."""
        if callable(self._progress):
            self._progress(done, self._total)
        if self._task is not None:
            self._task.tell(f"{done:,} of {self._total:,} models", done / self._total)

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.close()


def _text(found: Result | GaltonError) -> str:
    return f"error: {found.kind}" if isinstance(found, GaltonError) else found.text
