"""The lines of a ``.drn`` file after its header, apart by kind.

A block of lines is looked at as bytes: the first character of a line tells its kind. Transitions become numbers at
once; what follows the number of a state or the word ``action`` is taken apart once for each text that occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from ..model.values import Floats
from .drn_file import DrnFile, label_names
from .errors import FileError
from .table import Int32s, numbers, parse_number, token_integers, tokens

__all__ = ["ACTION_LINE", "ENTRY_LINE", "STATE_LINE", "Body", "Layout", "read_body"]

STATE_LINE = "state number [!rate] [reward, …] label …"
ACTION_LINE = "action name [reward, …]"
ENTRY_LINE = "target : value"
_WORDS = {"s": {b"state"}, "a": {b"action"}}

Parsed = TypeVar("Parsed")


class _Known(dict[bytes, int], Generic[Parsed]):
    """Texts by their number in order of appearance, each taken apart once."""

    def __init__(self, parse: Callable[[str], Parsed]) -> None:
        super().__init__()
        self._parse = parse
        self.parsed: list[Parsed] = []

    def __missing__(self, text: bytes) -> int:
        self.parsed.append(self._parse(text.decode()))
        code = self[text] = len(self.parsed) - 1
        return code


@dataclass(frozen=True)
class _StateText:
    rate: float | None
    rewards: tuple[float, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class _ActionText:
    name: str
    rewards: tuple[float, ...]


@dataclass
class Body:
    """All lines of the body, apart by kind."""

    states: _Known[_StateText]
    actions: _Known[_ActionText]
    kinds: list[npt.NDArray[np.uint8]] = field(default_factory=list)
    state_numbers: list[Int32s] = field(default_factory=list)
    state_codes: list[Int32s] = field(default_factory=list)
    action_codes: list[Int32s] = field(default_factory=list)
    targets: list[Int32s] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    comments: list[bytes] = field(default_factory=list)

    def read(self, text: bytes) -> None:
        """Read a block of lines; ValueError where something is wrong with one."""
        plain = text.replace(b":", b" ")
        block = np.frombuffer(plain, dtype=np.uint8)
        starts, ends, firsts, counts = tokens(block)
        if len(counts) == 0:
            return
        kinds = block[starts[firsts]]
        kinds[(kinds >= ord("0")) & (kinds <= ord("9"))] = ord("0")
        self.kinds.append(kinds)
        entries = firsts[kinds == ord("0")]
        if (counts[kinds == ord("0")] != 2).any():
            raise ValueError("fields")
        if len(entries):
            self.targets.append(token_integers(block, starts[entries], ends[entries]))
            self.values.append(numbers(_cut(plain, starts[entries + 1], ends[entries + 1])))
        lasts = ends[firsts + counts - 1]
        for kind in ("s", "a"):
            chosen = kinds == ord(kind)
            places, stops = firsts[chosen], lasts[chosen]
            if len(places) and (
                counts[chosen].min() < 2 or set(_cut(text, starts[places], ends[places])) != _WORDS[kind]
            ):
                raise ValueError("word")
            if kind == "a" and len(places):
                self.action_codes.append(_codes(self.actions, _cut(text, starts[places + 1], stops)))
            elif len(places):
                self.state_numbers.append(token_integers(block, starts[places + 1], ends[places + 1]))
                self.state_codes.append(_codes(self.states, _cut(text, ends[places + 1], stops)))
        chosen = kinds == ord("/")
        self.comments += _cut(text, starts[firsts[chosen]], lasts[chosen])


def _cut(text: bytes, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> list[bytes]:
    return [text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def _codes(known: _Known[Parsed], texts: list[bytes]) -> Int32s:
    return np.fromiter(map(known.__getitem__, texts), dtype=np.int32, count=len(texts))


def _joined(parts: list[Int32s]) -> Int32s:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)


def read_body(file: DrnFile, n_rewards: int) -> Body:
    """Read all lines after the header; what is wrong is said with its line."""
    body = Body(_Known(lambda text: _state(text, n_rewards)), _Known(lambda text: _action(text, n_rewards)))
    for start, text in file.blocks():
        try:
            body.read(text)
        except (ValueError, ArithmeticError):
            _find_broken_line(file, start, text, n_rewards)
    return body


def _state(text: str, n_rewards: int) -> _StateText:
    rest, rate, rewards = text.strip(), None, None
    if rest.startswith("!"):
        word = rest.split(None, 1)[0]
        rest, rate = rest[len(word) :].lstrip(), parse_number(word[1:].encode())
    if rest.startswith("["):
        rewards, bracket, rest = rest[1:].partition("]")
        if not bracket:
            raise ValueError("a bracket is never closed")
    return _StateText(rate, _row(rewards, n_rewards), label_names(rest))


def _action(text: str, n_rewards: int) -> _ActionText:
    name, *more = text.split(None, 1)
    rest = "".join(more).strip()
    if rest and not (rest.startswith("[") and rest.find("]") == len(rest) - 1):
        raise ValueError(f"this is not a line of a choice: {ACTION_LINE}")
    return _ActionText(name, _row(rest[1:-1] if rest else None, n_rewards))


def _row(text: str | None, n_rewards: int) -> tuple[float, ...]:
    if text is None:
        return (0.0,) * n_rewards
    rewards = tuple(parse_number(part.strip().encode()) for part in text.split(",")) if text.strip() else ()
    if len(rewards) != n_rewards:
        raise ValueError(f"{len(rewards)} rewards, and the header names {n_rewards}")
    return rewards


def _find_broken_line(file: DrnFile, start: int, text: bytes, n_rewards: int) -> NoReturn:
    """Go through a block line by line, and say what is wrong where."""
    offset = start
    for raw in text.split(b"\n"):
        line = raw.decode(errors="replace").strip()
        fields = line.replace(":", " ").split()
        try:
            if not line or line.startswith("//"):
                pass
            elif line.startswith("state ") and fields[1].isdecimal() and len(fields[1]) < 10:
                _state(line.removeprefix("state").strip().removeprefix(fields[1]), n_rewards)
            elif line.startswith("action "):
                _action(line.removeprefix("action").strip(), n_rewards)
            elif line[0].isdecimal() and len(fields) == 2:
                token_integers(
                    np.frombuffer(fields[0].encode(), np.uint8), np.zeros(1, int), np.array([len(fields[0])])
                )
                parse_number(fields[1].encode())
            else:
                raise ValueError("this is no line of a state, a choice or a transition")
            raw.decode()
        except (ValueError, ArithmeticError) as error:
            told = str(error) if " " in str(error) and "utf-8" not in str(error) else "this line cannot be read"
            raise file.error_at(offset, told, f"{STATE_LINE}; {ACTION_LINE}; {ENTRY_LINE}") from None
        offset += len(raw) + 1
    raise FileError("the body cannot be read", file.path)


@dataclass(frozen=True)
class Layout:
    """All lines of a kind together; which transition belongs to which choice, and which choice to which state."""

    n_states: int
    n_choices: int
    numbers: Int32s
    state_codes: Int32s  # which text each state has
    action_codes: Int32s
    targets: Int32s
    values: Floats
    state_of_choice: npt.NDArray[np.int64]  # -1 before the first state
    choice_of_entry: npt.NDArray[np.int64]
    entry_after_state: npt.NDArray[np.bool_]  # transitions that stand below a state, not a choice
    unknown: npt.NDArray[np.bool_]
    comments_follow_states: bool

    @classmethod
    def of(cls, body: Body) -> Layout:
        """Put the lines of a body together."""
        kinds = np.concatenate(body.kinds) if body.kinds else np.empty(0, dtype=np.uint8)
        kept = kinds[kinds != ord("/")]
        is_state, is_action, is_entry = (kept == ord(kind) for kind in "sa0")
        states, actions = np.cumsum(is_state), np.cumsum(is_action)
        last_action_state = np.concatenate(([-1], states[is_action] - 1))
        return cls(
            n_states=int(is_state.sum()),
            n_choices=int(is_action.sum()),
            numbers=_joined(body.state_numbers),
            state_codes=_joined(body.state_codes),
            action_codes=_joined(body.action_codes),
            targets=_joined(body.targets),
            values=np.concatenate(body.values) if body.values else np.empty(0),
            state_of_choice=states[is_action] - 1,
            choice_of_entry=actions[is_entry] - 1,
            entry_after_state=last_action_state[actions[is_entry]] != states[is_entry] - 1,
            unknown=~(is_state | is_action | is_entry),
            comments_follow_states=_follow(kinds),
        )


def _follow(kinds: npt.NDArray[np.uint8]) -> bool:
    """Whether there is a comment right below each state, and nowhere else."""
    states = np.flatnonzero(kinds == ord("s"))
    return bool(np.array_equal(np.flatnonzero(kinds == ord("/")), states + 1))
