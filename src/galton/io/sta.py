"""State files (``.sta``): the values of the variables in each state, ``12:(7,6)`` under a header ``(s,d)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..model.sparse import Model, ModelError
from ..model.states import ListedStates, PackedStates
from ..model.validation import first
from .characters import blocks, constant, integers, join, strings
from .errors import FileError
from .matrix import check_range
from .table import TextFile, read_table

_HEADER = re.compile(r"\(([^\s(),:]+(?:,[^\s(),:]+)*)?\)")
_PUNCTUATION = bytes.maketrans(b":(,)", b"    ")
_WORDS = ("true", "false")


def read_sta(path: Path, n_states: int) -> PackedStates:
    """Read a state file for a model of that many states."""
    file = TextFile.open(path, expected="the names of the variables, (x,y)")
    found = _HEADER.fullmatch(file.header)
    if not found:
        raise file.header_error("this is not the header of a .sta file", "the names of the variables, (x,y)")
    names = found[1].split(",") if found[1] else []
    if len(set(names)) != len(names):
        raise file.header_error("a variable is named twice")
    expected = f"number:({','.join(names)})"
    is_bool = [field in _WORDS for field in _fields(next((line for _, line in file.lines()), ""))]

    # Without its punctuation and words the body is a table of numbers.
    plain = file.data[file.body :].translate(_PUNCTUATION)
    words = sum(plain.count(word.encode()) for word in _WORDS)
    plain = plain.replace(b"true", b"1").replace(b"false", b"0")
    try:
        table = read_table(replace(file, data=plain, body=0), 1 + len(names), value=False, expected=expected)
    except FileError as error:
        text = next((text for number, text in file.lines() if number == error.line), None)
        raise FileError(error.message, path, error.line, text, expected) from None
    numbers, *columns = table.integers
    check_range(file, numbers, n_states, "state")
    order = np.argsort(numbers, kind="stable")
    twice = np.diff(numbers[order]) == 0
    if twice.any():
        entry = int(order[first(twice) + 1])
        raise file.line_error(entry, f"state {numbers[entry]} is here for the second time")
    if len(numbers) != n_states:
        raise FileError(f"{len(numbers)} states here, but {n_states} in the transitions", path)
    if words != sum(is_bool) * n_states:
        raise _mixed(file, is_bool, expected)
    if not names:
        return PackedStates((), np.zeros((n_states, 1), dtype=np.uint64))
    sorted_columns = (column[order] for column in columns)
    typed = [c.astype(np.bool_) if b else c for c, b in zip(sorted_columns, is_bool, strict=True)]
    return PackedStates.from_columns(dict(zip(names, typed, strict=True)))


def _fields(line: str) -> list[str]:
    return re.split(r"[:(),\s]+", line.strip("() \t"))[1:]


def _mixed(file: TextFile, is_bool: list[bool], expected: str) -> FileError:
    for number, line in file.lines():
        for field, should_be_bool in zip(_fields(line), is_bool, strict=False):
            if (field in _WORDS) != should_be_bool:
                kind = "true or false" if should_be_bool else "a whole number"
                return FileError(f"{field} is not {kind}, as in the lines before", file.path, number, line, expected)
    return FileError("true and false are mixed with numbers", file.path, expected=expected)


def sta_text(model: Model) -> Iterator[bytes]:
    """A state file, in blocks. Without valuations the only variable is the number of the state, as PRISM has it."""
    states = valuations(model)
    names = ("x",) if states is None else states.variables
    yield f"# States\n({','.join(names)})\n".encode()
    columns = [np.arange(model.n_states)] if states is None else [states.column(name) for name in names]
    words = strings(["false", "true"])
    for block in blocks(model.n_states):
        parts = [integers(np.arange(block.start, block.stop)), constant(":(")]
        for position, column in enumerate(columns):
            part = column[block]
            parts += [constant(",")] if position else []
            parts.append(words[part.astype(np.uint8)] if part.dtype == np.bool_ else integers(part))
        yield join(block.stop - block.start, [*parts, constant(")\n")])


def valuations(model: Model) -> PackedStates | None:
    """The states as variables with values, or None when they are just numbers; an error when they are other objects."""
    if not isinstance(model.states, ListedStates):
        return model.states
    if model.states.variables is not None:
        columns = {name: model.states.column(name) for name in model.states.variables}
        if all(column.dtype.kind in "ib" for column in columns.values()):
            return PackedStates.from_columns(columns)
    raise ModelError(
        "the states are Python objects, which a .sta file cannot hold; "
        "it can if they are named tuples or dataclasses of integers and Booleans"
    )
