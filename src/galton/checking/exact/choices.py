"""What has no exact answer, and what cannot be chosen beside one: methods, precision, devices, strategies."""

from __future__ import annotations

from dataclasses import fields

from ...lang.model_types import ModelType
from ...lang.program import Program
from ...lang.properties import Given, Multi, Quantile
from ...lang.resolution import Question, parts
from ...lang.source import UnsupportedError
from ...solve.settings import Settings
from ..inspection import BUDGETS, TIME, UsageError, kinds_of

__all__ = ["device_for_exact", "refuse_beside_exact", "refuse_without_answer"]

_FREE = ("threads", "exact", "watch", "stream")  # settings that do not matter, or that nobody chose
_BOUNDS = "without --exact, this has proved bounds"


def refuse_beside_exact(
    settings: Settings,
    *,
    strategy: bool = False,
    certificate: bool = False,
    apply: bool = False,
    counterexample: bool = False,
) -> None:
    """Raise an error for a setting that exact arithmetic would ignore."""
    for field in fields(settings):
        if field.name not in _FREE and getattr(settings, field.name) != field.default:
            name = field.name.replace("_", "-")
            raise _refused("--absolute" if name == "relative" else f"--{name}")
    if strategy:
        raise _refused("--strategy")
    if certificate:
        raise _refused("--certificate")
    if apply:
        raise _refused("--apply")
    if counterexample:
        raise _refused("--counterexample")


def refuse_without_answer(question: Question, program: Program, type: ModelType) -> None:
    """Raise an error for a property that has no exact answer, whatever the numbers of the model."""
    expression = question.prop.expression
    if isinstance(expression, Multi):
        hint = "without --exact, bounds that are met just so are decided where doubles allow it"
        raise UnsupportedError("several objectives have no exact answer", question.source, expression.span, hint)
    for part in parts(expression):
        if isinstance(part, (Given, Quantile)):
            what = "conditions" if isinstance(part, Given) else "quantiles"
            raise UnsupportedError(f"{what} have no exact answer", question.source, part.span, _BOUNDS)
    kinds = kinds_of(question, program, type)
    if BUDGETS in kinds:
        raise UnsupportedError("budgets have no exact answer", question.source, expression.span, _BOUNDS)
    if TIME in kinds:
        message = "what a CTMC does within a time is no rational number, so there is no exact answer"
        hint = f"questions without a bound on time have one; {_BOUNDS}"
        raise UnsupportedError(message, question.source, expression.span, hint)


def device_for_exact(device: str, eps: float | None = None) -> str:
    """Where to explore a model for exact answers: on the CPU; an error if another device was asked for, or an eps."""
    if eps is not None:
        raise _refused("--eps")
    if device not in ("auto", "cpu"):
        raise _refused(f"--device {device}")
    return "cpu"


def _refused(option: str) -> UsageError:
    why = {
        "--eps": "an exact answer has no width",
        "--absolute": "an exact answer has no width",
        "--strategy": "strategies come from answers with bounds",
        "--apply": "exact numbers are those of a text, and the chain of a strategy has none",
        "--certificate": "certificates are for answers with bounds",
        "--counterexample": "paths prove answers with bounds",
        "--fair": "fair strategies are those of answers with bounds",
    }.get(option, "exact numbers are found in one way, on the CPU")
    return UsageError(f"{option} does nothing beside --exact: {why}; leave one of them away")
