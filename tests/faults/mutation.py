"""Small damage to texts and files, the same for the same seed: what a slip, a bad disk or a stranger does to them."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

INTERESTING = (
    "0",
    "-1",
    "1e308",
    "1e-320",
    "1e12",
    "NaN",
    "Infinity",
    "9" * 25,
    "4294967296",
    "null",
    "true",
    "[]",
    "{}",
    '""',
)
WORDS = (
    "int",
    "double",
    "true",
    "module",
    "init",
    "[",
    "]",
    "(",
    ")",
    "..",
    ":",
    "->",
    "'",
    '"',
    "=",
    "&",
    "?",
    "//",
    "\x00",
)


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """A byte or a few changed, taken away, put in, doubled; or the end cut off."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        place = rng.randrange(len(changed) + 1)
        match rng.randrange(6):
            case 0 if place < len(changed):
                changed[place] = rng.randrange(256)
            case 1 if place < len(changed):
                changed[place] ^= 1 << rng.randrange(8)
            case 2:
                del changed[place : place + rng.choice((1, 1, 4, 32))]
            case 3:
                changed[place:place] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 4))))
            case 4:
                other = rng.randrange(len(changed) + 1)
                changed[place:place] = changed[other : other + 16]
            case _ if rng.random() < 0.1:
                del changed[place:]
    return bytes(changed)


def mutated_text(text: str, rng: random.Random) -> str:
    """A word or a number replaced by one that somebody might write there; or bytes changed, as far as it stays text."""
    if rng.random() < 0.5:
        return mutated_bytes(text.encode(), rng).decode(errors="replace")
    start = rng.randrange(len(text) + 1)
    piece = rng.choice((*INTERESTING, *WORDS, "1" * 5000))
    return text[:start] + piece + text[start + rng.choice((0, 1, len(piece))) :]


def mutated_json(text: str, rng: random.Random) -> str:
    """One value somewhere inside replaced by another, or a name gone; or the text changed as any other."""
    if rng.random() < 0.3:
        return mutated_text(text, rng)
    found = json.loads(text)
    places = list(_places(found))
    owner, key = rng.choice(places)
    if isinstance(owner, dict) and rng.random() < 0.2:
        del owner[key]
    else:
        owner[key] = rng.choice([json.loads(value) for value in INTERESTING] + [owner[rng.choice(list(_keys(owner)))]])
    return json.dumps(found)


def _keys(owner: Any) -> Any:
    return owner if isinstance(owner, dict) else range(len(owner))


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    for key in _keys(part):
        yield part, key
        if isinstance(part[key], (dict, list)):
            yield from _places(part[key])


def mutated_archive(data: bytes, rng: random.Random) -> bytes:
    """An array of a NumPy archive changed, or gone, or of another type; or its bytes, or those of the archive."""
    if rng.random() < 0.3:
        return mutated_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    how: Callable[[bytes, random.Random], bytes | None] = rng.choice((_as_bytes, _as_numbers, _as_type, _gone))
    changed = how(members.pop(name), rng)
    if changed is not None:
        members[name] = changed
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return written.getvalue()


def _as_bytes(content: bytes, rng: random.Random) -> bytes:
    return mutated_bytes(content, rng)


def _as_numbers(content: bytes, rng: random.Random) -> bytes:
    array = np.load(io.BytesIO(content)).copy()
    if array.dtype.kind in "iufb" and array.size:
        flat = array.reshape(-1)
        value = rng.choice((-1, 0, 1, 2, 255, 65535, 2**31 - 1, -(2**31), float("nan"), float("inf")))
        with np.errstate(all="ignore"):
            flat[rng.randrange(flat.size)] = np.asarray([value]).astype(array.dtype)[0]
    return _saved(array)


def _as_type(content: bytes, rng: random.Random) -> bytes:
    array = np.load(io.BytesIO(content))
    match rng.randrange(4):
        case 0:
            return _saved(array.reshape(-1)[: rng.randrange(array.size + 1)])
        case 1:
            return _saved(np.atleast_2d(array))
        case 2 if array.dtype.kind in "iufb":
            return _saved(array.astype(rng.choice((">i8", "f4", "u8", "i2", "c16"))))
    return _saved(np.array([{"pickled": True}], dtype=object), pickled=True)


def _gone(content: bytes, rng: random.Random) -> None:
    return None


def _saved(array: np.ndarray[Any, Any], pickled: bool = False) -> bytes:
    written = io.BytesIO()
    np.save(written, array, allow_pickle=pickled)
    return written.getvalue()
