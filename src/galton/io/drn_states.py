"""The values of variables in the comments of a ``.drn`` file: ``//[s=7 & !up]`` below the line of each state.

Storm writes these comments for people, and nothing for a Boolean variable that is true. They are read where they make
sense, because nothing else in the file tells what the states are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..model.states import PackedStates
from .table import token_integers

__all__ = ["valuations_of"]

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


def valuations_of(
    comments: list[bytes], below_states: bool, n_states: int
) -> tuple[PackedStates | None, tuple[str, ...]]:
    """The states, as far as comments tell them, and what to say of those that were not understood."""
    if len(comments) != n_states or not below_states or not comments[0].startswith(b"//["):
        return None, ()
    try:
        columns, unnamed = _columns(b"\n".join(comments) + b"\n", n_states)
        states = PackedStates.from_columns(columns)
    except (ValueError, IndexError):
        return None, ("the comments below the states are no values of variables, and are left out",)
    if unnamed:
        which = "a variable has" if unnamed == 1 else f"{unnamed} variables have"
        return states, (f"{which} no name in this file, because true is all that they ever are; they are left out",)
    return states, ()


def _columns(text: bytes, n_states: int) -> tuple[dict[str, npt.NDArray[np.generic]], int]:
    block = np.frombuffer(text, dtype=np.uint8)
    marks = np.flatnonzero((block == ord("&")) | (block == ord("\n")))
    width = len(marks) // n_states
    marks = marks.reshape((n_states, width))
    if not (block[marks[:, -1]] == ord("\n")).all():
        raise ValueError("lines of different lengths")
    starts = np.concatenate(([0], marks.reshape(-1)[:-1] + 1)).reshape(n_states, width)
    starts[:, 0] += 3  # //[
    ends = marks.copy()
    ends[:, -1] -= 1
    if not (block[ends[:, -1]] == ord("]")).all():
        raise ValueError("no bracket")
    columns: dict[str, npt.NDArray[np.generic]] = {}
    unnamed = 0
    for place in range(width):
        low, high = _trimmed(block, starts[:, place], ends[:, place])
        filled = np.flatnonzero(high > low)
        if not len(filled):
            unnamed += 1
            continue
        shown = text[low[filled[0]] : high[filled[0]]].decode()
        name = shown.lstrip("!").partition("=")[0]
        if not name or name in columns:
            raise ValueError("name")
        column = _numbers if "=" in shown else _truths
        columns[name] = column(block, low, high, name.encode())
    return columns, unnamed


def _trimmed(block: Bytes, low: Places, high: Places) -> tuple[Places, Places]:
    """Fields without the space after the mark before them and the tab before the next one."""
    low, high = low.copy(), high.copy()
    for _ in range(2):
        low += (low < high) & (block[low] <= 32)
        high -= (low < high) & (block[high - 1] <= 32)
    return low, high


def _is_name(block: Bytes, low: Places, name: bytes) -> npt.NDArray[np.bool_]:
    same = np.ones(len(low), dtype=np.bool_)
    for offset, character in enumerate(name):
        same &= block[np.minimum(low + offset, len(block) - 1)] == character
    return same


def _numbers(block: Bytes, low: Places, high: Places, name: bytes) -> npt.NDArray[np.int32]:
    after = low + len(name)
    if not (
        _is_name(block, low, name) & (high > after + 1) & (block[np.minimum(after, len(block) - 1)] == ord("="))
    ).all():
        raise ValueError("name")
    return token_integers(block, after + 1, high)


def _truths(block: Bytes, low: Places, high: Places, name: bytes) -> npt.NDArray[np.bool_]:
    false = (high > low) & (block[low] == ord("!"))
    at = low + false
    empty = high == low
    if not (empty | (_is_name(block, at, name) & (high == at + len(name)))).all():
        raise ValueError("name")
    truths: npt.NDArray[np.bool_] = ~false
    return truths
