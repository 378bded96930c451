"""Writing Storm's explicit format (``.drn``): a line per state, per choice and per transition, one below the other.

Lines of the three kinds are made apart, as matrices of characters, and then put in order. The values of variables are
comments, as Storm writes them; Storm reads over them and Galton reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ..model.construct import Integers
from ..model.sparse import Model, ModelError, Rewards
from ..model.values import Floats
from .characters import BLOCK, Characters, beside, constant, integers, numbers, strings, value_characters
from .quotients import quotients
from .sta import valuations

NO_ACTION = "__NOLABEL__"
NAMED = "// Choices are named"  # without it, numbers are places among the choices of a state
LABELS = "// Labels:"  # all of them, in order: a label that holds nowhere is in no line below


def drn_text(model: Model) -> Iterator[bytes]:
    """A ``.drn`` file, in blocks."""
    yield _header(model)
    groups = model.row_groups
    entries = value_characters(model.values, exact=True)
    state_parts, action_parts = _States(model), _Actions(model)
    ends = model.row_starts[groups]  # where the transitions of each state begin
    low = 0
    while low < model.n_states:
        high = max(low + 1, int(np.searchsorted(ends, ends[low] + BLOCK, side="right")) - 1)
        rows = slice(int(groups[low]), int(groups[high]))
        places = slice(int(model.row_starts[rows.start]), int(model.row_starts[rows.stop]))
        targets = [constant("\t\t"), integers(model.columns[places]), constant(" : "), entries(places), constant("\n")]
        yield _in_order(
            (state_parts.lines(low, high), ends[low:high] + groups[low:high] + np.arange(low, high)),
            (action_parts.lines(rows), _action_places(model, low, high)),
            (beside(places.stop - places.start, targets), _entry_places(model, low, high)),
        )
        low = high


def _header(model: Model) -> bytes:
    lines = ["// Exported by Galton"]
    if _has_names(model):
        lines.append(NAMED)
    lines.append(f"{LABELS} {' '.join(label_text(name) for name in model.labels)}")
    lines += [f"@type: {model.type.upper()}", "@value_type: double", "@parameters", "", "@reward_models"]
    for name in model.rewards:
        if name.split() != [name] and name:
            raise ModelError(f"a .drn file cannot hold the rewards {name!r}, whose name has a space")
    lines += ["".join(f"{name} " for name in model.rewards)]
    lines += ["@nr_states", str(model.n_states), "@nr_choices", str(model.n_choices), "@model", ""]
    return "\n".join(lines).encode()


def _has_names(model: Model) -> bool:
    return model.choice_actions is not None and bool(model.choice_actions.any())


def label_text(name: str) -> str:
    """A label as it stands in a line: in quotes where it has a space."""
    if '"' in name or "\n" in name:
        raise ModelError(f"a .drn file cannot hold the label {name!r}, which has a quotation mark or a line break")
    return name if name.split() == [name] else f'"{name}"'


class _States:
    """The lines of states."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._rates = model.exit_rates if model.has_rates else None
        self._labels = [(label_text(name), mask) for name, mask in model.labels.items()]
        self._rewards = [rewards.state for rewards in model.rewards.values()]
        states = valuations(model) if model.states is not None else None
        self._variables = [] if states is None else [(name, states.column(name)) for name in states.variables]

    def lines(self, low: int, high: int) -> Characters:
        part = slice(low, high)
        parts = [constant("state "), integers(np.arange(low, high))]
        if self._rates is not None:
            parts += [constant(" !"), numbers(self._rates[part], exact=True)]
        parts += _reward_parts([None if array is None else array[part] for array in self._rewards], high - low)
        for name, mask in self._labels:
            parts.append(constant(f" {name}") * mask[part][:, None])
        parts.append(constant("\n"))
        for position, (name, column) in enumerate(self._variables):
            values = column[part]
            parts.append(constant("\t& " if position else "//["))
            if values.dtype == np.bool_:
                parts += [constant("!") * (values == 0)[:, None], constant(name)]
            else:
                parts += [constant(f"{name}="), integers(values)]
        parts += [constant("]\n")] if self._variables else []
        return beside(high - low, parts)


class _Actions:
    """The lines of choices."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._rewards = [choice_rewards(model, rewards) for rewards in model.rewards.values()]
        self._names: Characters | None = None
        if _has_names(model):
            for name in model.actions:
                if name.split() != [name] and name:
                    raise ModelError(f"a .drn file cannot hold the action {name!r}, whose name has a space")
            self._names = strings(name or NO_ACTION for name in model.actions)

    def lines(self, rows: slice) -> Characters:
        model, count = self._model, rows.stop - rows.start
        names: Characters
        if self._names is not None and model.choice_actions is not None:
            names = self._names[model.choice_actions[rows]]
        else:
            names = integers(_places_in_state(model, rows))
        parts = [constant("\taction "), names]
        parts += _reward_parts([None if array is None else array[rows] for array in self._rewards], count)
        return beside(count, [*parts, constant("\n")])


def choice_rewards(model: Model, rewards: Rewards) -> Floats | None:
    """What taking each choice earns in the mean; in a CTMC a jump, where a model has it per unit of time."""
    if rewards.choice is None or not model.has_rates:
        return rewards.choice
    return quotients(rewards.choice, model.exit_rates)


def _places_in_state(model: Model, rows: slice) -> Integers:
    numbers = np.arange(rows.start, rows.stop)
    if model.choice_starts is None:
        return np.zeros_like(numbers)
    states = np.searchsorted(model.choice_starts, numbers, side="right") - 1
    return numbers - model.choice_starts[states]


def _reward_parts(arrays: Sequence[Floats | None], count: int) -> list[Characters]:
    if not arrays:
        return []
    parts = []
    for position, array in enumerate(arrays):
        parts.append(constant(", " if position else " ["))
        parts.append(constant("0") if array is None else numbers(array, exact=True))
    return [*parts, constant("]")]


def _action_places(model: Model, low: int, high: int) -> Integers:
    """The line of each choice in the file, counted from the first state: behind all states, choices, transitions."""
    groups = model.row_groups
    rows = np.arange(groups[low], groups[high])
    return model.row_starts[rows] + rows + np.repeat(np.arange(low, high), np.diff(groups[low : high + 1])) + 1


def _entry_places(model: Model, low: int, high: int) -> Integers:
    groups = model.row_groups
    lengths = np.diff(model.row_starts[groups[low] : groups[high] + 1])
    first = np.repeat(_action_places(model, low, high) - model.row_starts[groups[low] : groups[high]] + 1, lengths)
    return first + np.arange(model.row_starts[groups[low]], model.row_starts[groups[high]])


def _in_order(*kinds: tuple[Characters, npt.NDArray[np.integer]]) -> bytes:
    """The text of lines of several kinds, each with its place among all."""
    base = min(int(places[0]) for _, places in kinds)
    lengths = np.zeros(sum(len(lines) for lines, _ in kinds), dtype=np.int64)
    flat = []
    for lines, places in kinds:
        filled = lines != 0
        lengths[places - base] = filled.sum(axis=1)
        flat.append(lines[filled])
    starts = np.concatenate(([0], np.cumsum(lengths)))
    text = np.empty(int(starts[-1]), dtype=np.uint8)
    for (_, places), characters in zip(kinds, flat, strict=True):
        mine = lengths[places - base]
        offsets = starts[places - base] - (np.cumsum(mine) - mine)
        text[np.repeat(offsets, mine) + np.arange(len(characters))] = characters
    return bytes(text.data)
