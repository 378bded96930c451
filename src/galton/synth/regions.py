"""What a synthesis finds: boxes of parameter values with bounds that hold at all their points."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..device.placement import Placement
from ..io.fields import BadField
from ..io.output import replacing
from ..lang import GaltonError
from ..model.tables import import_pandas

if TYPE_CHECKING:
    import pandas

    from .inquiry import Inquiry
    from .parameters import Range

Problem = Literal["threshold", "maximise", "minimise", "values"]
Verdict = Literal["true", "false", "undecided", "optimal", "excluded", "values"]
FORMAT = 1  # of the JSON file

__all__ = ["Box", "Problem", "Regions", "Sample", "Verdict"]


@dataclass(frozen=True, slots=True)
class Box:
    """Parameter values from ``low`` to ``high``; the number asked for is between ``lower`` and ``upper`` in all of it.

    ``verdict`` is ``true``, ``false`` or ``undecided`` where a threshold was asked for, ``optimal`` (it may hold an
    optimum) or ``excluded`` where an optimum was, and else ``values``. ``gains``, ``age`` and ``stuck`` belong to the
    refinement: what each parameter contributes to the width of the bounds, how many splits ago that was measured, and
    how many splits in a row have not brought the bounds closer.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    lower: float
    upper: float
    verdict: Verdict
    gains: tuple[float, ...] | None = None
    age: int = 0
    stuck: int = 0

    def __contains__(self, point: Sequence[float]) -> bool:
        return all(low <= p <= high for low, p, high in zip(self.low, point, self.high, strict=True))

    @property
    def center(self) -> tuple[float, ...]:
        """The point in the middle."""
        return tuple(low + (high - low) / 2 for low, high in zip(self.low, self.high, strict=True))


