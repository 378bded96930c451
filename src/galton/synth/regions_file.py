"""Regions from a file that ``galton synth --json`` wrote: all of it is checked, because the search goes on from it.

What cannot be seen is a bound that somebody replaced by another that is just as possible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast, get_args

from ..io.fields import BadField, as_int, as_list, as_number, as_object, as_text, get, one_of, parse_json, shown
from .inquiry import Inquiry
from .regions import FORMAT, Box, Problem, Regions, Sample, Verdict

if TYPE_CHECKING:
    from .parameters import Range

VERDICTS: Mapping[str, tuple[Verdict, ...]] = {
    "threshold": ("true", "false", "undecided"),
    "maximise": ("optimal", "excluded"),
    "minimise": ("optimal", "excluded"),
    "values": ("values",),
}
VOLUME_TOLERANCE = 1e-9  # of the volume of all boxes, relatively

__all__ = ["regions_from"]


def regions_from(text: str | bytes) -> Regions:
    """The regions of a text; :class:`~galton.fields.BadField` says what is wrong with it."""
    found = as_object(parse_json(text), "it")
    if get(found, "format") != FORMAT:
        raise BadField(f"it has regions in format {shown(found['format'])}, and this version reads {FORMAT}")
    parameters = {
        as_text(name, "a parameter"): _range(ends, name)
        for name, ends in as_object(get(found, "parameters"), "parameters").items()
    }
    if not parameters:
        raise BadField("it has no parameters")
    problem = cast(Problem, one_of(get(found, "problem"), get_args(Problem), "problem"))
    boxes = [
        _box(as_object(box, f"box {place}"), f"box {place}", parameters, problem)
        for place, box in enumerate(as_list(get(found, "boxes"), "boxes"))
    ]
    tolerance = as_number(get(found, "tolerance"), "tolerance")
    split = one_of(get(found, "split"), ("best", "all"), "split")
    asked = found.get("asked")  # not there in the files of old versions
    regions = Regions(
        parameters=parameters,
        problem=problem,
        formula=as_text(get(found, "property"), "property"),
        tolerance=tolerance,
        boxes=tuple(boxes),
        model=as_text(get(found, "model"), "model"),
        constants=as_object(get(found, "constants"), "constants"),
        digest=as_text(get(found, "digest"), "digest"),
        split=split,
        best=_best(get(found, "best"), parameters),
        step=as_number(get(found, "step"), "step"),
        complete=get(found, "complete") is True,
        interrupted=get(found, "interrupted") is True,
        statistics={
            name: as_number(value, f"statistics: {name}")
            for name, value in as_object(get(found, "statistics"), "statistics").items()
        },
        inquiry=None
        if asked is None
        else Inquiry.from_json(
            as_object(asked, "asked"), problem=problem, tolerance=tolerance, split=split, ranges=parameters
        ),
    )
    _check_space(regions)
    return regions


def _range(ends: Any, name: str) -> Range:
    low, high = (as_number(end, name) for end in as_list(ends, name, 2))
    if not low < high:
        raise BadField(f"the range of {name} ends at {high!r}, which is not above {low!r}")
    return low, high


def _point(given: Any, what: str, parameters: Mapping[str, Range]) -> tuple[float, ...]:
    values = as_list(given, what, len(parameters))
    point = tuple(as_number(value, what) for value in values)
    for value, (name, (low, high)) in zip(point, parameters.items(), strict=True):
        if not low <= value <= high:
            raise BadField(f"{what}: {name} is {value!r}, outside of its range")
    return point


def _bounds(found: dict[str, Any], what: str) -> tuple[float, float]:
    lower, upper = (as_number(get(found, end), f"{what}: {end}", finite=False) for end in ("lower", "upper"))
    if lower > upper:
        raise BadField(f"{what}: its lower bound {lower!r} is above the upper one, {upper!r}")
    return lower, upper


def _box(found: dict[str, Any], what: str, parameters: Mapping[str, Range], problem: Problem) -> Box:
    low, high = (_point(get(found, end), f"{what}: {end}", parameters) for end in ("low", "high"))
    if not all(a < b for a, b in zip(low, high, strict=True)):
        raise BadField(f"{what} has no inside")
    gains = found.get("gains")
    if gains is not None:
        gains = tuple(as_number(g, f"{what}: gains") for g in as_list(gains, f"{what}: gains", len(parameters)))
    verdict = cast(Verdict, one_of(get(found, "verdict"), VERDICTS[problem], f"{what}: verdict"))
    age, stuck = (as_int(found.get(name, 0), f"{what}: {name}", 0, 2**31) for name in ("age", "stuck"))
    return Box(low, high, *_bounds(found, what), verdict, gains, age, stuck)


def _best(found: Any, parameters: Mapping[str, Range]) -> Sample | None:
    if found is None:
        return None
    found = as_object(found, "best")
    return Sample(_point(get(found, "point"), "best: point", parameters), *_bounds(found, "best"))


def _check_space(regions: Regions) -> None:
    """Boxes, if there are any, are the whole space, and no corner is there twice."""
    if not regions.boxes:
        return
    if len({box.low for box in regions.boxes}) < len(regions.boxes):
        raise BadField("two boxes have the same lower corner")
    volume = regions.volume(regions.boxes)
    if not math.isclose(volume, 1, rel_tol=VOLUME_TOLERANCE):
        raise BadField(f"the boxes are {volume:.12g} of the space, and should be all of it")
    if regions.optimum and not regions.optimal:
        raise BadField("no box may hold the optimum")
