"""Counterexamples on the command line: what may be asked for, and what is told where there is none."""

from __future__ import annotations

from pathlib import Path

from ..checking.inspection import Terms
from ..checking.result import Result
from ..checking.witnesses.counterexample import Counterexample, check_suffix
from ..checking.witnesses.finding import check_explained, find_counterexample
from ..lang.model_types import ModelType, nature_of
from ..lang.program import Program
from ..lang.resolution import Question
from ..lang.source import GaltonError
from ..model.sparse import Model
from ..solve.settings import Settings
from . import telling

__all__ = ["check_asked", "check_question", "explained"]


def check_asked(file: Path | None, *, several: bool) -> None:
    """Refuse what cannot be, before anything is read."""
    if several:
        raise GaltonError("a counterexample belongs to one property: give one with --prop or --name, and no range")
    if file is not None:
        check_suffix(file)


def check_question(program: Program, question: Question, type: ModelType, settings: Settings) -> None:
    """Refuse a property that no paths show, before the model is built."""
    check_explained(question, Terms(nature_of(type), program.constants, question.source), settings)


def explained(
    program: Program, model: Model, question: Question, settings: Settings, result: Result
) -> Counterexample | None:
    """What shows that a property is false; where nothing does, a note says why."""
    found = find_counterexample(program, model, question, settings, result=result)
    if found is None:
        value = "true" if result.value else "false"
        telling.note(f"{question.prop.text} is {value}: no paths show that")
    return found
