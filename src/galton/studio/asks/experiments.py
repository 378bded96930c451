"""Experiments: constants that run through ranges, drawn point by point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...checking.asking import Answers
from ...checking.experiment import ranges
from ...checking.experiment_table import PARTS, cells_of, title_of
from ...checking.result import Result
from ...experiments import Experiment, ExperimentRow
from ...lang.source import GaltonError
from ...progress import task
from .checking import TellingWorker, value_of
from .copying import copied_experiment
from .reading import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .desk import Desk
    from .reading import Given

__all__ = ["experiment", "table_of"]

MOST_POINTS = 200_000


def experiment(desk: Desk, given: Given) -> dict[str, Any]:
    """Properties for all combinations of values of constants."""
    given.only("model", "properties", "constants", "options")
    model, properties, constants, options = (
        given.text("model"),
        given.properties(),
        given.constants(),
        given.options(),
    )
    if options.sim:
        raise GaltonError("experiments are answered with proofs; random paths answer single values of constants")
    options.refuse_building()
    settings, device = options.settings()
    inquiry = desk.inquiry(model, properties, constants, settings, options, raises=False)
    varying = ranges({**inquiry.of_model, **inquiry.of_properties})
    names = tuple(name for name in constants if name in varying)
    rows = 1
    for name in names:
        rows *= len(varying[name])
    if not names:
        raise GaltonError("an experiment needs a constant with a range, such as N=1:10 or p=0:0.1:1")
    if rows > MOST_POINTS:
        raise GaltonError(f"these are {rows:,} points; at most {MOST_POINTS:,} are drawn")
    titles = tuple(title_of(prop.name, prop.text) for prop in inquiry.properties)
    values = [{"name": name, "values": list(map(_plain, varying[name]))} for name in names]
    desk.part({"plan": {"constants": values, "properties": list(titles), "rows": rows}})
    worker = TellingWorker(settings, {"device": device, "threads": options.threads, "memory_mb": desk.memory_mb})
    found: list[ExperimentRow] = []
    with task() as doing:
        for row in inquiry.rows():
            for slip in row.slips:
                assert slip.wrong is not None
                raise slip.wrong
            answers: Answers | GaltonError
            try:
                if row.error is not None:
                    raise row.error
                inquiry.check_choices(row, device, ())
                answers = Answers(inquiry, row, worker)
            except GaltonError as error:
                answers = error
            for place, valuation in enumerate(row.valuations):
                if isinstance(answers, GaltonError):
                    results: list[Result | GaltonError] = [answers] * len(properties)
                else:
                    results = [answers.of(asked).found for asked in row.asked[place]]
                known = {n: v for asked in row.asked[place : place + 1] for a in asked for n, v in a.constants.items()}
                point: dict[str, Any] = {name: known.get(name, valuation[name]) for name in names}
                found.append(ExperimentRow(point, tuple(results)))
                desk.part({"row": len(found) - 1, "point": _point(found[-1])})
                doing.tell(f"{len(found):,} of {rows:,} rows", len(found) / rows)
    done = Experiment(names, titles, tuple(found), False, model.rpartition("/")[2].rpartition(".")[0])
    if len(done.errors) == rows * len(properties):
        raise done.errors[0]
    desk.keep({"experiment": done})
    return {
        "points": len(done),
        "errors": len(done.errors),
        "table": table_of(done),
        "seconds": desk.seconds,
        "copied": copied_experiment(desk, model, properties, constants, options),
    }


def _point(row: ExperimentRow) -> dict[str, Any]:
    answers = []
    for found in row.results:
        if isinstance(found, GaltonError):
            answers.append({"value": None, "lower": None, "upper": None, "error": str(found)})
        else:
            lower, upper = (found.lower, found.upper) if found.proved else (None, None)
            answers.append({"value": value_of(found), "lower": number(lower), "upper": number(upper), "error": None})
    return {"constants": {name: _plain(value) for name, value in row.constants.items()}, "answers": answers}


def _plain(value: Any) -> Any:
    return number(value)


def table_of(done: Experiment) -> dict[str, Any]:
    """All of it as a table: for each property its value and bounds."""
    kept = (0, PARTS.index(" lower"), PARTS.index(" upper"))
    columns = [*done.constants, *(f"{title}{PARTS[part]}" for title in done.properties for part in kept)]
    rows: list[Sequence[Any]] = []
    for row in done:
        cells = [_plain(row.constants[name]) for name in done.constants]
        for found in row.results:
            if isinstance(found, GaltonError):
                cells += [f"error: {found.kind}", None, None]
            else:
                parts = cells_of(found)
                cells += [number(parts[part]) for part in kept]
        rows.append(cells)
    return {"columns": columns, "rows": rows}
