"""Reading Storm's explicit format (``.drn``): a line per state, per choice and per transition, one below the other.

A block of lines is looked at as bytes: the first character of a line tells its kind. Transitions become numbers at
once; what follows the number of a state or the word ``action`` is taken apart once for each text that occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from ..lang.model_types import MODEL_TYPES, ModelType, nature_of
from ..model.sparse import Mask, Model, Rewards
from ..model.validation import SUM_TOLERANCE, first
from ..model.values import Floats
from .drn_states import valuations_of
from .drn_write import LABELS, NAMED, NO_ACTION
from .errors import FileError, read_bytes
from .matrix import Matrix, check_count, check_range, checked_matrix, complete
from .table import FEW_STATES, MOST_STATES, Int32s, numbers, parse_number, token_integers, tokens

STATE_LINE = "state number [!rate] [reward, …] label …"
ACTION_LINE = "action name [reward, …]"
ENTRY_LINE = "target : value"
_BLOCK = 1 << 20
_STATE = re.compile(r'\s*(?:!(\S+))?\s*(?:\[([^\]]*)\])?((?:\s*"[^"]*"|\s*[^\s"\[!{]\S*)*)\s*')
_LABEL = re.compile(r'"([^"]*)"|(\S+)')
_ACTION = re.compile(r"(\S+)\s*(?:\[([^\]]*)\])?")
_KINDS = {"s": "state", "a": "action"}

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
class DrnFile:
    """A file in memory, and where its header ends."""

    path: Path
    data: bytes
    header: dict[str, tuple[int, str]] = field(default_factory=dict)
    named: bool = False
    labels: tuple[str, ...] = ()
    body: int = 0

    @classmethod
    def open(cls, path: Path) -> DrnFile:
        """Read a file and its header: lines ``@key: value``, or ``@key`` with the value below, up to ``@model``."""
        data = read_bytes(path)
        found = cls(path, data if data.endswith(b"\n") else data + b"\n")
        start, number, key = 0, 0, ""
        while start < len(found.data):
            end = found.data.index(b"\n", start)
            line = found.data[start:end].decode(errors="replace")
            start, number = end + 1, number + 1
            if line.startswith("//"):
                found.named |= line.strip() == NAMED
                if line.startswith(LABELS):
                    found.labels = _label_names(line.removeprefix(LABELS))
            elif line.startswith("@model"):
                found.body = start
                return found
            elif line.startswith("@"):
                key, _, value = line[1:].partition(":")
                found.header[key.strip()] = number, value.strip()
            elif key and not found.header[key][1]:
                found.header[key] = number, line  # spaces count: an unnamed reward structure is one
            elif line.strip():
                raise FileError("this is not a line of a .drn header", path, number, line.strip(), "@type: …, @model")
        raise FileError("there is no @model in this file", path, expected="@type: …, and the states after @model")

    def value(self, key: str) -> str:
        """What the header says; empty where it says nothing."""
        return self.header.get(key, (0, ""))[1]

    def header_error(self, message: str, expected: str | None = None, key: str = "type") -> FileError:
        """An error in the header."""
        line, text = self.header.get(key, (None, None))
        return FileError(message, self.path, line, None if text is None else f"@{key} {text}".strip(), expected)

    def count(self, key: str) -> int | None:
        """A number of the header."""
        text = self.value(key).strip()
        if not text:
            return None
        if not text.isdecimal() or len(text) > 18:
            raise self.header_error(f"@{key} is not a number", "a whole number", key)
        return int(text)

    def error_at(self, offset: int, message: str, expected: str | None = None) -> FileError:
        """An error in the line of a byte."""
        line = self.data.count(b"\n", 0, offset) + 1
        start, end = self.data.rfind(b"\n", 0, offset) + 1, self.data.index(b"\n", offset)
        return FileError(message, self.path, line, self.data[start:end].decode(errors="replace").strip(), expected)

    def line_error(self, entry: int, message: str, expected: str | None = None) -> FileError:
        """An error in the line of a transition."""
        return self.nth_error(entry, b"0123456789", message, expected)

    def nth_error(self, number: int, starting: bytes, message: str, expected: str | None = None) -> FileError:
        """An error in one of the lines that begin with one of some characters, counted from 0."""
        for found in re.finditer(rb"^[ \t\r]*([%b])" % starting, self.data[self.body :], re.MULTILINE):
            if number == 0:
                return self.error_at(self.body + found.start(1), message, expected)
            number -= 1
        return FileError(message, self.path, expected=expected)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """The body in blocks of whole lines, with their places."""
        start = self.body
        while start < len(self.data):
            end = self.data.find(b"\n", min(start + _BLOCK, len(self.data) - 1)) + 1
            yield start, self.data[start:end]
            start = end


@dataclass
class _Body:
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


_WORDS = {"s": {b"state"}, "a": {b"action"}}


def _cut(text: bytes, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> list[bytes]:
    return [text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def _codes(known: _Known[Parsed], texts: list[bytes]) -> Int32s:
    return np.fromiter(map(known.__getitem__, texts), dtype=np.int32, count=len(texts))


def _joined(parts: list[npt.NDArray[np.generic]]) -> npt.NDArray[np.generic]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)


def read_drn(path: Path, type: ModelType | None = None, *, fix_deadlocks: bool = True) -> Model:
    """Read a model from a ``.drn`` file; ``type`` must be what it says about itself."""
    file = DrnFile.open(path)
    kind = _type(file, type)
    if file.value("value_type") not in ("", "double", "rational"):
        raise file.header_error("Galton reads doubles and fractions", "@value_type: double or rational", "value_type")
    if file.value("parameters").strip():
        raise file.header_error("a model with parameters cannot be read", "no @parameters", "parameters")
    names = _reward_names(file.value("reward_models"))
    promised = file.count("nr_states")
    if promised is not None and not 1 <= promised <= min(MOST_STATES, max(FEW_STATES, len(file.data))):
        raise file.header_error(f"this file does not hold {promised} states", "as many as follow @model", "nr_states")
    body = _read_body(file, len(names))
    lines = _Layout.of(body)
    _check_layout(file, lines, kind, promised)
    matrix = _matrix(file, kind, body, lines)
    _check_rates(file, kind, body, lines, matrix)
    labels = _labels(file, body)
    states, warnings = valuations_of(body.comments, lines.comments_follow_states, lines.n_states)
    rewards = _rewards(names, body, lines, matrix)
    return complete(matrix, labels, rewards, states, fix_deadlocks=fix_deadlocks, warnings=warnings)


def _type(file: DrnFile, type: ModelType | None) -> ModelType:
    said = file.value("type").strip().lower()
    if said not in MODEL_TYPES:
        raise file.header_error("Galton does not read models of this type", "@type: DTMC, CTMC or MDP")
    kind = MODEL_TYPES[said].type
    if type is not None and type != kind:
        raise file.header_error(f"this is a {kind}, not a {type}")
    return kind


def _reward_names(text: str) -> list[str]:
    """Each name is followed by a space, so that one without letters is seen."""
    return text.removesuffix("\r").split(" ")[:-1] if text.rstrip("\r").endswith(" ") else text.split()


def _read_body(file: DrnFile, n_rewards: int) -> _Body:
    body = _Body(_Known(lambda text: _state(text, n_rewards)), _Known(lambda text: _action(text, n_rewards)))
    for start, text in file.blocks():
        try:
            body.read(text)
        except (ValueError, ArithmeticError):
            _find_broken_line(file, start, text, n_rewards)
    return body


def _state(text: str, n_rewards: int) -> _StateText:
    found = _STATE.fullmatch(text)
    if found is None:
        raise ValueError(f"this is not a line of a state: {STATE_LINE}")
    rate = None if found[1] is None else parse_number(found[1].encode())
    return _StateText(rate, _row(found[2], n_rewards), _label_names(found[3]))


def _label_names(text: str) -> tuple[str, ...]:
    return tuple(quoted or plain for quoted, plain in _LABEL.findall(text))


def _action(text: str, n_rewards: int) -> _ActionText:
    found = _ACTION.fullmatch(text)
    if found is None:
        raise ValueError(f"this is not a line of a choice: {ACTION_LINE}")
    return _ActionText(found[1], _row(found[2], n_rewards))


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
class _Layout:
    """Which transition belongs to which choice, and which choice to which state."""

    n_states: int
    n_choices: int
    numbers: Int32s
    state_of_choice: npt.NDArray[np.int64]  # -1 before the first state
    choice_of_entry: npt.NDArray[np.int64]
    entry_after_state: npt.NDArray[np.bool_]  # transitions that stand below a state, not a choice
    unknown: npt.NDArray[np.bool_]
    comments_follow_states: bool

    @classmethod
    def of(cls, body: _Body) -> _Layout:
        kinds = np.concatenate(body.kinds) if body.kinds else np.empty(0, dtype=np.uint8)
        kept = kinds[kinds != ord("/")]
        is_state, is_action, is_entry = (kept == ord(kind) for kind in "sa0")
        states, actions = np.cumsum(is_state), np.cumsum(is_action)
        last_action_state = np.concatenate(([-1], states[is_action] - 1))
        return cls(
            n_states=int(is_state.sum()),
            n_choices=int(is_action.sum()),
            numbers=_joined(body.state_numbers),  # type: ignore[arg-type]
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


def _check_layout(file: DrnFile, lines: _Layout, kind: ModelType, promised: int | None) -> None:
    if lines.unknown.any():
        raise file.nth_error(first(lines.unknown), rb"^/\s", "this is no line of a state, a choice or a transition")
    if lines.n_states == 0:
        raise FileError("there is no state after @model", file.path, expected=STATE_LINE)
    wrong = lines.numbers != np.arange(lines.n_states)
    if wrong.any():
        place = first(wrong)
        raise file.nth_error(place, b"s", f"this is state {lines.numbers[place]}, and number {place} comes next")
    if promised is not None:
        check_count(_At(file, "nr_states"), promised, lines.n_states, "states")
    choices = file.count("nr_choices")
    if choices is not None:
        check_count(_At(file, "nr_choices"), choices, lines.n_choices, "choices")
    if (lines.state_of_choice < 0).any():
        raise file.nth_error(0, b"a", "a choice before the first state", STATE_LINE)
    if lines.entry_after_state.any():
        raise file.line_error(first(lines.entry_after_state), "a transition of no choice", f"{ACTION_LINE} above it")
    sizes = np.bincount(lines.choice_of_entry, minlength=lines.n_choices)
    if (sizes == 0).any():
        raise file.nth_error(first(sizes == 0), b"a", "a choice without a transition", f"{ENTRY_LINE} below it")
    if not nature_of(kind).has_choices:
        twice = np.diff(lines.state_of_choice) == 0
        if twice.any():
            raise file.nth_error(first(twice) + 1, b"a", f"a second choice in a state of a {kind}")


@dataclass(frozen=True)
class _At:
    """A file whose header errors are about one key."""

    file: DrnFile
    key: str

    def header_error(self, message: str, expected: str | None = None) -> FileError:
        return self.file.header_error(message, expected, self.key)

    def line_error(self, entry: int, message: str, expected: str | None = None) -> FileError:
        return self.file.line_error(entry, message, expected)


def _matrix(file: DrnFile, kind: ModelType, body: _Body, lines: _Layout) -> Matrix:
    targets = _joined(body.targets)
    values = np.concatenate(body.values) if body.values else np.empty(0)
    check_range(file, targets, lines.n_states, "state")  # type: ignore[arg-type]
    rows, starts = lines.choice_of_entry, None
    if nature_of(kind).has_choices:
        sizes = np.bincount(lines.state_of_choice, minlength=lines.n_states)
        starts = np.concatenate(([0], np.cumsum(sizes)))
    else:
        rows = lines.state_of_choice[rows]
    parts = checked_matrix(file, kind, lines.n_states, rows, targets, values, starts)  # type: ignore[arg-type]
    actions, codes = _actions(file, body, lines)
    if codes is None:
        return Matrix(kind, lines.n_states, parts)
    moved = np.zeros(len(parts.row_starts) - 1, dtype=np.uint32)
    moved[_rows(lines, parts.places, kind)] = codes
    return Matrix(kind, lines.n_states, parts, actions, moved.astype(np.uint16) if len(actions) <= 1 << 16 else moved)


def _rows(
    lines: _Layout, places: npt.NDArray[np.signedinteger] | None, kind: ModelType
) -> npt.NDArray[np.signedinteger]:
    """The row of each choice of the file."""
    if not nature_of(kind).has_choices:
        return lines.state_of_choice
    return np.arange(lines.n_choices) if places is None else places


def _actions(file: DrnFile, body: _Body, lines: _Layout) -> tuple[tuple[str, ...], npt.NDArray[np.uint32] | None]:
    """The names of actions; none where all are the places of choices in their states, which Storm writes then."""
    codes = _joined(body.action_codes)
    texts = [parsed.name for parsed in body.actions.parsed]
    if not file.named:
        begins = np.searchsorted(lines.state_of_choice, lines.state_of_choice)
        place = np.arange(lines.n_choices) - begins
        as_numbers = np.array([int(name) if name.isdecimal() and len(name) < 10 else -1 for name in texts], dtype=int)
        if np.array_equal(as_numbers[codes], place):  # type: ignore[index]
            return ("",), None
    known: dict[str, int] = {"": 0}
    number = [known.setdefault("" if name == NO_ACTION else name, len(known)) for name in texts]
    if len(known) == 1:
        return ("",), None
    return tuple(known), np.array(number, dtype=np.uint32)[codes]  # type: ignore[index]


def _check_rates(file: DrnFile, kind: ModelType, body: _Body, lines: _Layout, matrix: Matrix) -> None:
    """Compare the exit rates in the lines of states with the sums of rates."""
    if not nature_of(kind).has_rates:
        return
    given = np.array([np.nan if text.rate is None else text.rate for text in body.states.parsed])
    rates = given[_joined(body.state_codes)]  # type: ignore[index]
    sums = np.add.reduceat(matrix.parts.values, matrix.parts.row_starts[:-1])
    off = np.abs(rates - sums) > SUM_TOLERANCE * sums
    off &= ~matrix.parts.deadlocks
    if off.any():
        state = first(off)
        message = f"the exit rate is {float(rates[state])!r}, and the rates sum to {float(sums[state])!r}"
        raise file.nth_error(state, b"s", message, "their sum")


def _labels(file: DrnFile, body: _Body) -> dict[str, Mask]:
    codes = _joined(body.state_codes)
    names = dict.fromkeys((*file.labels, *(name for text in body.states.parsed for name in text.labels)))
    return {
        name: np.array([name in text.labels for text in body.states.parsed], dtype=np.bool_)[codes]  # type: ignore[index]
        for name in names
    }


def _rewards(names: list[str], body: _Body, lines: _Layout, matrix: Matrix) -> dict[str, Rewards]:
    found: dict[str, Rewards] = {}
    of_states = np.array([text.rewards for text in body.states.parsed]).reshape(len(body.states), len(names))
    of_actions = np.array([text.rewards for text in body.actions.parsed]).reshape(len(body.actions), len(names))
    state_codes, action_codes = _joined(body.state_codes), _joined(body.action_codes)
    rows = _rows(lines, matrix.parts.places, matrix.type)
    for number, name in enumerate(names):
        state: Floats | None = of_states[:, number][state_codes]  # type: ignore[index]
        choice: Floats | None = np.zeros(len(matrix.parts.row_starts) - 1)
        assert state is not None
        assert choice is not None
        choice[rows] = of_actions[:, number][action_codes]  # type: ignore[index]
        if nature_of(matrix.type).has_rates:
            choice *= np.add.reduceat(matrix.parts.values, matrix.parts.row_starts[:-1])
        unnamed = name if name or "" not in found else f"#{number + 1}"
        found[unnamed] = Rewards(state=state if state.any() else None, choice=choice if choice.any() else None)
    return found
