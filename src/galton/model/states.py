"""What the numbers of a model's states mean.

A model made from a program keeps every state as the explorer left it, packed in a few 64-bit words, and unpacks a
valuation only when someone looks at it: ten million states of eleven variables are 80 MB, not 10 GB of Python objects.
A model made from a Python function keeps the function's own objects.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from ..device.arrays import namespace

Words = npt.NDArray[np.uint64]
Column = npt.NDArray[np.int32] | npt.NDArray[np.bool_]

_BLOCK = 1 << 20  # rows unpacked at a time: bounds the temporary 64-bit arrays to a few megabytes


class State(Mapping[str, int | bool]):
    """The values of the variables in one state: a mapping that cannot be changed, with the variables as attributes.

    >>> state = State({"s": 7, "d": 6})
    >>> state
    (s=7, d=6)
    >>> state.d, state["s"], state == {"s": 7, "d": 6}
    (6, 7, True)

    A variable called like a method of a mapping (``items``, ``get`` …) is reached with brackets only.
    """

    __slots__ = ("_values",)
    _values: dict[str, int | bool]

    def __init__(self, values: Mapping[str, int | bool]):
        object.__setattr__(self, "_values", dict(values))

    def __getitem__(self, name: str) -> int | bool:
        return self._values[name]

    def __getattr__(self, name: str) -> int | bool:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"no variable {name!r}; there are {', '.join(self._values) or 'none'}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a state cannot be changed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        shown = (str(value).lower() if isinstance(value, bool) else value for value in self._values.values())
        return f"({', '.join(f'{name}={value}' for name, value in zip(self._values, shown, strict=True))})"

    def __eq__(self, other: object) -> bool:
        return self._values == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __reduce__(self) -> tuple[object, ...]:
        return State, (self._values,)


@dataclass(frozen=True, slots=True)
class Field:
    """Where a variable is in the packed words: ``((words[:, word] >> shift) & (2**bits - 1)) + low``.

    A variable with one possible value takes no bits; none takes more than 32. One that is ``left_out``, because nobody
    asks about it, has no value in any state.
    """

    name: str
    type: Literal["int", "bool"]
    low: int
    word: int
    shift: int
    bits: int
    left_out: bool = False

    @property
    def mask(self) -> int:
        """The ones of this field, at its place in the word."""
        return ((1 << self.bits) - 1) << self.shift

    def decode(self, word: int) -> int | bool:
        """The value in one word."""
        value = ((word & self.mask) >> self.shift) + self.low
        return bool(value) if self.type == "bool" else value


@dataclass(frozen=True, eq=False, repr=False)
class PackedStates:
    """States as bit fields.

    Parameters
    ----------
    fields
        One per variable, in the order of declaration.
    words
        ``(states, words)`` array, C-contiguous. The explorers sort the rows (word 0 most significant); models read
        from files keep the order of the file.

    >>> states = PackedStates.from_columns({"s": [0, 0, 1], "up": [False, True, True]})
    >>> states[2], states.find(s=0, up=True), states.column("s").tolist()
    ((s=1, up=true), 1, [0, 0, 1])
    """

    fields: tuple[Field, ...]
    words: Words

    @classmethod
    def from_columns(cls, columns: Mapping[str, npt.ArrayLike]) -> PackedStates:
        """Pack one array of integers or Booleans per variable, the first variable in the most significant bits."""
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        fields, word, free = [], 0, 64
        for name, column in arrays.items():
            is_bool = column.dtype == np.bool_
            bounded = not is_bool and len(column) > 0
            low, high = (int(column.min()), int(column.max())) if bounded else (0, 1)
            bits = (high - low).bit_length()
            if bits > 32:
                raise ValueError(f"variable {name!r} ranges over {low}..{high}, more than 32 bits hold")
            if bits > free:
                word, free = word + 1, 64
            free -= bits
            fields.append(Field(name, "bool" if is_bool else "int", low, word, free, bits))
        count = len(next(iter(arrays.values()))) if arrays else 0
        words = np.zeros((count, word + 1), dtype=np.uint64)
        for field, column in zip(fields, arrays.values(), strict=True):
            if field.bits:
                codes = (column.astype(np.int64) - field.low).astype(np.uint64)
                words[:, field.word] |= codes << np.uint64(field.shift)
        return cls(tuple(fields), words)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in order, without those that were left out."""
        return tuple(field.name for field in self._told)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the variables that were left out, in order."""
        return tuple(field.name for field in self.fields if field.left_out)

    @property
    def _told(self) -> Iterator[Field]:
        return (field for field in self.fields if not field.left_out)

    @property
    def nbytes(self) -> int:
        """Bytes of the words."""
        return self.words.nbytes

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, index: SupportsIndex) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> PackedStates: ...
    def __getitem__(self, index: SupportsIndex | slice) -> State | PackedStates:
        if isinstance(index, slice):
            return PackedStates(self.fields, np.ascontiguousarray(self.words[index]))
        words = self.words[index.__index__()].tolist()
        return State({field.name: field.decode(words[field.word]) for field in self._told})

    def __iter__(self) -> Iterator[State]:
        for start in range(0, len(self), 4096):
            for words in self.words[start : start + 4096].tolist():
                yield State({field.name: field.decode(words[field.word]) for field in self._told})

    def __repr__(self) -> str:
        return f"<{len(self)} states of ({', '.join(self.variables)})>"

    def describe(self, number: int) -> str:
        """A state as people read it."""
        return repr(self[number])

    def column(self, name: str) -> Column:
        """The values of one variable in all states: int32, or bool for a Boolean one."""
        field = self._field(name)
        column = namespace(self.words).full(len(self), field.low, dtype=np.int32)
        for start in range(0, len(self) if field.bits else 0, _BLOCK):
            part = (self.words[start : start + _BLOCK, field.word] & np.uint64(field.mask)) >> np.uint64(field.shift)
            column[start : start + _BLOCK] = part.astype(np.int64) + field.low
        found: Column = column.astype(np.bool_) if field.type == "bool" else column
        return found

    def find(self, state: Mapping[str, int | bool] | None = None, /, **values: int | bool) -> int:
        """The number of the state with these values; variables may be left out as long as one state matches.

        The search looks at every state, because the rows of a model read from a file may be in any order.
        """
        wanted = {**(state or {}), **values}
        masks, targets = [0] * self.words.shape[1], [0] * self.words.shape[1]
        for name, value in wanted.items():
            field = self._field(name)
            code = int(value) - field.low
            if not 0 <= code < 1 << field.bits:
                raise KeyError(self._nowhere(name, value))
            masks[field.word] |= field.mask
            targets[field.word] |= code << field.shift
        match = namespace(self.words).ones(len(self), dtype=np.bool_)
        for word, (mask, target) in enumerate(zip(masks, targets, strict=True)):
            if mask:
                match &= (self.words[:, word] & np.uint64(mask)) == np.uint64(target)
        found = np.flatnonzero(match)
        if len(found) == 1:
            return int(found[0])
        shown = ", ".join(f"{name}={value}" for name, value in wanted.items())
        if len(found) == 0:
            for name, value in wanted.items():
                if not np.any(self.column(name) == value):
                    raise KeyError(self._nowhere(name, value))
            raise KeyError(f"no state has {shown}: each of these values occurs, but not together")
        missing = ", ".join(name for name in self.variables if name not in wanted)
        advice = f"; give {missing} as well" if missing else ""
        raise KeyError(f"{len(found)} states have {shown or 'any values'}, the first is {found[0]}{advice}")

    def _field(self, name: str) -> Field:
        for field in self._told:
            if field.name == name:
                return field
        raise KeyError(f"no variable {name!r}; there are {', '.join(self.variables) or 'none'}")

    def _nowhere(self, name: str, value: int | bool) -> str:
        column = self.column(name)
        found = f"{name} is between {column.min()} and {column.max()}" if len(column) else "there are no states"
        return f"no state has {name}={value}; {found}"


@dataclass(frozen=True, eq=False, repr=False)
class ListedStates:
    """States that are Python objects, as a function made them: tuples, strings, named tuples, frozen dataclasses.

    ``variables`` names the parts of a state when all states are tuples of that length or objects with these
    attributes; a state that is a number has one name. None when a state has no parts to name.

    >>> states = ListedStates(None, ["heads", "tails"])
    >>> states[1], states.find("tails")
    ('tails', 1)
    >>> states = ListedStates(("x", "up"), [(0, True), (0, False)])
    >>> states.find((0, False)), states.find(up=True), states.column("up").tolist()
    (1, 0, [True, False])
    """

    variables: tuple[str, ...] | None
    states: Sequence[Hashable]

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        return {state: number for number, state in enumerate(self.states)}

    @property
    def nbytes(self) -> int:
        """Zero: Python does not tell what its objects weigh."""
        return 0

    def __len__(self) -> int:
        return len(self.states)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Hashable: ...
    @overload
    def __getitem__(self, index: slice) -> ListedStates: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Hashable | ListedStates:
        if isinstance(index, slice):
            return ListedStates(self.variables, self.states[index])
        return self.states[index.__index__()]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.states)

    def __repr__(self) -> str:
        return f"<{len(self)} states of ({', '.join(self.variables)})>" if self.variables else f"<{len(self)} states>"

    def __getstate__(self) -> dict[str, Any]:
        return {"variables": self.variables, "states": self.states}  # without the index: it is made again on demand

    def describe(self, number: int) -> str:
        """A state as people read it: numbers and tuples with the names of their parts."""
        state = self.states[number]
        if not self.variables or not isinstance(state, (int, np.generic, tuple)) or hasattr(state, "_fields"):
            return repr(state)
        parts = [_part(state, name, place) for place, name in enumerate(self.variables)]
        shown = (str(part).lower() if isinstance(part, (bool, np.bool_)) else str(part) for part in parts)
        return f"({', '.join(f'{name}={part}' for name, part in zip(self.variables, shown, strict=True))})"

    def column(self, name: str) -> npt.NDArray[Any]:
        """One part of every state, where the states have named parts."""
        if self.variables is None or name not in self.variables:
            raise KeyError(f"no variable {name!r}; there are {', '.join(self.variables or ()) or 'none'}")
        place = self.variables.index(name)
        parts = [_part(state, name, place) for state in self.states]
        if all(np.isscalar(part) for part in parts):
            return np.array(parts)
        column = np.empty(len(parts), dtype=np.object_)
        for number, part in enumerate(parts):  # a tuple is one object, not a row
            column[number] = part
        return column

    def find(self, state: Hashable = None, /, **values: object) -> int:
        """The number of a state: the object itself or, where states have variables, values that no other state has."""
        if values:
            return self._with_values(values)
        try:
            return self._index[state]
        except (KeyError, TypeError):
            example = f", for example {self.states[0]!r}" if self.states else ""
            raise KeyError(f"no state {state!r} among the {len(self)} states{example}") from None

    def _with_values(self, values: Mapping[str, object]) -> int:
        found = np.flatnonzero(np.all([self.column(name) == value for name, value in values.items()], axis=0))
        if len(found) == 1:
            return int(found[0])
        shown = ", ".join(f"{name}={value}" for name, value in values.items())
        if not len(found):
            raise KeyError(f"no state has {shown} among the {len(self)} states")
        raise KeyError(f"{len(found)} states have {shown}, the first is {self.states[int(found[0])]!r}")


def _part(state: Any, name: str, place: int) -> Any:
    """A part of a state; a number is its own only part."""
    if isinstance(state, tuple):
        return state[place]
    return state if isinstance(state, (int, float, np.generic)) else getattr(state, name)


States = PackedStates | ListedStates
