"""What stands in an ask, with a word for what does not belong there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...checking.inquiring import choose
from ...device.placement import Request
from ...lang.source import GaltonError
from ...solve.settings import Settings
from ..trouble import RequestError

__all__ = ["Given", "Options", "number"]

LONGEST = 100_000  # characters of a property or a value
MOST = 10_000  # things in a list


@dataclass(frozen=True)
class Given:
    """The fields of an ask."""

    fields: Mapping[str, Any]

    def only(self, *names: str) -> Given:
        """Refuse fields that nobody reads."""
        for name in self.fields:
            if name not in names:
                raise RequestError(f"this ask has no {name[:40]!r}")
        return self

    def __contains__(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def text(self, name: str) -> str:
        """A text that has to be there."""
        found = self.fields.get(name)
        if not isinstance(found, str) or len(found) > LONGEST:
            raise RequestError(f"{name} has to be a text")
        return found

    def maybe(self, name: str) -> str | None:
        """A text, or nothing."""
        return self.text(name) if name in self else None

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number between two others."""
        found = self.fields.get(name)
        if found is None and default is not None:
            return default
        if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
            raise RequestError(f"{name} has to be a whole number from {low:,} to {high:,}")
        return found

    def real(self, name: str) -> float | None:
        """A number, or nothing."""
        found = self.fields.get(name)
        return None if found is None else _real(found, name)

    def one_of(self, name: str, *choices: str) -> str:
        """One of some words."""
        found = self.text(name)
        if found not in choices:
            raise RequestError(f"{name} has to be one of {', '.join(choices)}")
        return found

    def inner(self, name: str) -> Given:
        """The fields of an object; none if it is not there."""
        found = self.fields.get(name) or {}
        if not isinstance(found, dict):
            raise RequestError(f"{name} has to be an object")
        return Given(found)

    def constants(self) -> dict[str, str]:
        """Values of constants, as people type them; empty ones are not given yet."""
        found = self.inner("constants").fields
        for name, value in found.items():
            if not isinstance(value, str) or len(value) > LONGEST:
                raise RequestError(f"the value of {name[:40]!r} has to be a text")
        if len(found) > MOST:
            raise RequestError("too many constants")
        return {name: value for name, value in found.items() if value.strip()}

    def properties(self) -> list[tuple[str, int] | str]:
        """Properties: texts, or places in files, counted from 0."""
        found = self.fields.get("properties")
        if not isinstance(found, list) or not found or len(found) > MOST:
            raise RequestError("properties have to be a list")
        return [self._property(one) for one in found]

    def property(self, name: str = "property") -> tuple[str, int] | str:
        """One property."""
        return self._property(self.fields.get(name))

    def _property(self, found: Any) -> tuple[str, int] | str:
        if isinstance(found, dict) and set(found) == {"text"}:
            return Given(found).text("text")
        if isinstance(found, dict) and set(found) == {"file", "number"}:
            inner = Given(found)
            return inner.text("file"), inner.whole("number", 1, MOST) - 1
        raise RequestError("a property is a text, or a file and a number")

    def options(self) -> Options:
        """Choices about how to answer."""
        return Options.of(self.inner("options"))


def _real(found: Any, name: str) -> float:
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not math.isfinite(found):
        raise RequestError(f"{name} has to be a number")
    return float(found)


SIM = ("confidence", "width", "paths", "seed")
BUILDING = ("fix_deadlocks", "max_states")
NUMBERS = ("eps", "relative", "exact", "fair", "method", "slice", "symmetry", "lump")


@dataclass(frozen=True)
class Options:
    """Choices about how to answer; ``given`` are those that were made, as they were made."""

    given: Mapping[str, Any]
    device: str = "auto"
    threads: int | None = None
    slice: bool = True
    symmetry: bool = True
    lump: bool | None = None
    fix_deadlocks: bool = True
    max_states: int | None = None
    sim: bool = False

    @classmethod
    def of(cls, fields: Given) -> Options:
        """The choices of an ask; unknown ones are refused."""
        fields.only("device", "threads", "sim", *SIM, *BUILDING, *NUMBERS)
        given = {name: value for name, value in fields.fields.items() if value is not None}
        for name in ("relative", "exact", "fair", "slice", "symmetry", "lump", "sim", "fix_deadlocks"):
            if name in given and not isinstance(given[name], bool):
                raise RequestError(f"{name} is true or false")
        if given.get("sim"):
            for name in (*BUILDING, *NUMBERS):
                if name in given:
                    raise GaltonError(f"random paths have no use for '{name}'; leave it away")
        else:
            for name in SIM:
                if name in given:
                    raise GaltonError(f"'{name}' is for random paths; choose these, or leave it away")
        return cls(
            given=given,
            device=fields.text("device") if "device" in given else "auto",
            threads=fields.whole("threads", 1, 1024) if "threads" in given else None,
            slice=given.get("slice", True),
            symmetry=given.get("symmetry", True),
            lump=given.get("lump"),
            fix_deadlocks=given.get("fix_deadlocks", True),
            max_states=fields.whole("max_states", 1, 2**62) if "max_states" in given else None,
            sim=given.get("sim", False),
        )

    def settings(self) -> tuple[Settings, str]:
        """The choices about numbers, and the device."""
        given = Given(self.given)
        eps = given.real("eps")
        if eps is not None and not 0 < eps < 1:
            raise GaltonError(f"eps must lie between 0 and 1, and this is {eps:g}")
        method = given.maybe("method")
        Request.parse(self.device)  # says what is wrong with it before anything is done
        chosen, device = choose(
            Settings(relative=self.given.get("relative", True), threads=self.threads),
            eps,
            method,
            exact=self.given.get("exact", False),
            fair=self.given.get("fair", False),
            device=self.device,
        )
        return replace(chosen, method=method), device

    def refuse_building(self) -> None:
        """Refuse choices about building, where a model is built as the properties need it."""
        for name in BUILDING:
            if name in self.given:
                raise GaltonError(f"'{name}' is for looking at states; leave it away here")


def number(value: Any) -> Any:
    """A number for JSON, which has no infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
