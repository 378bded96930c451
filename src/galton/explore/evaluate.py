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
from .lower import lower


def evaluate_states(program: Program, model: Model, expressions: Sequence[Expression]) -> list[npt.NDArray[np.bool_]]:
    """For each expression the states of the model, built from the program, in which it holds."""
    if not isinstance(model.states, PackedStates):
        raise TypeError("the model does not know its variables")
    labels = {f"{i}": expression for i, expression in enumerate(expressions)}
    bare = replace(program, modules=(), rewards=(), initial=None)  # only the labels are wanted
    lowered = lower(bare, labels)
    return [mask.view(bool) for mask in _core.evaluate_labels(to_core(lowered), model.states.words)]
