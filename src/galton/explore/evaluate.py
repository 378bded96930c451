"""Truth of expressions in the states of a model that is already built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..backend.cpu.explorer import to_core
from ..backend.failures import explain
from ..backend.limits import Limits
from ..device.arrays import is_on_host
from ..lang.expressions import Expression
from ..lang.program import Program
from ..lang.source import Source
from ..lower.lowering import ExpressionLowering, Lowered
from ..lower.support import support
from ..model.sparse import Model
from ..model.states import Field, PackedStates
from .discovery import StateSpace


def evaluate_states(
    program: Program, model: Model | StateSpace, expressions: Sequence[Expression], source: Source, threads: int = 1
) -> list[npt.NDArray[np.bool_]]:
    """For each expression, written in ``source``, the states of the model, built from the program, where it holds."""
    if not isinstance(model.states, PackedStates):
        raise TypeError("the model does not know its variables")
    fields, words = model.states.fields, model.states.words
    lowering = ExpressionLowering(program, [f.name for f in fields if f.bits == 0 and not f.left_out])
    labels = {f"{i}": lowering.node(expression) for i, expression in enumerate(expressions)}
    if model.states.left_out:
        read = {fields[number].name for number in support(lowering.graph, labels.values())}
        assert not read & set(model.states.left_out), "the model knows nothing of what is asked"
    if not is_on_host(words):
        return [_on_device(lowering, node, fields, words) for node in labels.values()]
    bare = replace(program, rewards=(), source=source)
    questions = Lowered(bare, lowering.graph, fields, words.shape[1], labels=labels, spans=lowering.spans)
    found = _core.evaluate_labels(to_core(questions), words, threads)
    if "fault" in found:
        raise explain(found, questions, Limits())
    return [mask.view(bool) for mask in found["labels"]]


def _on_device(lowering: ExpressionLowering, node: int, fields: Sequence[Field], words: Any) -> Any:
    from ..device.errors import DeviceError
    from ..lower import vectorised

    if not vectorised.possible(lowering.graph, node):
        raise DeviceError(
            "the property has an expression that a device may round differently, or that may have no value"
        )
    return vectorised.evaluate(lowering.graph, node, fields, words)
