"""Label files (``.lab``): ``12: 2 3`` for the labels of state 12, under a header ``0="init" 1="deadlock" …``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..model.sparse import Mask, Model
from ..model.validation import first
from .characters import blocks, constant, integers, join
from .errors import FileError
from .matrix import check_range
from .table import TextFile, text_blocks, token_integers, tokens

EXPECTED = "state: label label …"
HEADER = '0="init" 1="deadlock" 2="name" …'
_HEADER_ITEM = re.compile(r'\s*(\d{1,9})\s*=\s*"([^"]*)"')


def read_lab(path: Path, n_states: int) -> dict[str, Mask]:
    """Read a label file for a model of that many states."""
    file = TextFile.open(path, expected=HEADER)
    names = _header(file)
    try:
        states, labels, lines = _read_fast(file)
    except ValueError:
        raise _broken(file) from None
    check_range(file, states, n_states, "state")
    unknown = ~np.isin(labels, list(names))
    if unknown.any():
        wrong = first(unknown)
        raise file.line_error(int(lines[wrong]), f"there is no label {labels[wrong]}", "a number from the header")
    found = {}
    for number, name in names.items():
        found[name] = np.zeros(n_states, dtype=np.bool_)
        found[name][states[lines[labels == number]]] = True
    if "init" in found and not found["init"].any():
        raise FileError('no state has the label "init"', path, expected="at least one initial state")
    return found


def _header(file: TextFile) -> dict[int, str]:
    names: dict[int, str] = {}
    position = 0
    while found := _HEADER_ITEM.match(file.header, position):
        if int(found[1]) in names or found[2] in names.values():
            raise file.header_error(f'{found[1]}="{found[2]}" is here for the second time')
        names[int(found[1])] = found[2]
        position = found.end()
    if file.header[position:].strip() or not names:
        raise file.header_error("this is not the header of a .lab file", HEADER)
    return names


def _read_fast(file: TextFile) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], ...]:
    """State of each line; then the labels one by one, and the line each stands in."""
    states, labels, lines, count = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.empty(0, np.int32)], 0
    for text in text_blocks(file):
        block = np.frombuffer(text.replace(b":", b" "), dtype=np.uint8)
        starts, ends, firsts, counts = tokens(block)
        if text.count(b":") != len(counts):
            raise ValueError("colon")
        if len(counts) == 0:
            continue
        numbers = token_integers(block, starts, ends)
        is_label = np.ones(len(numbers), dtype=np.bool_)
        is_label[firsts] = False
        states.append(numbers[firsts])
        labels.append(numbers[is_label])
        lines.append(np.repeat(np.arange(count, count + len(counts), dtype=np.int32), counts - 1))
        count += len(counts)
    return np.concatenate(states), np.concatenate(labels), np.concatenate(lines)


def _broken(file: TextFile) -> FileError:
    for number, line in file.lines():
        if not re.fullmatch(r"\d{1,9}\s*:(\s*\d{1,9}(\s+\d{1,9})*)?", line):
            return FileError("this is not a line of labels", file.path, number, line, EXPECTED)
    return FileError("the labels cannot be read", file.path, expected=EXPECTED)


def lab_text(model: Model) -> Iterator[bytes]:
    """A label file, in blocks; states without labels have no line."""
    header = " ".join(f'{number}="{name}"' for number, name in enumerate(model.labels))
    yield f"# Labels\n{header}\n".encode()
    masks = list(model.labels.values())
    for block in blocks(model.n_states):
        some = np.any([mask[block] for mask in masks], axis=0)
        states = np.flatnonzero(some) + block.start
        parts = [integers(states), constant(":")]
        for number, mask in enumerate(masks):
            parts.append(constant(f" {number}") * mask[states][:, None])
        yield join(len(states), [*parts, constant("\n")])
