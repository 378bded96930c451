"""From matrix entries in any order to a :class:`~galton.model.sparse.Model`.

Everything that is not an explorer goes through :func:`assemble`: matrices from users, explicit files, Python
functions. It drops zeros, sums what is given twice, sorts, and gives deadlocks their loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..lang.model_types import ModelType, nature_of
from .sparse import ActionCodes, Int32s, Mask, Model, ModelError, Offsets, Rewards, row_sums
from .validation import finish, first, refuse_unknown_type
from .values import Floats, Values

Integers = npt.NDArray[np.signedinteger[Any]]


class SparseMatrix(Protocol):
    """Any SciPy sparse matrix or array."""

    @property
    def shape(self) -> Any:
        """Rows and columns."""

    def tocoo(self) -> Any:
        """Return the matrix in coordinate form."""


Entries: TypeAlias = tuple[npt.ArrayLike, tuple[npt.ArrayLike, npt.ArrayLike]]
MatrixLike: TypeAlias = SparseMatrix | Entries | npt.ArrayLike
Labels: TypeAlias = Mapping[str, npt.ArrayLike]
RewardLike: TypeAlias = Rewards | MatrixLike


class Assembled(NamedTuple):
    """The arrays of a model's matrix. ``places`` are the numbers its choices now have, where loops moved them."""

    choice_starts: Int32s | None
    row_starts: Offsets
    columns: Int32s
    values: Floats
    deadlocks: Mask
    places: Integers | None


def from_matrix(
    type: ModelType,
    matrix: MatrixLike,
    *,
    initial: int | Sequence[int] = 0,
    labels: Labels | None = None,
    rewards: Mapping[str, RewardLike] | None = None,
    row_groups: npt.ArrayLike | None = None,
    actions: Sequence[str] | None = None,
    fix_deadlocks: bool = True,
) -> Model:
    """A model from a matrix of probabilities or rates.

    Parameters
    ----------
    type
        ``"dtmc"``, ``"ctmc"`` or ``"mdp"``.
    matrix
        SciPy sparse, NumPy dense, or entries as SciPy's ``coo_array`` takes them: ``(values, (rows, columns))``.
        One row per choice, one column per state. Zeros are dropped, entries given twice are summed.
    initial
        The initial state, or several.
    labels
        Name to a mask over the states, or to the numbers of the states that have it.
    rewards
        Name to an array (rewards of states), a matrix of the shape of ``matrix`` (rewards of transitions), or
        :class:`Rewards` with state and choice rewards.
    row_groups
        For an MDP, ``(states + 1,)``: the rows of state s are ``row_groups[s]`` up to ``row_groups[s + 1]``.
    actions
        The name of the action of each row; ``""`` for none.
    fix_deadlocks
        Give states without transitions a loop and the label ``"deadlock"``; otherwise they are an error.

    >>> Model.from_matrix("mdp", [[0, 1], [0.5, 0.5], [0, 1]], row_groups=[0, 2, 3], actions=["go", "try", ""])
    <mdp: 2 states, 3 choices, 4 transitions>
    """
    refuse_unknown_type(type)
    values, rows, columns, shape = _entries(matrix)
    choice_starts = _row_groups(type, row_groups)
    if choice_starts is not None:
        n_states, n_choices = len(choice_starts) - 1, int(choice_starts[-1])
    else:
        n_states = n_choices = shape[0] if shape else int(max(rows.max(), columns.max())) + 1
    if shape and shape != (n_choices, n_states):
        raise ModelError(
            f"{n_states} states with {n_choices} rows need a matrix of shape {(n_choices, n_states)}, not {shape}"
        )
    parts = assemble(type, n_states, rows, columns, values, choice_starts=choice_starts, fix_deadlocks=fix_deadlocks)
    names, codes = number_actions(actions, n_choices, parts)
    model = Model(
        type=type,
        choice_starts=parts.choice_starts,
        row_starts=parts.row_starts,
        columns=parts.columns,
        values=Values.compress(parts.values),
        initial=_state_numbers(initial, n_states, "initial state"),
        labels={name: _mask(name, states, n_states) for name, states in (labels or {}).items()}
        | {"deadlock": parts.deadlocks},
        rewards={name: _rewards(name, given, parts, n_states, n_choices) for name, given in (rewards or {}).items()},
        actions=names,
        choice_actions=codes,
    )
    return finish(model)


