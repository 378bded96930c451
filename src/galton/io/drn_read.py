"""Reading Storm's explicit format (``.drn``): a line per state, per choice and per transition, one below the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..lang.model_types import MODEL_TYPES, ModelType, nature_of
from ..model.sparse import Mask, Model, Rewards
from ..model.validation import SUM_TOLERANCE, first
from ..model.values import Floats
from .drn_body import ACTION_LINE, ENTRY_LINE, STATE_LINE, Body, Layout, read_body
from .drn_file import DrnFile
from .drn_states import valuations_of
from .drn_write import NO_ACTION
from .errors import FileError
from .matrix import Matrix, check_count, check_range, checked_matrix, complete
from .table import FEW_STATES, MOST_STATES

__all__ = ["read_drn"]


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
    body = read_body(file, len(names))
    lines = Layout.of(body)
    _check_layout(file, lines, kind, promised)
    matrix = _matrix(file, kind, body, lines)
    _check_rates(file, kind, body, lines, matrix)
    labels = _labels(file, body, lines)
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


def _check_layout(file: DrnFile, lines: Layout, kind: ModelType, promised: int | None) -> None:
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


def _matrix(file: DrnFile, kind: ModelType, body: Body, lines: Layout) -> Matrix:
    check_range(file, lines.targets, lines.n_states, "state")
    rows, starts = lines.choice_of_entry, None
    if nature_of(kind).has_choices:
        sizes = np.bincount(lines.state_of_choice, minlength=lines.n_states)
        starts = np.concatenate(([0], np.cumsum(sizes)))
    else:
        rows = lines.state_of_choice[rows]
    parts = checked_matrix(file, kind, lines.n_states, rows, lines.targets, lines.values, starts)
    actions, codes = _actions(file, body, lines)
    if codes is None:
        return Matrix(kind, lines.n_states, parts)
    moved = np.zeros(len(parts.row_starts) - 1, dtype=np.uint32)
    moved[_rows(lines, parts.places, kind)] = codes
    return Matrix(kind, lines.n_states, parts, actions, moved.astype(np.uint16) if len(actions) <= 1 << 16 else moved)


def _rows(
    lines: Layout, places: npt.NDArray[np.signedinteger] | None, kind: ModelType
) -> npt.NDArray[np.signedinteger]:
    """The row of each choice of the file."""
    if not nature_of(kind).has_choices:
        return lines.state_of_choice
    return np.arange(lines.n_choices) if places is None else places


def _actions(file: DrnFile, body: Body, lines: Layout) -> tuple[tuple[str, ...], npt.NDArray[np.uint32] | None]:
    """The names of actions; none where all are the places of choices in their states, which Storm writes then."""
    codes = lines.action_codes
    texts = [parsed.name for parsed in body.actions.parsed]
    if not file.named:
        begins = np.searchsorted(lines.state_of_choice, lines.state_of_choice)
        place = np.arange(lines.n_choices) - begins
        as_numbers = np.array([int(name) if name.isdecimal() and len(name) < 10 else -1 for name in texts], dtype=int)
        if np.array_equal(as_numbers[codes], place):
            return ("",), None
    known: dict[str, int] = {"": 0}
    number = [known.setdefault("" if name == NO_ACTION else name, len(known)) for name in texts]
    if len(known) == 1:
        return ("",), None
    return tuple(known), np.array(number, dtype=np.uint32)[codes]


def _check_rates(file: DrnFile, kind: ModelType, body: Body, lines: Layout, matrix: Matrix) -> None:
    """Compare the exit rates in the lines of states with the sums of rates."""
    if not nature_of(kind).has_rates:
        return
    given = np.array([np.nan if text.rate is None else text.rate for text in body.states.parsed])
    rates = given[lines.state_codes]
    sums = np.add.reduceat(matrix.parts.values, matrix.parts.row_starts[:-1])
    off = np.abs(rates - sums) > SUM_TOLERANCE * sums
    off &= ~matrix.parts.deadlocks
    if off.any():
        state = first(off)
        message = f"the exit rate is {float(rates[state])!r}, and the rates sum to {float(sums[state])!r}"
        raise file.nth_error(state, b"s", message, "their sum")


def _labels(file: DrnFile, body: Body, lines: Layout) -> dict[str, Mask]:
    names = dict.fromkeys((*file.labels, *(name for text in body.states.parsed for name in text.labels)))
    return {
        name: np.array([name in text.labels for text in body.states.parsed], dtype=np.bool_)[lines.state_codes]
        for name in names
    }


def _rewards(names: list[str], body: Body, lines: Layout, matrix: Matrix) -> dict[str, Rewards]:
    found: dict[str, Rewards] = {}
    of_states = np.array([text.rewards for text in body.states.parsed]).reshape(len(body.states), len(names))
    of_actions = np.array([text.rewards for text in body.actions.parsed]).reshape(len(body.actions), len(names))
    rows = _rows(lines, matrix.parts.places, matrix.type)
    for number, name in enumerate(names):
        state: Floats | None = of_states[:, number][lines.state_codes]
        choice: Floats | None = np.zeros(len(matrix.parts.row_starts) - 1)
        assert state is not None
        assert choice is not None
        choice[rows] = of_actions[:, number][lines.action_codes]
        if nature_of(matrix.type).has_rates:
            choice *= np.add.reduceat(matrix.parts.values, matrix.parts.row_starts[:-1])
        unnamed = name if name or "" not in found else f"#{number + 1}"
        found[unnamed] = Rewards(state=state if state.any() else None, choice=choice if choice.any() else None)
    return found
