"""Transition files (``.tra``): a line per transition.

A chain has ``source target value [action]`` under a header of two numbers (states, transitions); an MDP has
``source choice target probability [action]`` under three (states, choices, transitions). A comment in the first line
names the type, in files from PRISM 4.8 on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..lang.model_types import MODEL_TYPES, ModelType, nature_of
from ..model.construct import Integers
from ..model.sparse import ActionCodes, Model
from ..model.validation import first
from .characters import BLOCK, Characters, constant, integers, join, strings, value_characters
from .errors import FileError
from .matrix import Matrix, chain_type, check_count, check_range, checked_matrix
from .table import FEW_STATES, Table, TextFile, read_table

CHAIN_LINE = "source target value [action]"
MDP_LINE = "source choice target probability [action]"
_TYPES: dict[str, ModelType] = {nature.type.upper(): nature.type for nature in MODEL_TYPES.values()}
_TYPE = re.compile(r"#.*\(([A-Z]+)\)")


def read_tra(path: Path, type: ModelType | None = None) -> Matrix:
    """Read a transition file; ``type`` overrides what it says about itself."""
    expected = "the numbers of states and transitions (a chain), or of states, choices and transitions (an MDP)"
    file = TextFile.open(path, expected=expected)
    said = type or _said_type(file)
    sizes = file.header_numbers((2, 3), expected)
    if said is not None and nature_of(said).has_choices != (len(sizes) == 3):
        count = {2: "two", 3: "three"}[len(sizes)]
        raise file.header_error(f"{count} numbers are not the header of a file of type {said}", expected)
    file.check_states(sizes[0])
    if len(sizes) == 3:
        return _read_mdp(file, *sizes)
    return _read_chain(file, said, *sizes)


def _said_type(file: TextFile) -> ModelType | None:
    for number, comment in file.comments:
        if found := _TYPE.match(comment):
            if found[1] not in _TYPES:
                message = f"Galton does not read models of type {found[1]}"
                raise FileError(message, file.path, number, comment, "DTMC, CTMC or MDP")
            return _TYPES[found[1]]
    return None


def _read_chain(file: TextFile, type: ModelType | None, n_states: int, n_transitions: int) -> Matrix:
    table = read_table(file, 2, names=True, expected=CHAIN_LINE)
    rows, columns = table.integers
    check_range(file, rows, n_states, "state")
    check_range(file, columns, n_states, "state")
    check_count(file, n_transitions, len(table), "transitions")
    type = type or chain_type(rows, table.values, n_states)
    parts = checked_matrix(file, type, n_states, rows, columns, table.values)
    # A chain has one choice per state, so actions are kept where all transitions of a state have the same one.
    codes = _row_codes(rows, n_states, table)
    mixed = codes[rows] != table.name_codes
    if len(table.names) == 1 or mixed.any():
        return Matrix(type, n_states, parts)
    return Matrix(type, n_states, parts, tuple(table.names), codes)


def _read_mdp(file: TextFile, n_states: int, n_choices: int, n_transitions: int) -> Matrix:
    table = read_table(file, 3, names=True, expected=MDP_LINE)
    sources, choices, columns = table.integers
    check_range(file, sources, n_states, "state")
    check_range(file, columns, n_states, "state")
    check_range(file, choices, n_choices, "choice")
    check_count(file, n_transitions, len(table), "transitions")
    sizes = np.zeros(n_states, dtype=np.int64)
    np.maximum.at(sizes, sources, choices + 1)
    choice_starts = np.concatenate(([0], np.cumsum(sizes)))
    if choice_starts[-1] > len(table) + FEW_STATES:  # each choice has a line
        entry = int(np.argmax(choices))
        message = f"the file is too short for so many choices before choice {choices[entry]}"
        raise file.line_error(entry, message, "choices numbered 0, 1, 2 …")
    rows = choice_starts[sources] + choices
    present = np.bincount(rows, minlength=int(choice_starts[-1])) > 0
    if not present.all():
        row = first(~present)
        state = int(np.searchsorted(choice_starts, row, side="right")) - 1
        entry = first(sources == state)
        number = row - choice_starts[state]
        raise file.line_error(entry, f"state {state} has no choice {number}", "choices numbered 0, 1, 2 …")
    check_count(file, n_choices, len(present), "choices")
    parts = checked_matrix(file, "mdp", n_states, rows, columns, table.values, choice_starts)
    codes = _row_codes(rows, n_choices, table)
    mixed = codes[rows] != table.name_codes
    if mixed.any():
        entry = first(mixed)
        name = table.names[codes[rows[entry]]]
        expected = f"{name!r}, as in the lines before" if name else "no action, as in the lines before"
        raise file.line_error(entry, "two actions for one choice", expected)
    if parts.places is not None:
        moved = np.zeros(len(parts.row_starts) - 1, dtype=codes.dtype)
        moved[parts.places] = codes
        codes = moved
    return Matrix("mdp", n_states, parts, tuple(table.names), codes)


def _row_codes(rows: Integers, n_rows: int, table: Table) -> ActionCodes:
    codes = np.zeros(n_rows, dtype=np.uint32)
    codes[rows[::-1]] = table.name_codes[::-1]  # the first line of a row is the last to write
    return codes.astype(np.uint16) if len(table.names) <= 1 << 16 else codes


def tra_text(model: Model, *, exact: bool = False) -> Iterator[bytes]:
    """A transition file, in blocks."""
    choices = f"{model.n_choices} " if model.has_choices else ""
    yield f"# Transitions ({model.type.upper()})\n{model.n_states} {choices}{model.n_transitions}\n".encode()
    numbers = value_characters(model.values, exact=exact)
    actions = None
    if model.choice_actions is not None and model.choice_actions.any():
        actions = strings(f" {name}" if name else "" for name in model.actions)
    space, end = constant(" "), constant("\n")
    for entries, rows in entry_blocks(model):
        parts = [*row_parts(model, rows), integers(model.columns[entries]), space, numbers(entries)]
        if actions is not None and model.choice_actions is not None:
            parts.append(actions[model.choice_actions[rows]])
        yield join(len(rows), [*parts, end])


def entry_blocks(model: Model) -> Iterator[tuple[slice, Integers]]:
    """Slices of the matrix entries, with the row of each entry."""
    for start in range(0, model.n_transitions, BLOCK):
        end = min(start + BLOCK, model.n_transitions)
        low = int(np.searchsorted(model.row_starts, start, side="right")) - 1
        high = int(np.searchsorted(model.row_starts, end, side="left"))
        sizes = np.diff(np.clip(model.row_starts[low : high + 1], start, end))
        yield slice(start, end), np.repeat(np.arange(low, high), sizes)


def row_parts(model: Model, rows: Integers) -> list[Characters]:
    """The beginning of a line: the state, and in an MDP the choice."""
    space = constant(" ")
    if model.choice_starts is None:
        return [integers(rows), space]
    low, high = int(rows[0]), int(rows[-1])
    first_state = int(np.searchsorted(model.choice_starts, low, side="right")) - 1
    last_state = int(np.searchsorted(model.choice_starts, high, side="right"))
    starts = model.choice_starts[first_state : last_state + 1]
    states = first_state + np.repeat(np.arange(len(starts) - 1), np.diff(starts))[rows - starts[0]]
    return [integers(states), space, integers(rows - model.choice_starts[states]), space]
