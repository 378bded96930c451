"""What a transition file gives: the matrix of a model, checked against the lines it came from; and then the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..lang.model_types import ModelType, nature_of
from ..model.construct import Assembled, Integers, assemble
from ..model.sparse import ActionCodes, Mask, Model, ModelError, Rewards
from ..model.states import PackedStates
from ..model.validation import SUM_TOLERANCE, finish, first
from ..model.values import Floats, Values
from .errors import FileError


class Lines(Protocol):
    """A file that knows where its entries stand."""

    def header_error(self, message: str, expected: str | None = None) -> FileError:
        """An error in the header."""

    def line_error(self, entry: int, message: str, expected: str | None = None) -> FileError:
        """An error in the line of an entry, counted from 0."""


@dataclass(frozen=True)
class Matrix:
    """A matrix with its type and actions, before labels, rewards and states are known."""

    type: ModelType
    n_states: int
    parts: Assembled
    actions: tuple[str, ...] = ("",)
    choice_actions: ActionCodes | None = None


def check_range(file: Lines, numbers: npt.NDArray[np.int32], count: int, what: str, *, base: int = 0) -> None:
    """Complain about the first line whose number is not one of the ``count`` numbers from ``base`` on."""
    last = base + count - 1
    if len(numbers) and (numbers.min() < base or numbers.max() > last):
        entry = first((numbers < base) | (numbers > last))
        raise file.line_error(entry, f"there is no {what} {numbers[entry]}", f"{what}s are numbered {base} to {last}")


def check_count(file: Lines, promised: int, found: int, what: str) -> None:
    """Complain about a header that promises another number of lines than there are."""
    if promised != found:
        raise file.header_error(f"the header says {promised} {what}, the file has {found}")


def chain_type(rows: Integers, values: Floats, n_states: int) -> ModelType:
    """Tell the type of a chain as PRISM does: a DTMC if the values of every row sum to 1, a CTMC otherwise."""
    sums = np.bincount(rows, weights=values, minlength=n_states)
    return "dtmc" if (np.abs(sums[np.unique(rows)] - 1) <= SUM_TOLERANCE).all() else "ctmc"


def checked_matrix(
    file: Lines,
    type: ModelType,
    n_states: int,
    rows: Integers,
    columns: Integers,
    values: Floats,
    choice_starts: Integers | None = None,
) -> Assembled:
    """Assemble a matrix; what is wrong with a value or a sum is said with its line."""
    nature = nature_of(type)
    if (values < 0).any():
        raise file.line_error(first(values < 0), f"a {nature.entry} cannot be negative")
    if not nature.has_rates and len(rows):
        sums = np.bincount(rows, weights=values)
        off = np.abs(sums[rows] - 1) > SUM_TOLERANCE
        if off.any():
            entry = first(off)
            total = float(sums[rows[entry]])
            raise file.line_error(entry, f"the probabilities that begin here sum to {total!r}", "a sum of 1")
    return assemble(type, n_states, rows, columns, values, choice_starts=choice_starts)


def complete(
    matrix: Matrix,
    labels: dict[str, Mask],
    rewards: dict[str, Rewards],
    states: PackedStates | None,
    *,
    fix_deadlocks: bool = True,
    warnings: tuple[str, ...] = (),
) -> Model:
    """The model of a matrix and what else files tell, checked. Without a label ``init``, state 0 is the initial one."""
    deadlocks = matrix.parts.deadlocks
    if not fix_deadlocks and deadlocks.any():
        raise ModelError(f"state {first(deadlocks)} has no transition, and is not to get a self-loop")
    labels = {**labels, "deadlock": deadlocks | labels.get("deadlock", False)}
    initial = np.flatnonzero(labels["init"]) if "init" in labels else np.zeros(1)
    model = Model(
        type=matrix.type,
        choice_starts=matrix.parts.choice_starts,
        row_starts=matrix.parts.row_starts,
        columns=matrix.parts.columns,
        values=Values.compress(matrix.parts.values),
        initial=initial.astype(np.int32),
        labels=labels,
        rewards=rewards,
        actions=matrix.actions,
        choice_actions=matrix.choice_actions,
        states=states,
        warnings=warnings,
    )
    return finish(model)
