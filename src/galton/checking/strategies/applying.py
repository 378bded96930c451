"""A strategy from a file for a program, whose model is built only as far as a question needs it.

A question is settled in some states, and what follows them is not explored: there the model has no choices. What the
file decides there changes no answer, and is passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...lang.expressions import Expression
from ...lang.program import Program
from ...lang.source import GaltonError
from ...lower.lowering import ExpressionLowering
from ...model.sparse import Mask, Model
from ..multi.mixture_file import holds_mixture, read_mixture, split_number
from .strategy_file import read_memory, read_strategy

if TYPE_CHECKING:
    from ..multi.mixtures import MemoryStrategy
    from .strategy import Strategy

__all__ = ["strategy_for", "strategy_of"]


def strategy_for(
    program: Program, given: str | Path, end: Expression | None, build: Callable[..., Model]
) -> tuple[Strategy | MemoryStrategy, dict[str, Any]]:
    """Return the strategy of a file, ``FILE`` or ``FILE:2``, and the property and constants it was made for.

    ``build`` makes the model of the program, with options of :func:`galton.explore.build`; ``end`` is where it may end.
    """
    path, number = split_number(Path(given))
    if holds_mixture(path):
        model = build(program, terminal=end).to_host()
        mixture, made = read_mixture(path, model, _ended(program, model, end))
        return mixture.one(number), made
    _only(path, number)
    memory = read_memory(path, program)
    model = build(program, terminal=end, reader=memory).to_host()
    states_of = program if memory is None else memory.beside(program)
    return read_strategy(path, model, memory, _ended(states_of, model, end))


def strategy_of(model: Model, given: str | Path) -> Strategy | MemoryStrategy:
    """The strategy of a file for a model that is built."""
    path, number = split_number(Path(given))
    if holds_mixture(path):
        return read_mixture(path, model.to_host())[0].one(number)
    _only(path, number)
    return read_strategy(path, model)[0]


def _only(path: Path, number: int | None) -> None:
    """Refuse a number that a file with one strategy does not have."""
    if number not in (None, 1):
        raise GaltonError(f"there is no strategy {number}: {path} has one; leave the number away")


def _ended(program: Program, model: Model, end: Expression | None) -> Mask | None:
    """The states that were not looked behind; None where there are none."""
    if end is None:
        return None
    from ...explore.evaluate import evaluate_states

    lowering = ExpressionLowering(program)
    if lowering.graph[lowering.node(end)].partial:  # exploration ends nowhere then
        return None
    return evaluate_states(program, model, [end], program.source)[0]
