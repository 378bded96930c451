"""What each choice of a model spends of a budget, as whole numbers of some unit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...device.arrays import on_host
from ...lang.source import LanguageError, Span, UnsupportedError
from ...lang.stream import suggestion
from ...model.sparse import Int32s, Model, Offsets, Rewards
from ...model.values import Floats
from ..inspection import grows_with_time
from ..unbounded.rewards import rewards_by_row

if TYPE_CHECKING:
    from ..evaluation import Evaluation

__all__ = ["Costs", "as_fraction", "costs_of", "of_single_choices", "step_costs"]

Int64s = npt.NDArray[np.int64]
_SMALL_DENOMINATOR = 10**4
_LARGEST = 2**53
MOST_AMOUNTS = 2**16


@dataclass(frozen=True, eq=False)
class Costs:
    """``(choices,)`` whole numbers of a unit."""

    numbers: Int64s
    unit: Fraction


def as_fraction(number: float) -> Fraction:
    """Return the number that a double was rounded from, as far as one can tell.

    That is what a constant says it is; otherwise a fraction with a small denominator that rounds to the double, or the
    shortest decimal that does.
    """
    exact = getattr(number, "fraction", None)
    if isinstance(exact, Fraction):
        return exact
    if isinstance(number, int) or number == math.floor(number):
        return Fraction(int(number))
    simple = Fraction(number).limit_denominator(_SMALL_DENOMINATOR)
    return simple if float(simple) == number else Fraction(repr(float(number)))


def step_costs(model: Model) -> Costs:
    """Return 1 for every choice."""
    return Costs(np.ones(model.n_choices, dtype=np.int64), Fraction(1))


def costs_of(evaluation: Evaluation, name: str, span: Span) -> Costs:
    """Return what choices spend by a reward structure; an empty name is the first one.

    Raises an error where that is no number that can be counted.
    """
    model, source, names = evaluation.model, evaluation.source, evaluation.program.reward_names
    if not names:
        raise LanguageError("the model has no rewards", source, span)
    if name not in names:
        if name:
            hint = suggestion(name, names, "reward structures", '"')
            raise LanguageError(f'unknown reward structure "{name}"', source, span, hint)
        name = names[0]
    which = f'the reward structure "{name}"' if name else "the reward structure"
    structure = model.rewards[name]
    program = evaluation.program
    if any(known.mean for known, called in zip(program.rewards, program.reward_names, strict=True) if called == name):
        message = f"{which} differs between the destinations of an edge, and such budgets are not supported"
        raise UnsupportedError(message, source, span, "an intermediate location for each destination tells them apart")
    if model.is_continuous:
        raise grows_with_time(name, source, span)
    by_row = rewards_by_row(model, of_single_choices(evaluation, name, structure, which, span))
    amounts, index = np.unique(by_row, return_inverse=True)
    if len(amounts) and amounts[0] < 0:
        message = f"{which} has negative rewards, such as {amounts[0]:g}, and a budget is only spent"
        raise LanguageError(message, source, span)
    if len(amounts) > MOST_AMOUNTS:
        message = f"{which} has {len(amounts):,} different rewards; budgets take {MOST_AMOUNTS:,} at most"
        raise UnsupportedError(message, source, span)
    fractions = [as_fraction(float(amount)) for amount in amounts]
    unit = _common_divisor(fractions)
    whole = [int(fraction / unit) for fraction in fractions]
    if max(whole, default=0) > _LARGEST:
        least = min(float(amount) for amount in amounts if amount > 0)
        message = f"the rewards of {which} have no common divisor that could be counted in: {least!r} is one of them"
        raise UnsupportedError(message, source, span, "write them as whole numbers, or as short decimals")
    return Costs(np.array(whole, dtype=np.int64)[index], unit)


def _common_divisor(numbers: list[Fraction]) -> Fraction:
    unit = Fraction(0)
    for number in numbers:
        denominator = math.lcm(unit.denominator, number.denominator)
        unit = Fraction(math.gcd(int(unit * denominator), int(number * denominator)), denominator)
    return unit or Fraction(1)


def _extremes(numbers: Floats, starts: Offsets | Int32s) -> tuple[Floats, Floats]:
    """The least and the greatest of each group of numbers, none of which is empty; they may be on a device."""
    numbers, starts = on_host(numbers), on_host(starts)
    return np.minimum.reduceat(numbers, starts[:-1]), np.maximum.reduceat(numbers, starts[:-1])


def of_single_choices(evaluation: Evaluation, name: str, structure: Rewards, which: str, span: Span) -> Rewards:
    """Rewards of the choices themselves. A chain only knows the mean of what its commands earn in a state.

    Where all of them earn the same that is the mean; otherwise it says nothing about what is spent.
    """
    model = evaluation.model
    structure = Rewards(*(None if part is None else on_host(part) for part in (structure.state, structure.choice)))
    if model.has_choices or structure.choice is None or not structure.choice.any():
        return structure
    known = model.rewards[name].transition
    if known is not None:
        least, most = _extremes(known, model.row_starts)
    elif evaluation.program.modules:
        from ...explore import build

        commands = build(replace(evaluation.program, type="mdp"), threads=evaluation.settings.n_threads)
        choice = commands.rewards[name].choice
        if commands.n_states != model.n_states or choice is None:
            raise UnsupportedError(
                f"what single transitions spend of {which} is not known here", evaluation.source, span
            )
        least, most = _extremes(choice, commands.row_groups)
    else:
        return structure
    if (least != most).any():
        state = evaluation.state_name(int(np.flatnonzero(least != most)[0]))
        message = f"commands with different rewards of {which} are mixed in {state}, and such budgets are not supported"
        raise UnsupportedError(
            message, evaluation.source, span, "an intermediate state for each command tells them apart"
        )
    return replace(structure, choice=least)
