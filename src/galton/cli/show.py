"""Answers as people and as programs read them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ..checking.result import Result
    from ..model.sparse import Model


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
    from ..checking.result import ParetoSet

    value = result.value.points if isinstance(result.value, ParetoSet) else result.value
    lower, upper = (result.lower, result.upper) if result.proved else (None, None)
    found = {"value": as_json(value), "lower": as_json(lower), "upper": as_json(upper)}
    if isinstance(result.value, ParetoSet):
        found |= {name: as_json(getattr(result.value, name)) for name in ("objectives", "bounds", "half_spaces", "gap")}
    return found if result.exact is None else {**found, "exact": exact_json(result.exact)}


def exact_json(value: Any) -> Any:
    """A fraction as text with all its digits, ``"1/6"``; a list of two for a pair."""
    from ..checking.result import full_fraction

    if isinstance(value, tuple):
        return [exact_json(part) for part in value]
    return as_json(value) if isinstance(value, float) else full_fraction(value)


def sizes(model: Model) -> dict[str, int]:
    """How large a model is, for JSON."""
    return {"states": model.n_states, "choices": model.n_choices, "transitions": model.n_transitions}


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


def model_line(model: Model, seconds: float, cut: bool, what: str = "", how: str = "built") -> str:
    """A model in a line; ``what`` it is, if it is not that of the program alone, and ``how`` it was made."""
    choices = f", {model.n_choices:,} choices" if model.has_choices else ""
    size = f"{model.n_states:,} states{choices}, {model.n_transitions:,} transitions"
    head = f"{model.type}, {what}" if what else model.type
    return f"{head}: {size}{', not explored past the targets' if cut else ''}, {how} in {seconds:.3f} s"


def print_result(result: Result) -> None:
    """A result for a person."""
    typer.echo(f"{result.formula}  =  {typer.style(result.text, bold=True)}")
    about = [result.margin.strip()] if result.margin else []
    if not result.proved:
        about.append("without a guarantee")
    about.append(f"for {result.about}")
    how = [result.method] + ([f"{result.iterations:,} sweeps"] if result.iterations else [])
    typer.echo(f"  {', '.join(about)}; {', '.join(how)}, {result.seconds:.3f} s")
    for line in result.listing:
        typer.echo(f"  {line}")


def print_lines(lines: Iterable[str]) -> None:
    """Lines below an answer."""
    for line in lines:
        typer.echo(f"  {line}")


def print_plan(model: Model, result: Result, build_s: float) -> None:
    """What was done for a result, step by step."""
    found = model.info.get("discover_s"), model.info.get("assemble_s")
    detail = ", ".join(f"{what} {s:.3f} s" for what, s in zip(("states", "rows"), found, strict=True) if s is not None)
    rows = [("build", f"{model.n_states:,} states, {model.n_transitions:,} transitions: {detail}", 0, build_s)]
    rows.append(("placement", str(result.placement), 0, 0.0))
    for solved in result.steps:
        if len(result.steps) > 1:
            rows.append((solved.formula, "", 0, 0.0))
        rows += [(work.step, work.detail, work.iterations, work.seconds) for work in solved.work]
    width = min(max(len(row[0]) for row in rows), 28)
    for step, detail, iterations, seconds in rows:
        sweeps = f"{iterations:,} sweeps" if iterations else ""
        known = ", ".join(part for part in (detail, sweeps) if part)
        took = f"{seconds:.3f} s" if seconds or known else ""
        typer.echo(f"    {step.ljust(width)}  {took.rjust(9)}  {known}".rstrip())
