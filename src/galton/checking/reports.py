"""What there is to say of models and answers: in words, and for JSON. Command line and studio say the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..lang.wording import counted

if TYPE_CHECKING:
    from ..model.sparse import Model
    from .result import Result

__all__ = ["as_json", "exact_json", "model_line", "plan", "plan_lines", "record", "sizes", "states", "work_lines"]


def as_json(value: Any) -> Any:
    """A value for JSON, which has no infinity."""
    if isinstance(value, tuple):
        return [as_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def record(result: Result) -> dict[str, Any]:
    """What a result says, for JSON; bounds only where they are proved. A Pareto set is a list of its points.

    What is known around the points of a set comes beside them.
    """
    from .result import ParetoSet

    value = result.value.points if isinstance(result.value, ParetoSet) else result.value
    lower, upper = (result.lower, result.upper) if result.proved else (None, None)
    found = {"value": as_json(value), "lower": as_json(lower), "upper": as_json(upper)}
    if isinstance(result.value, ParetoSet):
        found |= {name: as_json(getattr(result.value, name)) for name in ("objectives", "bounds", "half_spaces", "gap")}
    if result.behind is not None:
        found["behind"] = record(result.behind)
    return found if result.exact is None else {**found, "exact": exact_json(result.exact)}


def exact_json(value: Any) -> Any:
    """A fraction as text with all its digits, ``"1/6"``; a list of two for a pair."""
    from .result import full_fraction

    if isinstance(value, tuple):
        return [exact_json(part) for part in value]
    return as_json(value) if isinstance(value, float) else full_fraction(value)


def sizes(model: Model) -> dict[str, Any]:
    """How large a model is, and what was left out of it, for JSON."""
    found: dict[str, Any] = dict(model.whole)
    if model.is_reduced:
        found["standing_for"] = model.stands_for()
    return found | ({"left_out": model.info["left_out"]} if "left_out" in model.info else {})


def plan(result: Result) -> list[dict[str, Any]]:
    """The plan that led to a result, for JSON."""
    return [
        {
            "formula": solved.formula,
            "step": w.step,
            "detail": w.detail,
            "iterations": w.iterations,
            "seconds": w.seconds,
        }
        for solved in result.steps
        for w in solved.work
    ]


def states(model: Model) -> str:
    """How many states a model has, how many of the program they stand for, and what was left out of that."""
    if model.sizes is not None:
        told = f"{counted(model.n_states, 'block')} standing for {counted(model.stands_for(), 'state')}"
    else:
        orbits = f" standing for {model.stands_for():,}" if model.is_reduced else ""
        told = f"{counted(model.whole['states'], 'state')}{orbits}"
    without = model.info.get("without", "")
    return f"{told} {without}" if without else told


def model_line(model: Model, seconds: float, cut: bool, what: str = "", how: str = "built") -> str:
    """A model in a line; ``what`` it is, if it is not that of the program alone, and ``how`` it was made."""
    choices = f", {counted(model.whole['choices'], 'choice')}" if model.has_choices else ""
    size = f"{states(model)}{choices}, {counted(model.whole['transitions'], 'transition')}"
    head = f"{model.type}, {what}" if what else model.type
    return f"{head}: {size}{', not explored past the targets' if cut else ''}, {how} in {seconds:.3f} s"


def plan_lines(model: Model, result: Result, build_s: float, lumping: str = "") -> list[tuple[str, str, str]]:
    """What was done for a result, step by step: the step, its time and what there is to say of it."""
    found = model.info.get("discover_s"), model.info.get("assemble_s")
    detail = ", ".join(f"{what} {s:.3f} s" for what, s in zip(("states", "rows"), found, strict=True) if s is not None)
    rows = [("build", f"{states(model)}, {model.whole['transitions']:,} transitions: {detail}", 0, build_s)]
    if "slice" in model.info:
        used = "" if "left_out" in model.info else "nothing left out: "
        rows.append(("slice", f"{used}{model.info['slice']}", 0, 0.0))
    if "symmetry" in model.info:
        used = "" if model.orbits is not None else "not used: "
        rows.append(("symmetry", f"{used}{model.info['symmetry']}", 0, 0.0))
    if "explorer" in model.info:
        rows.append(("explorer", model.info["explorer"], 0, 0.0))
    if lumping:
        rows.append(("lumping", f"{'' if model.sizes is not None else 'not used: '}{lumping}", 0, 0.0))
    return work_lines(result, rows)


def work_lines(result: Result, before: Sequence[tuple[str, str, int, float]] = ()) -> list[tuple[str, str, str]]:
    """Where a result comes from, and the steps that led to it, as lines; ``before`` them come others."""
    rows = [*before, ("placement", str(result.placement), 0, 0.0)]
    for solved in result.steps:
        if len(result.steps) > 1:
            rows.append((solved.formula, "", 0, 0.0))
        rows += [(work.step, work.detail, work.iterations, work.seconds) for work in solved.work]
    lines = []
    for step, detail, iterations, seconds in rows:
        sweeps = f"{iterations:,} sweeps" if iterations else ""
        known = ", ".join(part for part in (detail, sweeps) if part)
        lines.append((step, f"{seconds:.3f} s" if seconds or known else "", known))
    return lines
