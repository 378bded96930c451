"""What another tool's command line comes to: the calls of Galton that do it, and what is to be said about them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...io.formats import is_model_file
from ...lang.model_types import DEFAULT_TYPE, TYPE_KEYWORDS, nature_of
from ...lang.source import GaltonError, LanguageError, read_source

if TYPE_CHECKING:
    from ...lang.syntax import ModelFile

__all__ = ["Call", "Line"]


@dataclass(frozen=True)
class Call:
    """One call of Galton. ``choices`` may be left away where they do nothing for what is asked, as other tools do."""

    words: tuple[str, ...]
    choices: tuple[str, ...] = ()

    @property
    def all(self) -> list[str]:
        """All words, without the name of the program."""
        return [*self.words, *self.choices]

    def __str__(self) -> str:
        return shlex.join(["galton", *self.all])


@dataclass
class Line:
    """A command line as it is read, word for word."""

    tool: str
    files: list[str] = field(default_factory=list)  # of the model: one, or several explicit ones
    kind: str | None = None  # of an explicit model, if it was said
    properties: str | None = None  # a file of them
    texts: list[str] = field(default_factory=list)  # properties as they were typed
    chosen: list[str] = field(default_factory=list)  # names or numbers of properties
    constants: list[str] = field(default_factory=list)
    building: list[str] = field(default_factory=list)  # words for every call that builds
    checking: list[str] = field(default_factory=list)  # words for every check
    method: list[str] = field(default_factory=list)  # the parts of its name
    limits: list[str] = field(default_factory=list)  # words that belong to a method
    simulation: dict[str, str] = field(default_factory=dict)  # options of it, and their values
    simulates: bool = False
    results: str | None = None  # a file for them, and PRISM's options for it
    sampling: str = "ci"
    fair: bool = False
    exports: list[str] = field(default_factory=list)
    distributions: list[list[str]] = field(default_factory=list)  # transient, steady-state: the words of each
    traces: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def model(self) -> str:
        """The file of the model; of explicit ones the first, beside which the others are found by their names."""
        if not self.files:
            raise GaltonError(f"this command line of {self.tool}'s names no model")
        first, *others = sorted(self.files, key=lambda file: not is_model_file(file))
        base = Path(first).with_suffix("")
        for file in others:
            path = Path(file)
            if path.parent != base.parent or path.stem.rstrip("0123456789") != base.stem.rstrip("0123456789"):
                raise GaltonError(
                    f"explicit files belong together by their names: call it {base}{path.suffix}, and not {file}"
                )
        return first

    @cached_property
    def syntax(self) -> ModelFile | None:
        """The model, if it is one in PRISM's language; what is wrong with it, the call itself will say."""
        from ...lang import parse_model

        if is_model_file(self.model):
            return None
        try:
            return parse_model(read_source(self.model))
        except (OSError, LanguageError):
            return None

    @property
    def has_choices(self) -> bool | None:
        """Whether the model is an MDP, or None where that is not known yet."""
        if self.syntax is None:
            return None
        named = self.syntax.type
        return nature_of(DEFAULT_TYPE if named is None else TYPE_KEYWORDS[named.name]).has_choices

    def _check_kind(self) -> None:
        """A type that is said has to be that of the model: its text, or its file, decides."""
        if self.kind is None:
            return
        if self.syntax is not None:
            found = DEFAULT_TYPE if self.syntax.type is None else TYPE_KEYWORDS[self.syntax.type.name]
        elif is_model_file(self.model) and Path(self.model).exists():
            from ...io import read_model

            found = read_model(self.model).type
        else:
            return
        if found != self.kind:
            how = "its text says so" if self.syntax is not None else "its first line, or its rows, say so"
            raise GaltonError(f"{self.model} is a {found}, and not a {self.kind}: {how}")

    def note(self, text: str) -> None:
        """Something to say, once."""
        if text not in self.notes:
            self.notes.append(text)

    def calls(self) -> list[Call]:
        """What Galton has to do: write the model, answer, show distributions, draw paths."""
        self._check_kind()
        constants = [word for text in self.constants for word in ("--const", text)]
        built = [self.model, *constants, *self.building]
        found = []
        if self.exports:
            found.append(Call(("build", *built, "--export", ",".join(dict.fromkeys(self.exports)))))
        if self.properties or self.texts:
            found.append(self._check(built))
        found += [Call((words[0], *built, *words[1:])) for words in self.distributions]
        found += [Call(("simulate", self.model, *constants, *words)) for words in self.traces]
        return found or [Call(("info", *built))]

    def _check(self, built: Sequence[str]) -> Call:
        words = ["check", *built]
        if self.properties:
            words += ["--props", self.properties]
        words += [word for text in self.texts for word in ("--prop", text)]
        words += [word for name in self.chosen for word in ("--name", name)]
        if self.chosen and not self.properties:
            raise GaltonError("a property is chosen by its number or name from a file; give the text of that one alone")
        if self.fair and self.has_choices is False:
            self.note("-fair is about the choices of an MDP, and this model has none")
        elif self.fair:
            words.append("--fair")
        if self.simulates:
            kept = ["--csv", self.results.partition(":")[0]] if self.results else []  # with intervals
            return Call((*words, *self.checking, *kept, "--sim", *self._simulation()))
        kept = ["--prism-results", self.results] if self.results else []
        return Call((*words, *self.checking, *kept), (*self._method(), *self.limits))

    def _simulation(self) -> list[str]:
        """What PRISM would do: 99 %, and 1,000 paths, where nothing else is said."""
        asked = {"--confidence": "0.99", **self.simulation}
        if "--width" in asked and "--paths" in asked:
            raise GaltonError("a width says how many paths are needed: give -simwidth or -simsamples, not both")
        if self.sampling == "sprt" and "--paths" in asked:
            raise GaltonError("a sequential test takes as many paths as it needs: leave -simsamples away")
        if "--width" not in asked and self.sampling in ("sprt", "apmc") and "--paths" not in asked:
            asked["--width"] = "0.1"  # PRISM's 0.05, on both sides
        if "--width" not in asked:
            asked = {"--paths": "1000", **asked}
        return [word for option, value in asked.items() for word in (option, value)]

    def _method(self) -> list[str]:
        """``--method NAME`` from what was said about it: which sweeps, with bounds from both sides, by components."""
        if not self.method:
            return []
        if self._asks_multi():
            self.note(f"multi(…) is answered with proved bounds, without {self.method[-1]}")
            return []
        of_chains = ("jacobi", "power", "jor", "sor", "backward-gauss-seidel")
        outer = [part for part in self.method if part == "topological"]
        proved = [part for part in self.method if part in ("interval", "optimistic")]
        plain = [part for part in self.method if part not in (*outer, *proved)]
        if self.has_choices and (dropped := [part for part in plain if part in of_chains]):
            self.note(f"{dropped[-1]} solves the equations of chains, and this model is an MDP")
            plain = [part for part in plain if part not in of_chains]
        inner = proved[-1:] or plain[-1:]
        if proved and plain:
            self.note(f"{proved[-1]} iteration chooses its sweeps by itself; {plain[-1]} is left away")
        parts = [*outer[-1:], *inner]
        return ["--method", ":".join(parts)] if parts else []

    def _asks_multi(self) -> bool:
        """Whether several objectives are asked for at once, which has a method of its own."""
        texts = list(self.texts)
        if self.properties and Path(self.properties).is_file():
            texts.append(read_source(self.properties).text)
        return any(re.search(r"\bmulti\s*\(", text) for text in texts)