def assemble(
    type: ModelType,
    n_states: int,
    rows: Integers,
    columns: Integers,
    values: Floats,
    *,
    choice_starts: Integers | None = None,
    fix_deadlocks: bool = True,
) -> Assembled:
    """Sort entries into rows, sum those given twice, drop zeros, and close deadlocks with a loop."""
    n_choices = n_states if choice_starts is None else int(choice_starts[-1])
    for numbers, limit, name in ((rows, n_choices, "row"), (columns, n_states, "column")):
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= limit):
            entry = first((numbers < 0) | (numbers >= limit))
            raise ModelError(f"entry {entry}: {name} {numbers[entry]} is not one of 0 to {limit - 1}")
    if not values.all():
        kept = values != 0
        rows, columns, values = rows[kept], columns[kept], values[kept]
    sizes = np.bincount(rows, minlength=n_states) if choice_starts is None else np.diff(choice_starts)
    deadlocks = sizes == 0
    places: Integers | None = None
    if deadlocks.any():
        if not fix_deadlocks:
            raise ModelError(f"state {first(deadlocks)} has no transition")
        loops = np.flatnonzero(deadlocks)
        loop_rows = loops
        if choice_starts is not None:
            added = np.concatenate(([0], np.cumsum(deadlocks)))  # choices added before each state
            places = np.arange(n_choices) + np.repeat(added[:-1], np.diff(choice_starts))
            choice_starts = choice_starts + added
            rows, loop_rows, n_choices = places[rows], choice_starts[loops], int(choice_starts[-1])
        rows = np.concatenate((rows, loop_rows))
        columns, values = np.concatenate((columns, loops)), np.concatenate((values, np.ones(len(loops))))
        n_choices = n_states if choice_starts is None else n_choices
    rows, columns, values = _sorted(rows, columns, values, n_states)
    row_starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_choices))))
    return Assembled(
        choice_starts=None if choice_starts is None else choice_starts.astype(np.int32),
        row_starts=row_starts.astype(np.int32) if len(rows) < 1 << 31 else row_starts,
        columns=np.array(columns, dtype=np.int32),  # copied: those of a user's matrix may change later
        values=np.array(values),
        deadlocks=deadlocks,
        places=places,
    )


def find_entries(parts: Assembled, n_states: int, rows: Integers, columns: Integers) -> npt.NDArray[np.int64]:
    """Where entries stand in the assembled arrays; -1 for those that are not there. ``rows`` are the new numbers."""
    entry_rows = np.repeat(np.arange(len(parts.row_starts) - 1), np.diff(parts.row_starts))
    keys = entry_rows * n_states + parts.columns
    wanted = rows.astype(np.int64) * n_states + columns
    found = np.searchsorted(keys, wanted)
    found[found == len(keys)] = 0
    return np.where(keys[found] == wanted, found, -1) if len(keys) else np.full(len(wanted), -1)


def transition_rewards(parts: Assembled, transition: Floats, state: Floats | None = None) -> Rewards:
    """Rewards from one number per matrix entry. Where an MDP has one number per choice, that is all that is kept."""
    if not transition.any():
        return Rewards(state=state)
    if parts.choice_starts is not None:
        per_choice = transition[parts.row_starts[:-1]]
        if np.array_equal(np.repeat(per_choice, np.diff(parts.row_starts)), transition):
            return Rewards(state=state, choice=per_choice)
    means = row_sums(parts.row_starts, Values(plain=parts.values), transition)
    return Rewards(state=state, choice=means, transition=transition)


def number_actions(
    actions: Sequence[str] | None, n_choices: int, parts: Assembled
) -> tuple[tuple[str, ...], ActionCodes | None]:
    """Number the names of actions in order of first use; choices that loops added have none."""
    if actions is None:
        return ("",), None
    if len(actions) != n_choices:
        raise ModelError(f"{len(actions)} actions for {n_choices} rows")
    numbers: dict[str, int] = {"": 0}
    codes = np.array([numbers.setdefault(name, len(numbers)) for name in actions], dtype=np.uint32)
    if parts.places is not None:
        given = codes
        codes = np.zeros(len(parts.row_starts) - 1, dtype=np.uint32)
        codes[parts.places] = given
    return tuple(numbers), codes.astype(np.uint16) if len(numbers) <= 1 << 16 else codes


def _sorted(rows: Integers, columns: Integers, values: Floats, n_states: int) -> tuple[Integers, Integers, Floats]:
    keys = rows.astype(np.int64) * n_states + columns
    steps = np.diff(keys)
    if (steps > 0).all():
        return rows, columns, values
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    kept = order[starts]
    return rows[kept], columns[kept], np.add.reduceat(values[order], starts)


