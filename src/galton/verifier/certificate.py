"""What a certificate holds, and reading one from a file that nobody vouches for.

``docs/certificates.md`` describes the format. A file is JSON or, for large models, a zip archive with the same JSON as
``certificate.json`` and its long lists as plain arrays beside it. Nothing in a file is believed: every type, every
range and every length is looked at here, and no more is read of an archive than the model at hand can need.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..io.output import replacing
from ..lang.source import GaltonError
from .numbers import Exact, Ints, Vector, parsed, printed

__all__ = ["Bound", "Certificate", "CertificateError", "Side", "read_certificate"]

FORMAT, VERSION = "galton certificate", 1
MEMBER = "certificate.json"
MOST_JSON = 1 << 24  # bytes of the JSON in an archive, where the long lists are elsewhere
MANY = 5_000  # states from which on the lists are arrays

Side = Literal["lower", "upper"]


class CertificateError(GaltonError):
    """A file that is no certificate."""


@dataclass(frozen=True, eq=False)
class Bound:
    """What proves the bounds of one side, an entry per state.

    Attributes
    ----------
    values
        The bounds.
    ranks, layers
        Numbers that grow smaller on the way to somewhere; see :mod:`galton.verifier.conditions`.
    choices
        For an MDP, where some strategy has to be shown: which choice of each state, counted from 0.
    biases
        For long-run averages.
    """

    values: Vector
    ranks: Ints | None = None
    layers: Ints | None = None
    choices: Ints | None = None
    biases: Vector | None = None

    def parts(self) -> dict[str, Vector | Ints]:
        """What there is, by name."""
        found = {name: getattr(self, name) for name in ("values", "ranks", "layers", "choices", "biases")}
        return {name: part for name, part in found.items() if part is not None}


@dataclass(frozen=True, eq=False)
class Certificate:
    """A claim about a property of a model, and what proves it.

    ``lower`` and ``upper`` hold the value in all initial states; ``holds`` is there where the property is true or
    false. ``bounds`` is empty where the verifier computes the value itself, as for a number of steps.
    """

    prop: str
    constants: dict[str, bool | int | float]
    type: str
    states: int
    choices: int
    transitions: int
    lower: Exact
    upper: Exact
    holds: bool | None = None
    bounds: dict[Side, Bound] = field(default_factory=dict)

    def write(self, path: str | Path) -> None:
        """Write a file for ``galton verify``."""
        content = self.encoded()
        with replacing(path, "binary") as file:
            file.write(content)

    def encoded(self) -> bytes:
        """The bytes of the file: JSON, or an archive where there are many states and all numbers are doubles."""
        arrays: dict[str, bytes] = {}
        vectors = [v for bound in self.bounds.values() for v in (bound.values, bound.biases) if v is not None]
        as_arrays = self.states > MANY and all(vector.is_double.all() for vector in vectors)
        bounds: dict[str, dict[str, object]] = {}
        for side, bound in self.bounds.items():
            bounds[side] = {}
            for name, part in bound.parts().items():
                if as_arrays:
                    array = part.near.astype("<f8") if isinstance(part, Vector) else part.astype("<i4")
                    arrays[f"{side}.{name}.bin"] = array.tobytes()
                    bounds[side][name] = "array"
                else:
                    bounds[side][name] = [printed(x) for x in part] if isinstance(part, Vector) else part.tolist()
        text = json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "property": self.prop,
                "constants": self.constants,
                "model": {name: getattr(self, name) for name in ("type", "states", "choices", "transitions")},
                "lower": printed(self.lower),
                "upper": printed(self.upper),
                "holds": self.holds,
                "bounds": bounds,
            },
            indent=None if self.states > MANY else 1,
        ).encode()
        if not as_arrays:
            return text
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, raw in {MEMBER: text, **arrays}.items():
                archive.writestr(name, raw)
        return packed.getvalue()


def read_certificate(path: str | Path, states: int) -> Certificate:
    """The certificate in a file, for a model of so many states."""
    raw = Path(path).read_bytes()
    try:
        return _Reader(states).read(raw)
    except (ValueError, KeyError, TypeError, RecursionError, EOFError, OSError, zipfile.BadZipFile) as error:
        told = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise CertificateError(f"{path} is no certificate: {told}") from None
    except (NotImplementedError, RuntimeError) as error:  # archives of other kinds, or encrypted
        raise CertificateError(f"{path} cannot be read: {error}") from None


class _Reader:
    """A file in memory, and the arrays beside the JSON where it is an archive."""

    def __init__(self, states: int) -> None:
        self.states = states
        self.archive: zipfile.ZipFile | None = None

    def read(self, raw: bytes) -> Certificate:
        if raw[:2] == b"PK":
            self.archive = zipfile.ZipFile(io.BytesIO(raw))
            raw = self._member(MEMBER, MOST_JSON)
        data = _only(json.loads(raw, parse_constant=_refuse_constant), dict, "the file")
        if data.get("format") != FORMAT:
            raise ValueError(f"it does not begin with the format {FORMAT!r}")
        if data.get("version") != VERSION:
            raise ValueError(f"it has version {str(data.get('version'))[:20]}, and this program reads {VERSION}")
        model = _only(data["model"], dict, "model")
        sizes = {name: _only(model[name], int, name) for name in ("states", "choices", "transitions")}
        holds = data.get("holds")
        if holds is not None:
            _only(holds, bool, "holds")
        constants = _only(data["constants"], dict, "constants")
        for name, value in constants.items():
            if not isinstance(value, (bool, int, float)):
                raise ValueError(f"the constant {name[:40]} has no value")
        if sizes["states"] != self.states:  # lists have another length; the caller tells what does not fit
            bounds = {}
        else:
            bounds = {side: self._bound(side, data["bounds"][side]) for side in _sides(data["bounds"])}
        return Certificate(
            prop=_only(data["property"], str, "property"),
            constants=constants,
            type=_only(model["type"], str, "type"),
            lower=parsed(data["lower"]),
            upper=parsed(data["upper"]),
            holds=holds,
            bounds=bounds,
            **sizes,
        )

    def _bound(self, side: Side, data: object) -> Bound:
        parts = dict(_only(data, dict, side))
        known = {"values", "ranks", "layers", "choices", "biases"}
        if strange := sorted(parts.keys() - known):
            raise ValueError(f"{side}: {strange[0][:40]!r} is not known")
        values = self._numbers(parts["values"], f"{side}.values")
        biases = self._numbers(parts["biases"], f"{side}.biases") if "biases" in parts else None
        if biases is not None and not biases.finite.all():
            raise ValueError(f"{side}.biases are finite")
        others = {name: data for name, data in parts.items() if name not in ("values", "biases")}
        integers = {name: self._integers(data, f"{side}.{name}") for name, data in others.items()}
        return Bound(values, biases=biases, **integers)

    def _numbers(self, data: object, name: str) -> Vector:
        if data == "array":
            array = self._array(name, np.dtype("<f8"))
            if np.isnan(array).any() or (array == -np.inf).any():
                raise ValueError(f"{name} has numbers that are none")
            return Vector.of_doubles(array)
        return Vector([parsed(text) for text in self._list(data, name)])

    def _integers(self, data: object, name: str) -> Ints:
        if data == "array":
            found: Ints = self._array(name, np.dtype("<i4")).astype(np.int64)
        else:
            listed = [_only(number, int, name) for number in self._list(data, name)]
            if listed and not (min(listed) >= 0 and max(listed) < 1 << 31):
                raise ValueError(f"{name} has numbers outside 0 to 2^31")
            found = np.array(listed, dtype=np.int64)
        if (found < 0).any():
            raise ValueError(f"{name} has negative numbers")
        return found

    def _list(self, data: object, name: str) -> list[Any]:
        listed: list[Any] = _only(data, list, name)
        if len(listed) != self.states:
            raise ValueError(f"{name} has {len(listed):,} entries for {self.states:,} states")
        return listed

    def _array(self, name: str, dtype: np.dtype[Any]) -> Any:
        """The raw little-endian numbers of an array, one per state."""
        if self.archive is None:
            raise ValueError(f"{name} is an array, and the file is no archive")
        size = self.states * dtype.itemsize
        raw = self._member(f"{name}.bin", size)
        if len(raw) != size:
            raise ValueError(f"{name} has {len(raw):,} bytes for {self.states:,} states")
        return np.frombuffer(raw, dtype=dtype)

    def _member(self, name: str, most: int) -> bytes:
        assert self.archive is not None
        with self.archive.open(name) as member:
            raw = member.read(most + 1)
        if len(raw) > most:
            raise ValueError(f"{name} has more than {most:,} bytes")
        return raw


def _sides(data: object) -> list[Side]:
    parts = _only(data, dict, "bounds")
    if parts.keys() not in (set(), {"lower", "upper"}):
        raise ValueError("bounds has a lower and an upper side, or is empty")
    return ["lower", "upper"] if parts else []


def _only(value: object, kind: type, name: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{name} is no {kind.__name__}")
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")
