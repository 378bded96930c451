"""Reward files: state rewards (``.srew``) and transition rewards (``.trew``), a pair of files per reward structure.

``.srew`` has ``state reward`` under ``states entries``; ``.trew`` has the columns and the header of a ``.tra`` file.
Only rewards other than 0 have a line. With several structures the files are numbered: ``model1.srew``,
``model2.srew`` …; a comment tells the name of the structure, in files from PRISM 4.8 on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..model.construct import find_entries, transition_rewards
from ..model.sparse import Model, Rewards
from ..model.validation import first
from ..model.values import Floats
from .characters import blocks, constant, integers, join, numbers
from .errors import FileError
from .matrix import Matrix, check_count, check_range
from .table import TextFile, read_table
from .tra import entry_blocks, row_parts

_NAME = re.compile(r'#\s*Reward structure(?:\s+"([^"]*)")?\s*$')


def read_rewards(state_files: list[Path], transition_files: list[Path], matrix: Matrix) -> dict[str, Rewards]:
    """Read reward structures. Files belong together by name, or by their position if they do not tell a name."""
    state: dict[str | int, Floats] = {}
    transition: dict[str | int, Floats] = {}
    for found, paths in ((state, state_files), (transition, transition_files)):
        for position, path in enumerate(paths, 1):
            name, array = read_srew(path, matrix) if found is state else read_trew(path, matrix)
            key = name or position
            if key in found:
                raise FileError(f"there are two files for the rewards {key!r}", path)
            found[key] = array
    # Order of appearance, state rewards first: PRISM writes both files for each structure, so this is its order.
    keys = sorted({**state, **transition}, key=lambda key: _position(key, state, transition))
    rewards: dict[str, Rewards] = {}
    for key in keys:
        unnamed = f"#{key}" if "" in rewards else ""
        name = key if isinstance(key, str) else unnamed
        of_states = state.get(key)
        if of_states is not None and not of_states.any():
            of_states = None
        of_transitions = transition.get(key)
        if of_transitions is None:
            rewards[name] = Rewards(state=of_states)
        else:
            rewards[name] = transition_rewards(matrix.parts, of_transitions, of_states)
    return rewards


def _position(key: str | int, *found: dict[str | int, Floats]) -> int:
    return min(list(part).index(key) for part in found if key in part)


def _structure_name(file: TextFile) -> str:
    for _, comment in file.comments:
        if found := _NAME.match(comment):
            return found[1] or ""
    return ""


def read_srew(path: Path, matrix: Matrix) -> tuple[str, Floats]:
    """The name of the structure, and a reward per state."""
    expected = "the numbers of states and of lines that follow"
    file = TextFile.open(path, expected=expected)
    n_states, lines = file.header_numbers(2, expected)
    if n_states != matrix.n_states:
        raise file.header_error(f"rewards for {n_states} states, but the model has {matrix.n_states}")
    table = read_table(file, 1, expected="state reward")
    (states,) = table.integers
    check_range(file, states, n_states, "state")
    check_count(file, lines, len(table), "lines")
    _check_once(file, states)
    rewards = np.zeros(n_states)
    rewards[states] = table.values
    return _structure_name(file), rewards


def read_trew(path: Path, matrix: Matrix) -> tuple[str, Floats]:
    """The name of the structure, and a reward per matrix entry."""
    starts = matrix.parts.choice_starts
    expected = f"the numbers of states{', of choices' if starts is not None else ''} and of lines that follow"
    file = TextFile.open(path, expected=expected)
    n_states, *_, lines = file.header_numbers(2 if starts is None else 3, expected)
    if n_states != matrix.n_states:
        raise file.header_error(f"rewards for {n_states} states, but the model has {matrix.n_states}")
    line = "source target reward" if starts is None else "source choice target reward"
    table = read_table(file, 2 if starts is None else 3, expected=line)
    sources, targets = table.integers[0], table.integers[-1]
    check_range(file, sources, n_states, "state")
    check_range(file, targets, n_states, "state")
    check_count(file, lines, len(table), "lines")
    rows = sources
    missing = np.zeros(len(table), dtype=np.bool_)
    if starts is not None:
        choices = table.integers[1]
        missing = (choices < 0) | (choices >= starts[sources + 1] - starts[sources])
        rows = starts[sources] + np.where(missing, 0, choices)
    entries = find_entries(matrix.parts, n_states, rows, targets)
    missing |= entries < 0
    if missing.any():
        raise file.line_error(first(missing), "a reward for a transition that the model does not have")
    _check_once(file, entries)
    rewards = np.zeros(len(matrix.parts.columns))
    rewards[entries] = table.values
    return _structure_name(file), rewards


def _check_once(file: TextFile, places: np.ndarray[tuple[int], np.dtype[np.signedinteger]]) -> None:
    order = np.argsort(places, kind="stable")
    twice = np.diff(places[order]) == 0
    if twice.any():
        raise file.line_error(int(order[first(twice) + 1]), "a second reward for the same place")


def _heading(name: str, kind: str) -> str:
    title = f' "{name}"' if name and not name.startswith("#") else ""
    return f"# Reward structure{title}\n# {kind} rewards\n"


def srew_text(model: Model, name: str, *, exact: bool = False) -> Iterator[bytes]:
    """A file of state rewards, in blocks."""
    rewards = model.rewards[name].state
    if rewards is None:
        rewards = np.zeros(0)
    states = np.flatnonzero(rewards)
    yield f"{_heading(name, 'State')}{model.n_states} {len(states)}\n".encode()
    for block in blocks(len(states)):
        part = states[block]
        yield join(len(part), [integers(part), constant(" "), numbers(rewards[part], exact=exact), constant("\n")])


def trew_text(model: Model, name: str, *, exact: bool = False) -> Iterator[bytes]:
    """A file of transition rewards, in blocks.

    Where a chain's rewards are known only as the mean of a step, every transition of the state gets that mean: all
    expected values stay the same, and a comment says so.
    """
    rewards = model.rewards[name]
    per_row = None
    heading = _heading(name, "Transition")
    if rewards.transition is None and rewards.choice is not None:
        per_row = rewards.choice / model.exit_rates if model.has_rates else rewards.choice
        if not model.has_choices and per_row.any():
            heading += "# Every transition of a state has the mean reward of a step from it\n"
    count = 0
    if rewards.transition is not None:
        count = int(np.count_nonzero(rewards.transition))
    elif per_row is not None:
        count = int(np.diff(model.row_starts)[per_row != 0].sum())
    sizes = f"{model.n_states} {f'{model.n_choices} ' if model.has_choices else ''}{count}"
    yield f"{heading}{sizes}\n".encode()
    for entries, rows in entry_blocks(model) if count else ():
        values = rewards.transition[entries] if rewards.transition is not None else None
        if values is None:
            assert per_row is not None
            values = per_row[rows]
        some = values != 0
        if some.any():
            rows, columns, values = rows[some], model.columns[entries][some], values[some]
            parts = [*row_parts(model, rows), integers(columns), constant(" "), numbers(values, exact=exact)]
            yield join(len(rows), [*parts, constant("\n")])
