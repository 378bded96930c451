"""Other tools, asked what Galton is asked, of one file and as precisely: Storm by stormpy, PRISM by its program.

Every tool runs in a process of its own. The clock runs from before the file is read until the answer is there; what
Python imports is imported before.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from .child import measured
from .experiment import Cell, Options
from .questions import SAME as LITTLE_CHANGED
from .questions import Instance, import_all

__all__ = ["PRECISION", "agreement", "in_storm", "peers_of"]

PRECISION = 1e-6  # relative; of all tools
SAME = 3 * PRECISION  # two answers, each as precise as that


def peers_of(instance: Instance, options: Options) -> tuple[dict[str, Cell], str]:
    """Columns for the tools of ``--against``, and what is wrong with their answers; nothing where none is asked for.

    ``galton_s`` and ``galton_mb`` are seconds from the file to the answer and peak memory, by the default method, which
    proves its bounds. Each peer has such columns too, the seconds for building and checking, its value, and whether
    that agrees.
    """
    if not options.against:
        return {}, ""
    given: dict[str, Any] = {
        "path": str(options.models / f"{instance.question.model}.prism"),
        "constants": instance.constants,
        "prop": instance.question.prop,
    }
    ours = measured(f"{__name__}:ask_galton", options, **given, device=options.device)
    columns: dict[str, Cell] = _columns("galton", ours)
    wrong = []
    for peer in options.against:
        theirs = _peer(peer, options, given)
        columns |= _columns(peer, theirs)
        if "error" not in theirs:
            columns[f"{peer}_says"] = said = agreement(ours, theirs)
            if said.startswith(DISAGREES):
                wrong.append(f"{peer} {said}")
    return columns, "; ".join(wrong)


DISAGREES = "DISAGREES"


def agreement(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Whether an answer is inside the bounds of Galton, but for the precision of its own tool.

    A method that stops when little changes may be further off (:data:`.questions.SAME`), which is told.
    """
    if "error" in ours:
        return "no answer to compare with"
    value, lower, upper = (float(number) for number in (theirs["value"], ours["lower"], ours["upper"]))
    if value == upper or lower - SAME * abs(lower) <= value <= upper + SAME * abs(upper):
        return "agrees"
    off = max(lower - value, value - upper)
    if not theirs["sound"] and off <= LITTLE_CHANGED * abs(value):
        return f"off by {off / abs(value):.1e}, without a promise"
    return f"{DISAGREES}: {value!r}, not {lower!r} to {upper!r}"


def _peer(peer: str, options: Options, given: dict[str, Any]) -> dict[str, Any]:
    if peer == "storm":
        return measured(f"{__name__}:ask_storm", options, **given)
    if options.prism is None:
        return {"error": "where is it? say so with --prism PATH"}
    return measured(f"{__name__}:ask_prism", options, **given, program=str(options.prism))


def _columns(tool: str, found: dict[str, Any]) -> dict[str, Cell]:
    if "error" in found:
        return {f"{tool}_says": found["error"]}
    return {
        f"{tool}_s": found["seconds"],
        f"{tool}_build_s": found["build_s"],
        f"{tool}_check_s": found["check_s"],
        f"{tool}_mb": found.get("peak_mb", found["memory_mb"]),
        f"{tool}_value": found["value"],
    }


def in_storm(text: str) -> str:
    """A property in Storm's words: the long run is called LRA there, and the states asked about are chosen after."""
    if text.startswith("filter(max, ") and text.endswith(', "init")'):
        text = text.removeprefix("filter(max, ").removesuffix(', "init")')
    return "LRA" + text[1:] if text.startswith("S=?") else text.replace("[ S ]", "[ LRA ]")


# Inside of a process.


def ask_galton(path: str, constants: dict[str, int], prop: str, device: str) -> dict[str, Any]:
    """Galton's answer, with bounds that are proved."""
    import time

    from ..api import check
    from ..programs import load
    from ..solve.settings import Settings

    import_all(device)
    start = time.perf_counter()
    program = load(Path(path), **constants)
    model = program.build(device=device)
    built = time.perf_counter()
    result = check(model, prop, settings=Settings(eps=PRECISION))
    end = time.perf_counter()
    return {
        "seconds": end - start,
        "build_s": built - start,
        "check_s": end - built,
        "value": _written(result.value),
        "lower": _written(result.lower),
        "upper": _written(result.upper),
    }


def _written(number: Any) -> float | str:
    """The largest of the answers for all initial states, as JSON has it."""
    value = float(max(number) if isinstance(number, tuple) else number)
    return repr(value) if math.isinf(value) else value


def ask_storm(path: str, constants: dict[str, int], prop: str) -> dict[str, Any]:
    """Storm's answer, sound, as is its default; it builds the whole model, as Galton does here."""
    import time

    try:
        import stormpy
    except ImportError:
        return {"error": "stormpy is not installed"}

    start = time.perf_counter()
    program = stormpy.parse_prism_program(path, prism_compatibility=True)
    properties = stormpy.parse_properties(in_storm(prop), program)
    program, (asked,) = stormpy.instantiate_constants(program, _given(constants), properties)
    model = stormpy.build_model(program, [asked, asked])  # for a single property it would stop at the goals
    built = time.perf_counter()
    result = stormpy.model_checking(model, asked)
    value = max(result.get_value(state) for state in model.initial_states)
    end = time.perf_counter()
    return {
        "seconds": end - start,
        "build_s": built - start,
        "check_s": end - built,
        "value": _written(value),
        "sound": True,
        "states": model.nr_states,
    }


def ask_prism(path: str, constants: dict[str, int], prop: str, program: str) -> dict[str, Any]:
    """PRISM's answer by its program, with the engine of its own choice."""
    import resource
    import subprocess
    import time

    command = prism_command(path, constants, prop, program)
    start = time.perf_counter()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        return {"error": f"{program}: {error.strerror}"}
    seconds = time.perf_counter() - start
    found = read_prism(done.stdout)
    if "error" in found:
        return found
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": seconds, **found, "sound": not _is_long_run(prop), "peak_mb": peak}


def prism_command(path: str, constants: dict[str, int], prop: str, program: str) -> list[str]:
    """How PRISM is called: by interval iteration, which bounds its error, where it has that.

    For the long run it has not. There its default, Jacobi's method, never settles for two of the models, so that it
    is over-relaxed.
    """
    given = ["-const", _given(constants)] if constants else []
    how = ["-jor", "-omega", "0.9"] if _is_long_run(prop) else ["-intervaliter"]
    enough = ["-maxiters", "1000000", "-javamaxmem", "8g", "-cuddmaxmem", "4g"]
    return [program, path, "-pf", prop, *given, "-epsilon", repr(PRECISION), *how, *enough]


def _is_long_run(prop: str) -> bool:
    return "LRA" in in_storm(prop)


def _given(constants: dict[str, int]) -> str:
    """Constants as both tools read them."""
    return ",".join(f"{name}={value}" for name, value in constants.items())


def read_prism(said: str) -> dict[str, Any]:
    """The answer and the times in what PRISM prints."""
    result = re.search(r"^Result(?: \([^)]*\))?: (\S+)", said, re.MULTILINE)
    if not result:
        return {"error": next((line for line in said.splitlines() if line.startswith("Error")), "it gave no result")}
    text = result[1].strip("[]").rpartition(",")[2]  # of a range the largest
    times = {
        name: float(found[1]) if (found := re.search(rf"Time for model {what}: ([\d.]+) seconds", said)) else math.nan
        for name, what in (("build_s", "construction"), ("check_s", "checking"))
    }
    return {"value": _written(float(text)), **times}
