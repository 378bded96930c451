"""MATLAB's language (``.m``): a script that makes the matrices of a model, as PRISM writes them.

``P`` holds the probabilities of a DTMC, ``R`` the rates of a CTMC, ``S1``, ``S2`` … the first, second … choices of an
MDP; ``l_NAME`` is a label, ``c1`` and ``C1`` are the rewards of states and of transitions, ``states`` the values of
variables. MATLAB and Octave run it, line by line: for large models write ``.mat``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..model.construct import Integers
from ..model.sparse import Model
from .characters import Characters, blocks, constant, integers, join, numbers, strings, value_characters
from .drn_write import choice_rewards
from .sta import valuations
from .tra import entry_blocks

__all__ = ["matlab_text"]


def matlab_text(model: Model) -> Iterator[bytes]:
    """A ``.m`` file, in blocks."""
    title = f"% {model.type}, {model.n_states} states, {model.n_transitions} transitions; written by Galton\n"
    yield title.encode()
    yield from _matrix(model)
    yield from _labels(model)
    yield from _rewards(model)
    yield from _actions(model)
    yield from _states(model)


def _size(model: Model) -> int:
    return 1 if model.choice_starts is None else int(np.diff(model.choice_starts).max())


def _names(model: Model, letter: str, rows: Integers) -> tuple[Characters, Integers]:
    """The name of the matrix that each row stands in, and its state."""
    if model.choice_starts is None:
        return constant(letter), rows
    states = np.searchsorted(model.choice_starts, rows, side="right") - 1
    choices = rows - model.choice_starts[states] + 1
    return strings(f"{letter}{number}" for number in range(_size(model) + 1))[choices], states


def _declared(model: Model, letter: str) -> bytes:
    n = model.n_states
    names = [letter] if not model.has_choices else [f"{letter}{number}" for number in range(1, _size(model) + 1)]
    return "".join(f"{name} = sparse({n},{n});\n" for name in names).encode()


def _matrix(model: Model) -> Iterator[bytes]:
    letter = "S" if model.has_choices else "R" if model.has_rates else "P"
    yield _declared(model, letter)
    values = value_characters(model.values, exact=True)
    for entries, rows in entry_blocks(model):
        yield _lines(model, letter, rows, model.columns[entries], values(entries))


def _lines(model: Model, letter: str, rows: Integers, columns: Integers, values: Characters) -> bytes:
    name, states = _names(model, letter, rows)
    parts = [name, constant("("), integers(states + 1), constant(","), integers(columns + 1), constant(")=")]
    return join(len(rows), [*parts, values, constant(";\n")])


def _labels(model: Model) -> Iterator[bytes]:
    for name, mask in model.labels.items():
        variable = f"l_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        yield f"{variable} = sparse({model.n_states},1); % {name!r}\n".encode()
        states = np.flatnonzero(mask)
        for block in blocks(len(states)):
            part = states[block]
            yield join(len(part), [constant(f"{variable}("), integers(part + 1), constant(")=1;\n")])


def _rewards(model: Model) -> Iterator[bytes]:
    for number, (name, rewards) in enumerate(model.rewards.items(), 1):
        yield f"c{number} = sparse({model.n_states},1); % rewards of states {name!r}\n".encode()
        states = np.flatnonzero(rewards.state) if rewards.state is not None else np.empty(0, dtype=np.int64)
        for block in blocks(len(states)):
            part = states[block]
            assert rewards.state is not None
            values = numbers(rewards.state[part], exact=True)
            yield join(
                len(part), [constant(f"c{number}("), integers(part + 1), constant(")="), values, constant(";\n")]
            )
        choice = choice_rewards(model, rewards)
        if choice is None:
            continue
        letter = f"C{number}" + "_" * model.has_choices
        yield f"% rewards of transitions {name!r}\n".encode() + _declared(model, letter)
        for entries, rows in entry_blocks(model):
            each = choice[rows] if rewards.transition is None else rewards.transition[entries]
            some = each != 0
            if some.any():
                columns = model.columns[entries][some]
                yield _lines(model, letter, rows[some], columns, numbers(each[some], exact=True))


def _actions(model: Model) -> Iterator[bytes]:
    if model.choice_actions is None or not model.choice_actions.any():
        return
    names = ", ".join("'" + name.replace("'", "''") + "'" for name in model.actions[1:])
    yield f"actions = {{{names}}};\n".encode()
    yield f"action_of = sparse({model.n_states},{_size(model)}); % of each choice of each state; 0 is none\n".encode()
    rows = np.flatnonzero(model.choice_actions)
    for block in blocks(len(rows)):
        part = rows[block]
        states: npt.NDArray[np.signedinteger] = part
        choices = np.ones_like(part)
        if model.choice_starts is not None:
            states = np.searchsorted(model.choice_starts, part, side="right") - 1
            choices = part - model.choice_starts[states] + 1
        parts = [constant("action_of("), integers(states + 1), constant(","), integers(choices), constant(")=")]
        yield join(len(part), [*parts, integers(model.choice_actions[part]), constant(";\n")])


def _states(model: Model) -> Iterator[bytes]:
    states = valuations(model) if model.states is not None else None
    if states is None or not states.variables:
        return
    yield f"% ({','.join(states.variables)})\nstates = [\n".encode()
    columns = [states.column(name) for name in states.variables]
    for block in blocks(model.n_states):
        parts = []
        for position, column in enumerate(columns):
            parts += [constant(",")] if position else []
            parts.append(integers(column[block].astype(np.int64)))
        yield join(block.stop - block.start, [*parts, constant("\n")])
    yield b"];\n"
