"""An answer that all ranks find together, or none does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...backend.petsc.model import RankModel
from ...lang.properties import Multi, Quantile
from ...lang.resolution import Question
from ...lang.source import UnsupportedError
from ...lang.wording import worded
from ...model.sparse import Model
from ...solve.settings import Settings
from ..inspection import UsageError
from ..result import Result

__all__ = ["guarded", "refuse_on_ranks"]


def refuse_on_ranks(question: Question, settings: Settings, *, strategy: bool, certificate: bool) -> None:
    """Refuse what is not done across ranks, whatever the model."""
    chosen = {
        "--method": settings.by_hand or settings.max_iterations,
        "--format": settings.format,
        "--order": settings.order,
        "--single": settings.single,
        "--fair": settings.fair,
        "--exact": settings.exact,
        "--strategy": strategy or settings.strategy,
        "--certificate": certificate,
    }
    for option, value in chosen.items():
        if value:
            raise UsageError(worded(f"{option} does not go with --device mpi; leave it away, or ask on one machine"))
    expression = question.prop.expression
    if isinstance(expression, (Multi, Quantile)):
        what = "several objectives" if isinstance(expression, Multi) else "quantiles"
        raise UnsupportedError(
            f"{what} are not answered across ranks", question.source, expression.span, "ask on one machine"
        )


def guarded(model: Model, check: Callable[[], Result]) -> Result:
    """What a check finds; a rank that fails alone ends the job."""
    assert isinstance(model, RankModel)
    with model.world.guarding():
        return replace(check(), placement=model.placement)
