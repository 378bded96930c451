"""What shows that a property is false: paths in the names of variables and actions, as text, JSON and CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Literal

from ...io.output import OutputError, replacing
from ...lang.expressions import Expression, Value
from ...lang.properties import BinaryPath, UnaryPath
from ...lang.rendering import render
from ...model.sparse import Int32s, Model
from ...model.states import ListedStates, PackedStates
from ..result import outward

if TYPE_CHECKING:
    from ..strategies.strategy import Strategy

__all__ = ["Counterexample", "Path", "check_suffix", "in_words"]

SHOWN_PATHS, SHOWN_STEPS, SHOWN_STATES = 5, 40, 5  # as text
DIGITS = 6
_VERSION = 1

Kind = Literal["paths", "subsystem", "path"]


@dataclass(frozen=True, slots=True)
class Path:
    """A path of a model.

    Attributes
    ----------
    states
        The numbers of its states.
    rows, probabilities
        For each step, the row of the matrix that is taken and the probability of the transition.
    probability
        That of the path, rounded down; None where it does not matter.
    loop
        The place from which on the path is repeated for ever, after its last step; None for one that ends.
    """

    states: tuple[int, ...]
    rows: tuple[int, ...]
    probabilities: tuple[float, ...]
    probability: float | None = None
    loop: int | None = None

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.rows)


@dataclass(frozen=True, eq=False, repr=False)
class Counterexample:
    """What shows that a property is false or, for ``E``, true.

    Printed, it is a table of the paths; ``write`` makes a JSON or CSV file.

    Attributes
    ----------
    kind
        ``"paths"``, whose probabilities together show it; ``"subsystem"``, states that do, because those paths are too
        many; or a single ``"path"``, for ``A`` and ``E``.
    paths
        From the likeliest on; with a subsystem, the likeliest of those in it.
    states
        The states of a subsystem.
    shows
        What the paths have in common, in words.
    probability
        A proved bound from below on the probability of the paths, or of those of the subsystem, together; None where it
        does not matter.
    least, strictly
        What the probability has to be at least, or more than.
    complete
        Whether that is what is needed. Where it is not, the set would be too large, and ``note`` says so.
    is_witness
        Whether the property is true, and this shows it.
    strategy
        For an MDP, the strategy that the paths follow, where it matters.

    Examples
    --------
    >>> import galton
    >>> coin = galton.parse("dtmc  module coin  s : [0..2];  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);  endmodule")
    >>> found = galton.counterexample(coin, "A [ G s!=2 ]")
    >>> [found.name(state) for state in found.paths[0].states]
    ['(s=0)', '(s=2)']
    """

    formula: str
    model: Model
    kind: Kind
    paths: tuple[Path, ...]
    shows: str
    probability: float | None = None
    least: Fraction | None = None
    strictly: bool = False
    complete: bool = True
    states: Int32s | None = None
    strategy: Strategy | None = None
    is_witness: bool = False
    note: str = ""
    constants: Mapping[str, Value] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of paths."""
        return len(self.paths)

    def __iter__(self) -> Iterator[Path]:
        return iter(self.paths)

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    # As text.

    @property
    def title(self) -> str:
        """What it is, in a line."""
        if self.kind == "path":
            (path,) = self.paths
            ending = "and then for ever around" if path.loop is not None else "long"
            return f"a path on which {self.shows}, {_count(len(path), 'step')} {ending}"
        which = f"{_count(len(self.paths), 'path')} on which {self.shows}"
        together = " together" if len(self.paths) > 1 else ""
        if self.states is not None:
            which, together = f"{_count(len(self.states), 'state')}, with paths among them on which {self.shows}", ""
        worth = f"probability {self._worth()} or more{together}"
        if self.complete and not self.probability:
            worth = "a probability above 0 that is too small for a double"
        return f"{which}, with {worth}; {self.needed} is needed"

    @property
    def needed(self) -> str:
        """What the probability has to be, such as ``"> 0.1"``; empty where it does not matter."""
        return "" if self.least is None else f"{'>' if self.strictly else '>='} {float(self.least):.12g}"

    def passes(self, probability: Fraction) -> bool:
        """Whether so much is enough."""
        assert self.least is not None
        return probability > self.least if self.strictly else probability >= self.least

    def _worth(self) -> str:
        """The probability, rounded down, with as many digits as show that it is enough."""
        assert self.probability is not None
        shown = Fraction(self.needed.split()[-1])  # what is needed as people read it, which is rounded too
        for digits in range(DIGITS, 18):
            text = outward(self.probability, "ROUND_FLOOR", digits)
            if self.passes(Fraction(text)) and (Fraction(text) > shown or not self.strictly):
                return text
        return outward(self.probability, "ROUND_FLOOR", DIGITS)

    def lines(self) -> Iterator[str]:
        """The title, and a table for each path; of many, and of long ones, a part."""
        yield f"{'witness of' if self.is_witness else 'counterexample to'} {self.formula}:"
        yield f"  {self.title}"
        if self.note:
            yield f"  {self.note}"
        if self.states is not None:
            for state in self.states[:SHOWN_STATES].tolist():
                yield f"    {self.name(state)}"
            if len(self.states) > SHOWN_STATES:
                yield f"    … and {len(self.states) - SHOWN_STATES:,} more"
        for number, path in enumerate(self.paths[:SHOWN_PATHS], 1):
            if self.kind != "path":
                yield f"  path {number}, probability {path.probability:.{DIGITS}g}"
            yield from _table(self._rows(path))
        if len(self.paths) > SHOWN_PATHS:
            yield f"  … and {_count(len(self.paths) - SHOWN_PATHS, 'path')} more"

    def _rows(self, path: Path) -> list[tuple[str, str, str, str]]:
        found = [("step", "action", "probability", "state"), ("0", "", "", self.name(path.states[0]))]
        for place in range(1, len(path) + 1):
            action, probability = self.model.action(path.rows[place - 1]), path.probabilities[place - 1]
            changed = self._changed(path.states[place - 1], path.states[place])
            if place == len(path) and path.loop is not None:
                changed = f"{changed}, and again from step {path.loop}"
            found.append((str(place), action, f"{probability:.{DIGITS}g}", changed))
        if path.loop is not None and not len(path):
            found.append(("", "", "", "for ever"))
        if not any(row[1] for row in found[1:]):
            found = [(row[0], "", *row[2:]) for row in found]
        return found

    def name(self, state: int) -> str:
        """A state as people know it."""
        return f"state {state}" if self.model.states is None else repr(self.model.states[state])

    def _changed(self, before: int, after: int) -> str:
        """The variables that a step changes."""
        states = self.model.states
        if not isinstance(states, PackedStates):
            return self.name(after)
        old, new = states[before], states[after]
        parts = [f"{name}={_text(value)}" for name, value in new.items() if old[name] != value]
        return ", ".join(parts) or "unchanged"

    # As files.

    def as_json(self) -> dict[str, Any]:
        """All of it for JSON."""
        found: dict[str, Any] = {
            "galton": "counterexample",
            "version": _VERSION,
            "property": self.formula,
            "constants": dict(self.constants),
            "kind": self.kind,
            "shows": self.shows,
            "needed": self.needed or None,
            "probability": self.probability,
            "complete": self.complete,
            "note": self.note or None,
            "paths": [self._path_json(path) for path in self.paths],
        }
        if self.states is not None:
            found["states"] = [self._state_json(state) for state in self.states.tolist()]
        return found

    def _path_json(self, path: Path) -> dict[str, Any]:
        steps: list[dict[str, Any]] = [{"state": self._state_json(path.states[0])}]
        for row, probability, source, state in zip(
            path.rows, path.probabilities, path.states[:-1], path.states[1:], strict=True
        ):
            step: dict[str, Any] = {"action": self.model.action(row), "choice": row - self.model.choices(source).start}
            steps.append({**step, "probability": probability, "state": self._state_json(state)})
        return {"probability": path.probability, "loop": path.loop, "steps": steps}

    def _state_json(self, state: int) -> Any:
        states = self.model.states
        if isinstance(states, PackedStates):
            return dict(states[state])
        return repr(states[state]) if isinstance(states, ListedStates) else state

    def write(self, path: str | FilePath) -> None:
        """Write it to a file: JSON, or a table with a line for each step of each path if the name ends in ``.csv``.

        A path of a table is told by its number; the states of a subsystem are in JSON only.
        """
        kind = check_suffix(path)
        with replacing(path) as file:
            if kind == ".json":
                json.dump(self.as_json(), file, indent=1)
                file.write("\n")
            else:
                self._write_csv(csv.writer(file, lineterminator="\n"))

    def _write_csv(self, writer: Any) -> None:
        states = self.model.states
        names = list(states.variables) if isinstance(states, PackedStates) else ["state"]
        writer.writerow(["path", "path_probability", "step", "action", "choice", "probability", "loop", *names])
        for number, path in enumerate(self.paths, 1):
            for place, state in enumerate(path.states):
                taken: list[Any] = ["", "", ""]
                if place:
                    row = path.rows[place - 1]
                    choice = row - self.model.choices(path.states[place - 1]).start
                    taken = [self.model.action(row), choice, repr(path.probabilities[place - 1])]
                here = self._state_json(state)
                values = [_text(here[name]) for name in names] if isinstance(here, dict) else [here]
                worth = "" if path.probability is None else repr(path.probability)
                writer.writerow([number, worth, place, *taken, int(place == path.loop), *values])


def in_words(path: Expression, *, holds: bool) -> str:
    """That a path formula holds, or fails."""
    text = render(path)
    if isinstance(path, (UnaryPath, BinaryPath)):
        text = text.removeprefix("(").removesuffix(")")
    return f"{text} {'holds' if holds else 'fails'}"


def check_suffix(path: str | FilePath) -> str:
    """The end of a file's name, which says what to write; an error for others."""
    kind = FilePath(path).suffix.lower()
    if kind not in (".json", ".csv"):
        raise OutputError(f"{path}: the name of a file for counterexamples ends in .json or .csv")
    return kind


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _table(rows: list[tuple[str, str, str, str]]) -> Iterator[str]:
    """Columns side by side; of many rows the first and the last."""
    left = len(rows) - 1 - SHOWN_STEPS
    if left > 1:
        half = SHOWN_STEPS // 2
        rows = [*rows[: 1 + half], ("…", "", "", f"{left:,} more steps"), *rows[-half:]]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    kept = [column for column in range(3) if any(row[column] for row in rows[1:])]
    for row in rows:
        cells = [row[c].rjust(widths[c]) if c != 1 else row[c].ljust(widths[c]) for c in kept]
        yield "    " + "  ".join([*cells, row[3]]).rstrip()
