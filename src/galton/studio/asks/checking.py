"""Answers: properties side by side, each as soon as it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...checking.asking import Answers, Asked, Built, Inquiry, QuietWorker, Row
from ...checking.experiment import ranges
from ...checking.reports import plan_lines
from ...checking.result import ParetoSet, Result
from ...checking.watching import Exploring, Watcher
from ...lang.source import GaltonError
from ..trouble import trouble_of
from .copying import copied_check
from .reading import number
from .summaries import model_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...checking.asking import Family
    from ...checking.curves import AnsweredCurve
    from ...lang.program import Program
    from ...model.sparse import Model
    from ...simulation.result import Estimate
    from .desk import Desk
    from .reading import Given, Options

__all__ = ["TellingWorker", "answer_of", "check", "pareto", "synth_at", "value_of"]

MOST_LINES = 1000  # of a listing


@dataclass(frozen=True)
class TellingWorker(QuietWorker):
    """Builds and solves, and tells how far it is."""

    def _built(self, program: Program, full: bool, **more: Any) -> Built:
        with Exploring() as watch:
            return super()._built(program, full, watch=watch, **more)

    def check(self, model: Model, asked: Asked) -> Result | GaltonError:
        """The answer to one property, or why there is none."""
        watcher = Watcher(model, asked.question.prop.text)
        try:
            return replace(self, settings=replace(self.settings, watch=watcher))._quietly(model, asked)
        finally:
            watcher.clear()

    def _quietly(self, model: Model, asked: Asked) -> Result | GaltonError:
        return super().check(model, asked)

    def curve(self, model: Model, family: Family, bounds: Sequence[float]) -> AnsweredCurve | None:
        """The answers to a property for many values of its bound."""
        from ...checking.curves import answer_curve

        watcher = Watcher(model, family.question.prop.text)
        try:
            settings = replace(self.settings, watch=watcher)
            return answer_curve(model, family.context, family.question, bounds, settings)
        finally:
            watcher.clear()


def check(desk: Desk, given: Given) -> dict[str, Any]:
    """Several properties of one model."""
    given.only("model", "properties", "constants", "options")
    properties, constants, options = given.properties(), given.constants(), given.options()
    found, info = _answers(desk, given.text("model"), properties, constants, options)
    desk.keep({"answers": found})
    copied = copied_check(desk, given.text("model"), properties, constants, options)
    return {"answers": found, "model": info, "seconds": desk.seconds, "copied": copied}


def synth_at(desk: Desk, given: Given) -> dict[str, Any]:
    """The value at one point of a space of parameters."""
    from .reading import _real

    given.only("model", "property", "point", "constants", "options")
    point = {name: repr(_real(value, name)) for name, value in given.inner("point").fields.items()}
    constants = {**given.constants(), **point}
    options = given.options()
    (answer,), _ = _answers(desk, given.text("model"), [given.property()], constants, options)
    copied = copied_check(desk, given.text("model"), [given.property()], constants, options)
    desk.keep({"answers": [answer]})
    return {"answer": answer, "copied": copied}


def pareto(desk: Desk, given: Given) -> dict[str, Any]:
    """What strategies can do for several objectives at once."""
    given.only("model", "property", "constants", "options")
    constants, options = given.constants(), given.options()
    inquiry, worker, device = _asking(desk, given.text("model"), [given.property()], constants, options)
    (row,) = inquiry.rows()
    (asked,) = row.all_asked
    if asked.wrong is not None:
        raise asked.wrong
    inquiry.check_choices(row, device, ())
    found, _ = Answers(inquiry, row, worker).of(asked)
    if isinstance(found, GaltonError):
        raise found
    if not isinstance(found.value, ParetoSet):
        raise GaltonError("this has no Pareto set: multi(…, …) with several numbers that are asked for has one")
    front = found.value
    corners = f"{len(front.points):,} corner{'s' if len(front.points) > 1 else ''}"
    desk.keep({"front": front, "title": given.text("model")})
    return {
        "objectives": list(front.objectives),
        "points": [[number(part) for part in point] for point in front.points],
        "outside": [
            {"normal": [number(part) for part in weights], "bound": number(limit)}
            for weights, limit in front.half_spaces
        ],
        "maximise": list(front.maximise),
        "bounds": [[[number(low), number(high)] for low, high in point] for point in front.bounds],
        "words": f"{corners}; nothing lies further beyond than {front.gap:.3g}, relatively",
        "proved": found.proved,
        "seconds": desk.seconds,
        "copied": copied_check(desk, given.text("model"), [given.property()], constants, options),
    }


def _asking(
    desk: Desk,
    model: str,
    properties: list[tuple[str, int] | str],
    constants: Mapping[str, str],
    options: Options,
) -> tuple[Inquiry, TellingWorker, str]:
    options.refuse_building()
    settings, device = options.settings()
    inquiry = desk.inquiry(model, properties, constants, settings, options)
    for name, values in ranges({**inquiry.of_model, **inquiry.of_properties}).items():
        raise GaltonError(f"'{name}' has {len(values):,} values; an experiment gives a point for each of them")
    building = {"device": device, "threads": options.threads, "memory_mb": desk.memory_mb}
    return inquiry, TellingWorker(settings, building), device


def _answers(
    desk: Desk,
    model: str,
    properties: list[tuple[str, int] | str],
    constants: Mapping[str, str],
    options: Options,
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    inquiry, worker, device = _asking(desk, model, properties, constants, options)
    (row,) = inquiry.rows()
    ask = _Estimates(desk, options) if options.sim else _Answering(desk, inquiry, row, worker, device)
    found = []
    for place, asked in enumerate(row.all_asked):
        answer = ask.of(asked)
        desk.part({"number": place, "answer": answer})
        found.append(answer)
    return found, ask.model


class _Answering:
    """Answers with proofs, from models that are built when the first property needs one."""

    def __init__(self, desk: Desk, inquiry: Inquiry, row: Row, worker: TellingWorker, device: str):
        self._desk, self._inquiry, self._row, self._worker = desk, inquiry, row, worker
        if any(asked.wrong is None for asked in row.all_asked):
            inquiry.check_choices(row, device, ())
        self._answers: Answers | GaltonError | None = None
        self.model: dict[str, Any] | None = None

    def of(self, asked: Asked) -> dict[str, Any]:
        if asked.wrong is not None:
            return self._wrong(asked, asked.wrong)
        if self._answers is None:
            try:
                self._answers = Answers(self._inquiry, self._row, self._worker)
            except GaltonError as error:
                self._answers = error
        if isinstance(self._answers, GaltonError):
            return self._wrong(asked, self._answers)
        found, built = self._answers.of(asked)
        if built is not None and self.model is None:
            self.model = model_info(built.model, built.seconds)
        if isinstance(found, GaltonError) or built is None:
            assert isinstance(found, GaltonError)
            return self._wrong(asked, found)
        return answer_of(found, built)

    def _wrong(self, asked: Asked, error: GaltonError) -> dict[str, Any]:
        return wrong_answer(asked, trouble_of(error, self._desk.files))


class _Estimates:
    """Answers with a confidence, from random paths; no model is built."""

    model: dict[str, Any] | None = None

    def __init__(self, desk: Desk, options: Options):
        import os

        from ...simulation.estimating import Plan
        from .reading import Given

        self._desk, self._device = desk, "cpu" if options.device == "auto" else options.device
        given = Given(options.given)
        self._plan = Plan(
            given.real("confidence") or 0.95,
            given.real("width"),
            given.whole("paths", 1, 10**12) if "paths" in given else None,
            given.whole("seed", 0, 2**63 - 1, 0),
            options.threads or len(os.sched_getaffinity(0)),
        )

    def of(self, asked: Asked) -> dict[str, Any]:
        from ...simulation.api import estimate_question

        if asked.wrong is not None:
            return wrong_answer(asked, trouble_of(asked.wrong, self._desk.files))
        try:
            found = estimate_question(asked.context, asked.question, self._plan, device=self._device)
        except GaltonError as error:
            return wrong_answer(asked, trouble_of(error, self._desk.files))
        return estimate_of(found)


def wrong_answer(asked: Asked, error: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a property that has no answer."""
    prop = asked.question.prop
    return {**_EMPTY, "property": " ".join(prop.text.split()), "name": prop.name, "error": error}


