"""Reading the unified Markov binary format (``.umb``) that PRISM and Storm share: https://github.com/pmc-tools/umb.

The index is looked at before anything else, and each array has to have the length that it promises. What the format can
say and a model of Galton cannot is refused where it changes the meaning, and told as a warning where it does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..lang.model_types import ModelType, nature_of
from ..model.construct import Assembled, Integers, assemble, find_entries, transition_rewards
from ..model.sparse import ActionCodes, Mask, Model, ModelError, Rewards, row_sums
from ..model.validation import first
from ..model.values import Floats, Values
from .errors import FileError
from .fields import BadField, as_int, as_list, as_object, as_text, get, one_of, parse_json, shown
from .matrix import Matrix, complete
from .tar import Bytes, read_tar
from .umb_states import read_valuations
from .umb_write import FORMAT_VERSION, UNNAMED

__all__ = ["read_umb"]

MOST = 2**63 - 1
MOST_STATES = 2**31 - 1
_ENTITIES = ("states", "choices", "branches")


def read_umb(path: Path, *, fix_deadlocks: bool = True) -> Model:
    """Read a model from a ``.umb`` file."""
    try:
        members = read_tar(path)
        if "index.json" not in members:
            raise BadField("there is no index.json")
        index = as_object(parse_json(members["index.json"].tobytes()), "index.json")
        return _Reader(path, members, index).model(fix_deadlocks)
    except BadField as error:
        raise FileError(str(error), path) from None


@dataclass
class _Reader:
    """A file that is being read, and what has to be told about it."""

    path: Path
    members: dict[str, Bytes]
    index: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=lambda: {"index.json"})

    def model(self, fix_deadlocks: bool) -> Model:
        if as_int(get(self.index, "format-version"), "format-version", 0, MOST) > FORMAT_VERSION:
            raise BadField(f"Galton reads version {FORMAT_VERSION} of this format, and this is a later one")
        self.system = as_object(get(self.index, "transition-system"), "transition-system")
        self.type = self._type()
        self.sizes = {name: self._size(f"#{name}") for name in _ENTITIES}
        if not 1 <= self.sizes["states"] <= MOST_STATES or self.sizes["choices"] > MOST_STATES:
            raise BadField(f"a model has 1 to {MOST_STATES} states and choices, not {self.sizes['states']}")
        raw = self._matrix()
        parts = assemble(self.type, self.sizes["states"], raw.rows, raw.targets, raw.values, choice_starts=raw.groups)
        actions, codes = self._actions(raw, parts)
        matrix = Matrix(self.type, self.sizes["states"], parts, actions, codes)
        annotations = as_object(self.index.get("annotations", {}), "annotations")
        labels = self._labels(as_object(annotations.get("aps", {}), "aps"))
        rewards = self._rewards(as_object(annotations.get("rewards", {}), "rewards"), raw, parts)
        states = None
        described = as_object(self.index.get("valuations", {}), "valuations")
        if "states" in described and (found := self._take("valuations/states/valuations.bin")) is not None:
            self.used |= {name for name in self.members if name.startswith("valuations/states/")}
            whole = "valuations/states/valuation-to-class.bin" not in self.members
            states, told = read_valuations(described["states"], found, self.sizes["states"], one_class=whole)
            self.warnings += told
        self._warn_of_others()
        return complete(matrix, labels, rewards, states, fix_deadlocks=fix_deadlocks, warnings=tuple(self.warnings))

    # The index.

    def _type(self) -> ModelType:
        time = one_of(get(self.system, "time"), ("discrete", "stochastic", "urgent-stochastic"), "time")
        players = as_int(get(self.system, "#players"), "#players", 0, 2**32 - 1)
        if as_int(self.system.get("#observations", 0), "#observations", 0, MOST):
            raise BadField("this model is partially observable; Galton reads DTMCs, CTMCs and MDPs")
        kinds: dict[tuple[str, int], ModelType] = {
            ("discrete", 0): "dtmc",
            ("discrete", 1): "mdp",
            ("stochastic", 0): "ctmc",
        }
        if (time, players) not in kinds:
            raise BadField(f"time is {time} and #players {players}; Galton reads DTMCs, CTMCs and MDPs")
        return kinds[time, players]

    def _size(self, name: str) -> int:
        return as_int(get(self.system, name), name, 0, MOST)

    # Arrays.

    def _take(self, name: str) -> Bytes | None:
        self.used.add(name)
        return self.members.get(name)

    def _array(self, name: str, dtype: str, count: int) -> npt.NDArray[Any] | None:
        """So many numbers from a member; None where there is no such member."""
        data = self._take(name)
        if data is None:
            return None
        size = np.dtype(dtype).itemsize
        if len(data) != count * size:
            raise BadField(f"{name} has {len(data):,} bytes, not {count:,} times {size}")
        return np.frombuffer(data, dtype=dtype)

    def _starts(self, name: str, count: int, total: int) -> npt.NDArray[np.int64]:
        """Where the members of each group begin; without a file, each group has one."""
        found = self._array(name, "<u8", count + 1)
        if found is None:
            if count != total:
                raise BadField(f"there is no {name}, and {count:,} are not {total:,}")
            return np.arange(count + 1)
        if found[0] != 0 or found[-1] != total or (found[1:] < found[:-1]).any():
            raise BadField(f"{name} does not rise from 0 to {total:,}")
        return found.astype(np.int64)

    def _bits(self, name: str, count: int) -> Mask:
        data = self._take(name)
        if data is None:
            return np.zeros(count, dtype=np.bool_)
        if len(data) not in (-(-count // 64) * 8, -(-count // 8)):
            raise BadField(f"{name} has {len(data):,} bytes for {count:,} truth values")
        unpacked: Mask = np.unpackbits(data, count=count, bitorder="little").view(np.bool_)
        return unpacked

    def _numbers(self, name: str, type: Any, count: int) -> Floats | None:
        """Numbers of a type of the index, as doubles."""
        described = as_object(type, f"the type of {name}")
        kind = one_of(get(described, "type"), ("double", "rational", "int", "uint"), f"the type of {name}")
        size = as_int(described.get("size", 128 if kind == "rational" else 64), "size", 1, 2**20)
        if kind == "rational":
            return self._rationals(name, size, count)
        if size != 64:
            raise BadField(f"{name} has numbers of {size} bits, not 64")
        found = self._array(name, {"double": "<f8", "int": "<i8", "uint": "<u8"}[kind], count)
        if found is not None and not np.isfinite(found).all():
            raise BadField(f"{name} has a number that is not finite, at {first(~np.isfinite(found)):,}")
        return None if found is None else np.ascontiguousarray(found, dtype=np.float64)

    def _rationals(self, name: str, size: int, count: int) -> Floats | None:
        if size % 128:
            raise BadField(f"{name} has fractions of {size} bits, which is no multiple of 128")
        found = self._array(name, f"V{size // 8}", count)
        if found is None:
            return None
        half, raw = size // 16, found.tobytes()
        values = np.empty(count)
        known: dict[bytes, float] = {}
        for place in range(count):
            text = raw[place * 2 * half : (place + 1) * 2 * half]
            if text not in known:
                below = int.from_bytes(text[half:], "little")
                if below == 0:
                    raise BadField(f"{name} has a fraction over 0, at {place:,}")
                try:
                    known[text] = float(Fraction(int.from_bytes(text[:half], "little", signed=True), below))
                except OverflowError:
                    raise BadField(f"{name} has a fraction that is too large, at {place:,}") from None
            values[place] = known[text]
        return values

    # The matrix.

    def _matrix(self) -> _Raw:
        n_states, n_choices, n_branches = (self.sizes[name] for name in _ENTITIES)
        groups = self._starts("state-to-choices.bin", n_states, n_choices)
        starts = self._starts("choice-to-branches.bin", n_choices, n_branches)
        targets = self._array("branch-to-target.bin", "<u8", n_branches)
        if targets is None:
            raise BadField("there is no branch-to-target.bin")
        if len(targets) and targets.max() >= n_states:
            place = first(targets >= n_states)
            raise BadField(f"branch-to-target.bin: branch {place:,} leads to {targets[place]}, which is no state")
        values = self._probabilities(starts)
        choices = np.repeat(np.arange(n_choices), np.diff(starts))
        raw = _Raw(choices, targets.astype(np.int32), values, groups, choices)
        if nature_of(self.type).has_choices:
            return raw
        sizes = np.diff(groups)
        if (sizes > 1).any():
            raise BadField(f"state {first(sizes > 1):,} has several choices, and this is a {self.type}")
        state_of_choice = np.repeat(np.arange(n_states), sizes)
        rates = self._exit_rates(n_states)
        rows = state_of_choice[choices]
        return _Raw(
            rows, raw.targets, values if rates is None else values * rates[rows], None, choices, state_of_choice
        )

    def _probabilities(self, starts: npt.NDArray[np.int64]) -> Floats:
        n_branches = self.sizes["branches"]
        found = None
        if "branch-probability-type" in self.system:
            found = self._numbers("branch-to-probability.bin", self.system["branch-probability-type"], n_branches)
            if found is None and n_branches:
                raise BadField("there is no branch-to-probability.bin")
        if found is None:
            if (np.diff(starts) > 1).any():
                raise BadField("there are no probabilities, and a choice has several branches")
            return np.ones(n_branches)
        if len(found) and found.min() < 0:
            raise BadField(f"branch-to-probability.bin: branch {first(found < 0):,} has a negative probability")
        return found

    def _exit_rates(self, n_states: int) -> Floats | None:
        if not nature_of(self.type).has_rates:
            return None
        rates = self._numbers("state-to-exit-rate.bin", get(self.system, "exit-rate-type"), n_states)
        if rates is None or rates.min() < 0:
            raise BadField("there are no exit rates" if rates is None else "an exit rate is negative")
        return rates

    # What goes with it.

    def _actions(self, raw: _Raw, parts: Assembled) -> tuple[tuple[str, ...], ActionCodes | None]:
        names, codes = self._named("choices", self.sizes["choices"])
        if codes is None:
            names, per_branch = self._named("branches", self.sizes["branches"])
            if per_branch is None:
                return ("",), None
            codes = np.zeros(self.sizes["choices"], dtype=np.uint32)
            codes[raw.choices] = per_branch
            if not np.array_equal(codes[raw.choices], per_branch):
                self.warnings.append("the branches of a choice have several actions; actions are left out")
                return ("",), None
        known: dict[str, int] = {"": 0}
        number = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.uint32)
        moved = np.zeros(len(parts.row_starts) - 1, dtype=np.uint32)
        moved[raw.rows_of_choices(parts)] = number[codes]
        return tuple(known), moved.astype(np.uint16) if len(known) <= 1 << 16 else moved

    def _named(self, whose: str, count: int) -> tuple[list[str], npt.NDArray[np.uint32] | None]:
        """The names of the actions of choices or branches, and which each has; None where they have none."""
        known = as_int(
            self.system.get(f"#{whose[:-1] if whose == 'choices' else 'branch'}-actions", 0), "#actions", 0, 2**32 - 1
        )
        if not known:
            return [], None
        codes = self._array(f"actions/{whose}/values.bin", "<u4", count)
        if codes is None:
            codes = np.zeros(count, dtype=np.uint32)
        if len(codes) and codes.max() >= known:
            raise BadField(f"actions/{whose}/values.bin has number {codes.max()}, and there are {known} actions")
        names = self._strings(f"actions/{whose}", known)
        if names is None:
            if known > max(1 << 16, count):
                raise BadField(f"{known} actions for {count:,} {whose}")
            names = [f"a{number}" for number in range(known)]
        return names, codes

    def _strings(self, folder: str, count: int) -> list[str] | None:
        text = self._take(f"{folder}/strings.bin")
        mapping = self._take(f"{folder}/string-mapping.bin")
        if text is None or mapping is None:
            return None
        places = self._array(f"{folder}/string-mapping.bin", "<u8", count + 1)
        assert places is not None
        if places[0] != 0 or places[-1] != len(text) or (places[1:] < places[:-1]).any():
            raise BadField(f"{folder}/string-mapping.bin does not rise from 0 to {len(text):,}")
        raw = text.tobytes()
        try:
            return [raw[a:b].decode() for a, b in zip(places[:-1].tolist(), places[1:].tolist(), strict=True)]
        except UnicodeDecodeError:
            raise BadField(f"{folder}/strings.bin is not UTF-8") from None

    def _labels(self, described: dict[str, Any]) -> dict[str, Mask]:
        n_states = self.sizes["states"]
        found = {"init": self._bits("state-is-initial.bin", n_states)}
        if not found["init"].any():
            raise BadField("no state is initial (state-is-initial.bin)")
        for folder, text in described.items():
            about = as_object(text, folder)
            name = _name(folder, about)
            if name in found:
                raise BadField(f"the label {shown(name)} is there twice")
            found[name] = self._bits(f"annotations/aps/{folder}/states/values.bin", n_states)
        return found

    def _rewards(self, described: dict[str, Any], raw: _Raw, parts: Assembled) -> dict[str, Rewards]:
        found: dict[str, Rewards] = {}
        for folder, text in described.items():
            about = as_object(text, folder)
            name = "" if folder == UNNAMED and "alias" not in about else _name(folder, about)
            if name in found:
                raise BadField(f"the rewards {shown(name)} are there twice")
            arrays: dict[str, Floats | None] = {}
            for part in as_list(get(about, "applies-to"), "applies-to"):
                one_of(part, _ENTITIES, "applies-to")
                place = f"annotations/rewards/{folder}/{part}/values.bin"
                arrays[part] = self._numbers(place, get(about, "type"), self.sizes[part])
            found[name] = raw.rewards(arrays, parts, self.type)
        return found

    def _warn_of_others(self) -> None:
        others = sorted({"/".join(name.split("/")[:3]) for name in self.members.keys() - self.used})
        if others:
            more = f" and {len(others) - 5} more" if len(others) > 5 else ""
            self.warnings.append(f"Galton does not use {', '.join(others[:5])}{more} of {self.path.name}")


@dataclass(frozen=True)
class _Raw:
    """The branches of a file as entries of a matrix."""

    rows: npt.NDArray[np.int64]
    targets: Integers
    values: Floats
    groups: npt.NDArray[np.int64] | None
    choices: npt.NDArray[np.int64]  # of each branch
    state_of_choice: npt.NDArray[np.int64] | None = None  # in a chain

    def rows_of_choices(self, parts: Assembled) -> Integers | slice:
        """The row that each choice of the file has in the model."""
        if self.state_of_choice is not None:
            return self.state_of_choice
        return slice(None) if parts.places is None else parts.places

    def rewards(self, arrays: dict[str, Floats | None], parts: Assembled, type: ModelType) -> Rewards:
        """One reward structure; rewards of choices and branches are those of taking them."""
        state, choices, branches = (arrays.get(part) for part in _ENTITIES)
        state = None if state is None or not state.any() else state
        n_rows = len(parts.row_starts) - 1
        if branches is not None and branches.any():
            each = branches if choices is None else branches + choices[self.choices]
            return transition_rewards(parts, self._of_entries(each, parts), state)
        if choices is None or not choices.any():
            return Rewards(state=state)
        choice = np.zeros(n_rows)
        choice[self.rows_of_choices(parts)] = choices
        if nature_of(type).has_rates:
            choice *= row_sums(parts.row_starts, Values(plain=parts.values))
        return Rewards(state=state, choice=choice)

    def _of_entries(self, rewards: Floats, parts: Assembled) -> Floats:
        """The reward of each matrix entry; where several branches became one, their mean."""
        if not parts.deadlocks.any() and np.array_equal(self.targets, parts.columns):
            return rewards  # nothing was moved
        rows = self.rows if parts.places is None else parts.places[self.rows]
        n_columns = len(parts.deadlocks)
        kept = self.values > 0
        entries = find_entries(parts, n_columns, rows[kept], self.targets[kept])
        if (entries < 0).any():
            raise ModelError("a reward for a branch that is not there")
        found = np.zeros(len(parts.columns))
        if np.bincount(entries, minlength=len(found)).max() == 1:
            found[entries] = rewards[kept]
            return found
        sums, weights = (
            np.bincount(entries, weights=each, minlength=len(found))
            for each in (rewards[kept] * self.values[kept], self.values[kept])
        )
        return np.divide(sums, weights, out=found, where=weights > 0)


def _name(folder: str, about: dict[str, Any]) -> str:
    return as_text(about["alias"], "alias") if "alias" in about else folder