@dataclass(frozen=True, slots=True)
class Sample:
    """A point and bounds on the number there."""

    point: tuple[float, ...]
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Regions:
    """A partition of the parameter space.

    Attributes
    ----------
    parameters
        Names and ranges, in the order of the corners of boxes.
    problem, formula, tolerance
        What was asked.
    boxes
        All of the space, in lexicographic order of their lower corners.
    best
        Where an optimum was asked for: the best point that was tried.
    complete, interrupted
        Whether the tolerance was reached, and if not, whether somebody stopped it.
    statistics
        Boxes and points looked at, steps of uniformisation, seconds.
    warnings
        What a device could not do.
    placement
        Where boxes were looked at last, and why; None for regions that were read from a file.
    inquiry
        The texts and numbers that were asked with; with them ``galton.synthesize(resume=regions)`` goes on.

    Examples
    --------
    >>> import galton
    >>> program = galton.parse("dtmc  const double p;  module m  s : [0..1];  [] s=0 -> p:(s'=1)+1-p:true;  endmodule")
    >>> regions = galton.synthesize(program, "P>=0.5 [ F<=1 s=1 ]", p=(0.1, 0.9), volume=0.1)
    >>> regions.at(p=0.8).verdict, regions.complete
    ('true', True)
    """

    parameters: Mapping[str, Range]
    problem: Problem
    formula: str
    tolerance: float
    boxes: tuple[Box, ...]
    model: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""  # of the texts of model and property
    split: str = "best"
    best: Sample | None = None
    step: float = 0.0
    complete: bool = True
    interrupted: bool = False
    statistics: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    placement: Placement | None = None
    inquiry: Inquiry | None = None  # all that was asked, for who goes on from here

    # Boxes.

    def of(self, verdict: Verdict) -> tuple[Box, ...]:
        """The boxes with this verdict."""
        return tuple(box for box in self.boxes if box.verdict == verdict)

    @property
    def true(self) -> tuple[Box, ...]:
        """Where the property holds at every point."""
        return self.of("true")

    @property
    def false(self) -> tuple[Box, ...]:
        """Where it holds at none."""
        return self.of("false")

    @property
    def undecided(self) -> tuple[Box, ...]:
        """Where the bounds leave it open."""
        return self.of("undecided")

    @property
    def optimal(self) -> tuple[Box, ...]:
        """The boxes that may hold an optimum; no other does."""
        return self.of("optimal")

    def volume(self, boxes: Sequence[Box] | Box) -> float:
        """The part of the space that some boxes are, from 0 to 1."""
        if isinstance(boxes, Box):
            ranges = self.parameters.values()
            widths = ((h - x) / (b - a) for x, h, (a, b) in zip(boxes.low, boxes.high, ranges, strict=True))
            return math.prod(widths)
        return math.fsum(map(self.volume, boxes))

    def share_of(self, verdict: str) -> float:
        """The part of the space that the boxes with a verdict are, from 0 to 1."""
        return self.volume([box for box in self.boxes if box.verdict == verdict])

    @property
    def optimum(self) -> tuple[float, float] | None:
        """Bounds on the greatest or least number, where that was asked for."""
        if self.problem not in ("maximise", "minimise"):
            return None
        if not self.boxes:  # stopped before anything was known
            return -math.inf, math.inf
        lowers, uppers = [b.lower for b in self.optimal], [b.upper for b in self.optimal]
        if self.problem == "maximise":
            return max(lowers + ([self.best.lower] if self.best else [])), max(uppers)
        return min(lowers), min(uppers + ([self.best.upper] if self.best else []))

    @property
    def spread(self) -> tuple[float, float]:
        """Bounds on the number at any point that may be an optimum, or at any point where no optimum was asked for."""
        boxes = self.optimal or self.boxes
        if not boxes:
            return -math.inf, math.inf
        return min(b.lower for b in boxes), max(b.upper for b in boxes)

    @property
    def threshold(self) -> float | None:
        """The number that the property compares with, where it does."""
        if self.problem != "threshold":
            return None
        from ..lang import Source, parse_properties
        from ..lang.evaluation import EvaluationError, evaluate

        try:
            (prop,) = parse_properties(Source("property", self.formula)).properties
            return float(evaluate(prop.expression.comparison.bound, self.constants))  # type: ignore[attr-defined]
        except (GaltonError, EvaluationError, KeyError):  # constants that the file does not have
            return None

    def at(self, **values: float) -> Box:
        """The box that holds a point."""
        if values.keys() != self.parameters.keys():
            raise GaltonError(f"a point needs a value for each of {', '.join(self.parameters)}")
        point = tuple(values[name] for name in self.parameters)
        for box in self.boxes:
            if point in box:
                return box
        raise GaltonError("this point is outside of the ranges of the parameters")

    def __repr__(self) -> str:
        if self.problem == "threshold":
            parts = [
                f"{name} {self.volume(boxes):.1%} ({len(boxes)} boxes)"
                for name, boxes in (("true", self.true), ("false", self.false), ("undecided", self.undecided))
            ]
            return f"<regions of {self.formula}: {', '.join(parts)}>"
        if self.optimum:
            low, high = self.optimum
            where = f"{len(self.optimal)} of {len(self.boxes)} boxes"
            return f"<regions of {self.formula}: {self.problem[:3]}imum between {low:.6g} and {high:.6g}, {where}>"
        low, high = self.spread
        return f"<regions of {self.formula}: {len(self.boxes)} boxes, values between {low:.6g} and {high:.6g}>"

    def _repr_html_(self) -> str:
        from ..lang.markup import facts

        rows = [("property", self.formula), ("model", self.model)]
        rows += [("constants", ", ".join(f"{name}={value}" for name, value in self.constants.items()))]
        rows += [(f"parameter {name}", f"{low:g} to {high:g}") for name, (low, high) in self.parameters.items()]
        if self.problem == "threshold":
            for name, boxes in (("true", self.true), ("false", self.false), ("undecided", self.undecided)):
                rows.append((name, f"{self.volume(boxes):.2%} of the space, {len(boxes):,} boxes"))
        else:
            low, high = self.optimum or self.spread
            what = "values" if self.optimum is None else f"{self.problem[:3]}imum"
            rows.append((what, f"between {low:.6g} and {high:.6g}"))
            holding = f", {len(self.optimal):,} may hold it" if self.optimum else ""
            rows.append(("boxes", f"{len(self.boxes):,}{holding}"))
        if self.best is not None:
            point = ", ".join(f"{name}={x:g}" for name, x in zip(self.parameters, self.best.point, strict=True))
            rows.append(("best point tried", f"{point}: between {self.best.lower:.6g} and {self.best.upper:.6g}"))
        state = "somebody stopped it" if self.interrupted else "the tolerance was not reached"
        rows.append(("incomplete", "" if self.complete else state))
        rows += [("warning", warning) for warning in self.warnings]
        return facts(rows)

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row for each box: its corners, the bounds on the number in it, its verdict and its volume.

        It needs pandas.
        """
        pandas = import_pandas()

        columns: dict[str, list[Any]] = {}
        for place, name in enumerate(self.parameters):
            columns[f"{name} low"] = [box.low[place] for box in self.boxes]
            columns[f"{name} high"] = [box.high[place] for box in self.boxes]
        columns |= {part: [getattr(box, part) for box in self.boxes] for part in ("lower", "upper", "verdict")}
        return pandas.DataFrame({**columns, "volume": [self.volume(box) for box in self.boxes]})

    # Files.

    def to_json(self, path: str | Path | None = None) -> str:
        """All of it as JSON text, written to a file where one is named; ``--resume`` goes on from such a file."""
        text = json.dumps(
            {
                "format": FORMAT,
                "model": self.model,
                "constants": dict(self.constants),
                "digest": self.digest,
                "asked": self.inquiry and self.inquiry.to_json(),
                "property": self.formula,
                "problem": self.problem,
                "tolerance": self.tolerance,
                "split": self.split,
                "parameters": {name: list(ends) for name, ends in self.parameters.items()},
                "complete": self.complete,
                "interrupted": self.interrupted,
                "optimum": self.optimum,
                "best": self.best and {"point": self.best.point, "lower": self.best.lower, "upper": self.best.upper},
                "step": self.step,
                "statistics": dict(self.statistics),
                "placement": self.placement and str(self.placement),
                "warnings": list(self.warnings),
                "boxes": [_box_to_json(box) for box in self.boxes],
            },
            indent=1,
        )
        if path is not None:
            with replacing(path) as file:
                file.write(text)
        return text

    @classmethod
    def from_json(cls, text_or_path: str | Path) -> Regions:
        """The regions of a text or a file that :meth:`to_json` made."""
        from .regions_file import regions_from

        is_path = isinstance(text_or_path, Path) or not text_or_path.lstrip().startswith("{")
        text = Path(text_or_path).read_bytes() if is_path else str(text_or_path)
        name = str(text_or_path) if is_path else "this text"
        try:
            return regions_from(text)
        except BadField as error:
            raise GaltonError(f"{name} has no regions as galton synth --json writes them: {error}") from None

    def to_csv(self, path: str | Path) -> None:
        """A table with a row per box."""
        with replacing(path) as file:
            writer = csv.writer(file)
            ends = [f"{name} {end}" for name in self.parameters for end in ("low", "high")]
            writer.writerow([*ends, "lower", "upper", "verdict", "volume"])
            for box in self.boxes:
                corners = [value for pair in zip(box.low, box.high, strict=True) for value in pair]
                writer.writerow([*corners, box.lower, box.upper, box.verdict, self.volume(box)])

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the regions; see :func:`galton.plot.regions.plot_regions`."""
        from ..plot.regions import plot_regions

        return plot_regions(self, path)


def _box_to_json(box: Box) -> dict[str, Any]:
    found: dict[str, Any] = {
        "low": box.low,
        "high": box.high,
        "lower": box.lower,
        "upper": box.upper,
        "verdict": box.verdict,
    }
    if box.stuck:
        found["stuck"] = box.stuck
    return {**found, "gains": box.gains, "age": box.age} if box.gains else found