def _entries(matrix: MatrixLike) -> tuple[Floats, Integers, Integers, tuple[int, int] | None]:
    if _is_entries(matrix):
        values, (rows, columns) = cast(Entries, matrix)
        data = np.asarray(values, dtype=np.float64)
        i, j = np.asarray(rows), np.asarray(columns)
        if not data.shape == i.shape == j.shape or data.ndim != 1:
            raise ModelError(f"values, rows and columns must be as many: {data.shape}, {i.shape}, {j.shape}")
        if len(data) == 0 or i.dtype.kind not in "iu" or j.dtype.kind not in "iu":
            raise ModelError("rows and columns must be integers, and there must be at least one entry")
        return data, i.astype(np.int64), j.astype(np.int64), None
    if hasattr(matrix, "tocoo"):
        coo = cast(SparseMatrix, matrix).tocoo()
        if len(coo.shape) != 2:
            raise ModelError(f"a matrix has two dimensions, not shape {coo.shape}")
        rows, columns = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
        return np.asarray(coo.data, dtype=np.float64), rows, columns, coo.shape
    dense = np.asarray(matrix, dtype=np.float64)
    if dense.ndim != 2:
        raise ModelError(f"a matrix has two dimensions, not shape {dense.shape}")
    i, j = np.nonzero(dense)
    return dense[i, j], i, j, dense.shape


def _is_entries(matrix: MatrixLike) -> bool:
    return isinstance(matrix, tuple) and len(matrix) == 2 and isinstance(matrix[1], tuple)


def _row_groups(type: ModelType, row_groups: npt.ArrayLike | None) -> Integers | None:
    if not nature_of(type).has_choices:
        if row_groups is not None:
            raise ModelError(f"row_groups are for an mdp; each row of a {type} is a state")
        return None
    if row_groups is None:
        raise ModelError(
            "an mdp needs row_groups: where the rows of each state begin, and at the end how many there are"
        )
    given = np.asarray(row_groups)
    if given.dtype.kind not in "iu" and given.size and not (given.dtype.kind == "f" and np.isfinite(given).all()):
        raise ModelError(f"row_groups are whole numbers, and these are {given.dtype}")
    starts = given.astype(np.int64)
    if starts.ndim == 1 and starts.size and starts.max() >= 2**31:
        raise ModelError(f"row_groups end at {int(starts.max()):,}; a model has fewer than {2**31:,} rows")
    if starts.ndim != 1 or len(starts) < 2 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise ModelError("row_groups must begin with 0 and never fall")
    return starts


def _state_numbers(given: npt.ArrayLike, n_states: int, what: str) -> Int32s:
    numbers = np.unique(np.atleast_1d(np.asarray(given)))
    if numbers.size and numbers.dtype.kind not in "iu":
        raise ModelError(f"{what}: state numbers are integers, not {numbers.dtype}")
    if numbers.size and (numbers[0] < 0 or numbers[-1] >= n_states):
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ModelError(f"{what}: no state {wrong}, there are {n_states}")
    return numbers.astype(np.int32)


def _mask(name: str, given: npt.ArrayLike, n_states: int) -> Mask:
    if name in ("init", "deadlock"):
        raise ModelError(f"the label {name!r} is made by Galton; give the initial states with initial=")
    array = np.asarray(given)
    if array.dtype == np.bool_:
        if array.shape != (n_states,):
            raise ModelError(f"label {name!r}: a mask has one entry per state, {n_states}, not shape {array.shape}")
        return array.copy()
    mask = np.zeros(n_states, dtype=np.bool_)
    mask[_state_numbers(array, n_states, f"label {name!r}")] = True
    return mask


def _rewards(name: str, given: RewardLike, parts: Assembled, n_states: int, n_choices: int) -> Rewards:
    title = f"rewards {name!r}"
    if isinstance(given, Rewards):
        if given.transition is not None:
            raise ModelError(f"{title}: give rewards of transitions as a matrix, so that it is clear which is whose")
        choice = None
        if given.choice is not None:
            array = np.asarray(given.choice, dtype=np.float64)
            if array.shape != (n_choices,):
                raise ModelError(f"{title}: {n_choices} choice rewards needed, not shape {array.shape}")
            choice = np.zeros(len(parts.row_starts) - 1)
            choice[slice(None) if parts.places is None else parts.places] = array
        return Rewards(state=None if given.state is None else np.array(given.state, dtype=np.float64), choice=choice)
    if not hasattr(given, "tocoo") and not _is_entries(given) and np.ndim(cast(npt.ArrayLike, given)) == 1:
        return Rewards(state=np.array(given, dtype=np.float64))
    values, rows, columns, _ = _entries(given)
    entries = find_entries(parts, n_states, rows if parts.places is None else parts.places[rows], columns)
    if (entries < 0).any():
        wrong = first(entries < 0)
        raise ModelError(f"{title}: row {rows[wrong]} has no transition to {columns[wrong]}")
    transition = np.zeros(len(parts.columns))
    np.add.at(transition, entries, values)
    return transition_rewards(parts, transition)
