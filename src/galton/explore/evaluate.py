"""Truth of expressions in the states of a model that is already built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ..lang.expressions import Expression
from ..model.program import Program
from ..model.sparse import Model
from ..model.states import PackedStates
from .cpu import to_core
from .lower import ExpressionLowering, Lowered


def evaluate_states(program: Program, model: Model, expressions: Sequence[Expression]) -> list[npt.NDArray[np.bool_]]:
    """For each expression the states of the model, built from the program, in which it holds."""
    if not isinstance(model.states, PackedStates):
        raise TypeError("the model does not know its variables")
    fields, words = model.states.fields, model.states.words
    lowering = ExpressionLowering(program, [field.name for field in fields if field.bits == 0])
    labels = {f"{i}": lowering.node(expression) for i, expression in enumerate(expressions)}
    questions = Lowered(replace(program, rewards=()), lowering.graph, fields, words.shape[1], labels=labels)
    return [mask.view(bool) for mask in _core.evaluate_labels(to_core(questions), words)]
