"""The values of variables in a ``.umb`` file: bit fields, one after the other, the first in the lowest bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.states import PackedStates
from .fields import BadField, as_int, as_list, as_object, as_text, get, one_of
from .tar import Bytes

__all__ = ["read_valuations"]

WORD = 64
MOST_BITS = 1 << 20  # of a state
_TYPES = ("bool", "int", "uint", "double", "rational", "string")
_BLOCK = 1 << 18  # states unpacked at a time


@dataclass(frozen=True)
class _Field:
    name: str
    type: str
    place: int
    bits: int
    optional: bool
    offset: int


def read_valuations(
    description: Any, data: Bytes, n_states: int, *, one_class: bool
) -> tuple[PackedStates | None, list[str]]:
    """The states, and what to say of variables that a model of Galton does not hold."""
    classes = as_list(get(as_object(description, "valuations"), "classes"), "classes")
    if len(classes) != 1 or not one_class:
        return None, ["states of several classes have no common variables; their values are left out"]
    fields, size = _fields(as_list(get(as_object(classes[0], "a class"), "variables"), "variables"))
    if size % 8 or len(data) != n_states * size // 8:
        raise BadField(f"valuations.bin has {len(data):,} bytes, not {size} bits for each of {n_states:,} states")
    columns: dict[str, npt.NDArray[Any]] = {}
    told = []
    for field in fields:
        if field.name in columns:
            raise BadField(f"the variable {field.name!r} is there twice")
        column = _column(data.reshape(n_states, size // 8), field) if field.type in ("bool", "int", "uint") else None
        if column is None:
            told.append(f"the variable {field.name!r} is no whole number of 32 bits in all states; it is left out")
        else:
            columns[field.name] = column
    try:
        return PackedStates.from_columns(columns) if columns else None, told
    except ValueError as error:
        return None, [*told, f"{error}; the values of variables are left out"]


def _fields(variables: list[Any]) -> tuple[list[_Field], int]:
    found: list[_Field] = []
    place = 0
    for variable in variables:
        about = as_object(variable, "a variable")
        if "padding" in about:
            place += as_int(about["padding"], "padding", 0, MOST_BITS)
            continue
        name = as_text(get(about, "name"), "name")
        type = as_object(get(about, "type"), f"the type of {name!r}")
        kind = one_of(get(type, "type"), _TYPES, f"the type of {name!r}")
        bits = as_int(type.get("size", {"bool": 1, "rational": 128}.get(kind, 64)), "size", 1, MOST_BITS)
        optional = about.get("is-optional", False)
        if not isinstance(optional, bool):
            raise BadField("is-optional should be true or false")
        offset = as_int(about.get("offset", 0), "offset", -(2**63), 2**63 - 1)
        found.append(_Field(name, kind, place, bits, optional, offset))
        place += bits + optional
        if place > MOST_BITS:
            raise BadField(f"a state has more than {MOST_BITS:,} bits")
    return found, place


def _column(records: Bytes, field: _Field) -> npt.NDArray[Any] | None:
    """The values of a variable; None where they are not there in all states, or not within 32 bits."""
    if field.bits > WORD:
        return None
    found: npt.NDArray[Any] = np.empty(len(records), dtype=np.bool_ if field.type == "bool" else np.int64)
    for start in range(0, len(records), _BLOCK):
        part = records[start : start + _BLOCK]
        place = field.place
        if field.optional:
            if not (_bits(part, place, 1) == 1).all():
                return None
            place += 1
        codes = _bits(part, place, field.bits)
        if field.type == "bool":
            found[start : start + _BLOCK] = codes != 0
            continue
        values = _signed(codes, field.bits) if field.type == "int" else codes.view(np.int64)
        if field.type == "uint" and (values < 0).any():
            return None
        low, high = int(values.min()) + field.offset, int(values.max()) + field.offset
        if low < -(2**31) or high >= 2**31:
            return None
        found[start : start + _BLOCK] = values + field.offset
    return found if field.type == "bool" else found.astype(np.int32)


def _bits(records: Bytes, place: int, bits: int) -> npt.NDArray[np.uint64]:
    """At most 64 bits of each record from a place on."""
    low, high = place // 8, -(-(place + bits) // 8)  # the bytes they lie in: at most 9
    padded = np.zeros((len(records), 16), dtype=np.uint8)
    padded[:, : high - low] = records[:, low:high]
    words = padded.view("<u8")
    shift = place % 8
    found = words[:, 0] >> np.uint64(shift)
    if shift + bits > WORD:
        found = found | (words[:, 1] << np.uint64(WORD - shift))
    return found & np.uint64((1 << bits) - 1)


def _signed(codes: npt.NDArray[np.uint64], bits: int) -> npt.NDArray[np.int64]:
    shift = np.int64(WORD - bits)
    return (codes.view(np.int64) << shift) >> shift
