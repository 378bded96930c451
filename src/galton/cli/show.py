"""Answers as people and as programs read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ..check.result import Result
    from ..model.sparse import Model


def as_json(value: Any) -> Any:
    """A value for JSON, which has no infinity."""
    if isinstance(value, tuple):
        return [as_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def record(result: Result) -> dict[str, Any]:
    """What a result says, for JSON."""
    proved = result.proved
    return {
        "value": as_json(result.value),
        "lower": as_json(result.lower) if proved else None,
        "upper": as_json(result.upper) if proved else None,
        "method": result.method,
        "iterations": result.iterations,
    }


def sizes(model: Model) -> dict[str, int]:
    """How large a model is, for JSON."""
    return {"states": model.n_states, "choices": model.n_choices, "transitions": model.n_transitions}


def model_line(model: Model, seconds: float) -> str:
    """A model in a line."""
    choices = f", {model.n_choices:,} choices" if model.type == "mdp" else ""
    size = f"{model.n_states:,} states{choices}, {model.n_transitions:,} transitions"
    return f"{model.type}: {size}, built in {seconds:.3f} s"


def print_result(result: Result) -> None:
    """A result for a person."""
    from ..check.result import shown

    typer.echo(f"{result.formula}  =  {typer.style(shown(result.value), bold=True)}")
    parts = [f"{result.margin.strip()}, " if result.margin else ""]
    parts.append("without a guarantee, " if not result.proved else "")
    parts.append(f"at {result.about}")
    sweeps = f", {result.iterations:,} sweeps" if result.iterations else ""
    typer.echo(f"  {''.join(parts)}; {result.method}{sweeps}, {result.seconds:.3f} s")
    for line in result.listing:
        typer.echo(f"  {line}")
