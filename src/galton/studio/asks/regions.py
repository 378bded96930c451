"""Synthesis: the boxes of parameter values as they are refined."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

from ...checking.watching import Synthesizing
from ...lang.source import GaltonError
from ...synth.api import Synthesis, inquire
from .copying import Copied, constants_of_command
from .reading import _real, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...synth.regions import Regions
    from .desk import Desk
    from .reading import Given

__all__ = ["copied_synth", "synth"]

SHOW_SECONDS = 0.25  # between pictures
MOST_BOXES = 20_000  # that are sent; more are not seen
FIELDS = ("model", "property", "parameters", "constants", "goal", "tolerance", "device")
VERDICTS = {"excluded": "not", "values": "value"}


def synth(desk: Desk, given: Given) -> dict[str, Any]:
    """For which parameters a property holds, or a number is best."""
    given.only(*FIELDS)
    goal, tolerance = _goal(given), given.real("tolerance")
    name = given.text("model")
    prop = given.property()
    constants = given.constants()
    ranges = _ranges(given)
    inquiry = inquire(
        desk.source(name),
        prop if isinstance(prop, str) else desk.source(prop[0]),
        ranges,
        _own(desk, name, prop, {key: value for key, value in constants.items() if key not in ranges}),
        None,
        chosen=None if isinstance(prop, str) else str(prop[1] + 1),
        maximize=goal == "maximise",
        minimize=goal == "minimise",
        tolerance=None if goal == "values" else tolerance,
        accuracy=(tolerance or 0.01) if goal == "values" else None,
    )
    synthesis = Synthesis.of(inquiry, device=given.text("device") if "device" in given else "auto")
    progress = Synthesizing(inquiry.tolerance if synthesis.problem == "threshold" else None)
    last = 0.0

    def show(regions: Callable[[], Regions]) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SHOW_SECONDS:
            last = now
            desk.part(_boxes(regions()))

    try:
        found = synthesis.run(None, progress, show)
    finally:
        progress.clear()
    if found.interrupted:
        raise KeyboardInterrupt
    desk.keep({"regions": found})
    return {
        **_boxes(found),
        "complete": found.complete,
        "seconds": desk.seconds,
        "words": _words(found),
        "copied": copied_synth(desk, given),
    }


def _goal(given: Given) -> str:
    return given.one_of("goal", "threshold", "maximise", "minimise", "values")


def _ranges(given: Given) -> dict[str, tuple[float, float]]:
    found = {}
    for name, ends in given.inner("parameters").fields.items():
        if not isinstance(ends, list) or len(ends) != 2:
            raise GaltonError(f"the range of '{name}' has a low and a high end")
        found[name] = _real(ends[0], name), _real(ends[1], name)
    if not found:
        raise GaltonError("choose at least one constant as a parameter, and give it a range")
    return found


def _boxes(found: Regions) -> dict[str, Any]:
    low, high = zip(*found.parameters.values(), strict=True)
    undecided = found.volume(found.undecided) if found.problem == "threshold" else 0.0
    return {
        "parameters": list(found.parameters),
        "low": list(low),
        "high": list(high),
        "boxes": [
            {
                "low": list(box.low),
                "high": list(box.high),
                "lower": number(box.lower),
                "upper": number(box.upper),
                "verdict": VERDICTS.get(box.verdict, box.verdict),
            }
            for box in found.boxes[:MOST_BOXES]
        ],
        "decided": 1.0 - undecided,
        "best": None
        if found.best is None
        else {"point": list(found.best.point), "lower": number(found.best.lower), "upper": number(found.best.upper)},
        "optimum": None if found.optimum is None else [number(end) for end in found.optimum],
    }


def _words(found: Regions) -> str:
    if found.problem == "threshold":
        parts = [f"{name} {found.volume(boxes):.2%}" for name, boxes in (("true", found.true), ("false", found.false))]
        told = ", ".join([*parts, f"undecided {found.volume(found.undecided):.2%}"])
    elif found.optimum is not None:
        told = f"{found.problem[:3]}imum between {found.optimum[0]:.6g} and {found.optimum[1]:.6g}"
    else:
        told = f"values from {found.spread[0]:.6g} to {found.spread[1]:.6g}"
    more = "" if found.complete else "; the tolerance was not reached, splitting brings bounds no closer"
    return f"{told}; {len(found.boxes):,} boxes{more}"


def copied_synth(desk: Desk, given: Given) -> Copied:
    """``galton synth`` and ``galton.synthesize``."""
    name, prop, ranges, goal = given.text("model"), given.property(), _ranges(given), _goal(given)
    constants = {key: value for key, value in given.constants().items() if key not in ranges}
    own = _own(desk, name, prop, constants)
    words = ["galton", "synth", name]
    words += ["-p", prop] if isinstance(prop, str) else [prop[0], "--name", str(prop[1] + 1)]
    words += [word for key, (low, high) in ranges.items() for word in ("--param", f"{key}={low!r}:{high!r}")]
    words += constants_of_command(own)
    arguments = [repr(name), repr(prop) if isinstance(prop, str) else f"Path({prop[0]!r})"]
    if not isinstance(prop, str):
        arguments.append(f"name={str(prop[1] + 1)!r}")
    if goal in ("maximise", "minimise"):
        chosen = goal.replace("ise", "ize")
        words.append(f"--{chosen}")
        arguments.append(f"{chosen}=True")
    tolerance = given.real("tolerance")
    if goal == "values" or tolerance is not None:
        option = "accuracy" if goal == "values" else "tolerance"
        words += [f"--{option}", repr(tolerance or 0.01)]
        arguments.append(f"{option}={tolerance or 0.01!r}")
    if given.maybe("device") not in (None, "auto"):
        words += ["--device", given.text("device")]
        arguments.append(f"device={given.text('device')!r}")
    if own:
        arguments.append(f"constants={ {key: value.strip() for key, value in own.items()}!r}")
    arguments += [f"{key}={ends!r}" for key, ends in ranges.items()]
    head = "import galton\n" if isinstance(prop, str) else "from pathlib import Path\n\nimport galton\n"
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return {
        "command": shlex.join(words),
        "python": f"{head}\nregions = galton.synthesize(\n{lines})\nprint(regions.to_json())\n",
    }


def _own(desk: Desk, model: str, prop: tuple[str, int] | str, constants: dict[str, str]) -> dict[str, str]:
    """The constants that the model or the property declares."""
    file = desk.typed(prop) if isinstance(prop, str) else desk.property_file(prop[0])
    declared = {**desk.own(desk.model_file(model), constants), **desk.own(file, constants)}
    return {name: value for name, value in constants.items() if name in declared}
