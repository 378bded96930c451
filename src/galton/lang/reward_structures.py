"""Which reward structure an operator means: by name, by number from 1, or the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .expressions import Expression
from .properties import Reward
from .source import LanguageError, Source
from .stream import suggestion

__all__ = ["structure_name"]


def structure_name(
    formula: Reward, names: Sequence[str], constant: Callable[[Expression], float], source: Source
) -> str:
    """The name of the structure that ``R{"name"}``, ``R{2}`` or ``R`` means, among those of a model, in their order.

    ``constant`` computes the number, which may be an expression over constants.
    """
    if not names:
        raise LanguageError("the model has no rewards", source, formula.span)
    match formula.structure:
        case None:
            return names[0]
        case str() as name:
            if name not in names:
                hint = suggestion(name, names, "reward structures", '"') or "the only one has no name: write R"
                raise LanguageError(f'unknown reward structure "{name}"', source, formula.span, hint)
            return name
        case index:
            number = constant(index)
            if not 1 <= number <= len(names):
                have = "1 reward structure" if len(names) == 1 else f"{len(names)} reward structures"
                raise LanguageError(f"the model has {have}, and this is number {number:g}", source, index.span)
            return names[int(number) - 1]