_EMPTY: dict[str, Any] = {
    "property": "",
    "name": None,
    "value": None,
    "text": "",
    "lower": None,
    "upper": None,
    "kind": "other",
    "proved": False,
    "confidence": None,
    "seconds": 0.0,
    "method": "",
    "placement": "",
    "explain": [],
    "warnings": [],
    "states": None,
    "error": None,
    "listing": [],
    "about": "",
    "behind": None,
}


def answer_of(found: Result, built: Built) -> dict[str, Any]:
    """An answer for the page."""
    lines = plan_lines(built.model, found, built.seconds, built.lumping)
    lower, upper = (found.lower, found.upper) if found.proved else (None, None)
    kinds = {bool: "truth", tuple: "interval", ParetoSet: "pareto", int: "number", float: "number"}
    return {
        **_EMPTY,
        "property": " ".join(found.formula.split()),
        "name": found.name,
        "value": value_of(found),
        "text": found.text,
        "lower": number(lower),
        "upper": number(upper),
        "kind": kinds.get(type(found.value), "other"),
        "proved": found.proved,
        "seconds": found.seconds,
        "method": found.method,
        "placement": str(found.placement),
        "explain": ["  ".join(part for part in line if part) for line in lines],
        "warnings": list(found.warnings),
        "states": built.model.n_states,
        "listing": list(found.listing[:MOST_LINES]),
        "about": found.about,
        "behind": None if found.behind is None else {"about": found.behind.about, "text": found.behind.text},
    }


def value_of(found: Result) -> Any:
    """One value; an exact one is a text, and what is no single value is nothing."""
    if isinstance(found.value, bool) or found.value is None:
        return found.value
    if isinstance(found.value, (tuple, ParetoSet)):
        return None
    if found.exact is not None and not isinstance(found.exact, tuple):
        from ...checking.result import full_fraction

        return full_fraction(found.exact)
    return number(found.value)


def estimate_of(found: Estimate) -> dict[str, Any]:
    """An estimate for the page."""
    return {
        **_EMPTY,
        "property": found.formula,
        "name": found.name,
        "value": number(found.value),
        "text": found.text,
        "lower": number(found.lower),
        "upper": number(found.upper),
        "kind": "truth" if isinstance(found.value, bool) else "number",
        "confidence": found.confidence,
        "seconds": found.seconds,
        "method": found.method,
        "placement": found.device,
        "explain": [
            f"{found.paths:,} random paths, {found.steps:,} steps, {found.cut:,} of them cut",
            f"assumes that {found.assumption}",
        ],
        "warnings": list(found.warnings),
        "about": found.about,
    }
