"""What is going on, in words: models that are explored, properties that are solved, boxes that are looked at.

Each class here turns what its workers tell into a line of :mod:`galton.progress`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..progress import Task, duration, task

if TYPE_CHECKING:
    from ..model.sparse import Model

__all__ = ["Exploring", "Synthesizing", "Watcher"]

# What a solver counts up to, beside what it counts.
ENDS = {"iterations": "horizon", "time": "of"}


class Exploring:
    """Told of the states, transitions and finished rows so far, ten times a second."""

    def __init__(self) -> None:
        self._task = task()

    def __call__(self, states: int, transitions: int, rows: int) -> None:
        took = max(time.monotonic() - self._task.start, 1e-3)
        if rows:
            self._task.tell(f"{states:,} states found, writing rows", rows / states)
        else:
            speed = f"{states / took / 1e6:.1f} M states/s"
            self._task.tell(f"{states:,} states, {transitions:,} transitions, {speed}")

    def __enter__(self) -> Exploring:
        return self

    def __exit__(self, *_: object) -> None:
        self._task.close()


class Watcher:
    """Told of progress by the solvers, see :data:`galton.solve.settings.Watch`; keeps the last bounds for an interrupt.

    Solvers may begin again, with another method or for another part of the formula. Counts go on then; bounds that do
    not fit those before are those of another part.
    """

    def __init__(self, model: Model | None, formula: str):
        """``model`` is None where numbers are told for the initial states alone."""
        self._model, self._formula = model, formula
        self._task: Task = task()
        self._news: dict[str, Any] = {}
        self._counts: dict[str, int] = {}  # of those that are over
        self._least: dict[str, float] = {}  # residuals and widths, the smallest so far
        self._bounds: tuple[float, float] | None = None

    def __call__(self, news: dict[str, Any]) -> None:
        if self._begins_again(news):
            self._task.begin_again()
            self._least.clear()
        self._news = news
        if news.get("lower") is not None and news.get("upper") is not None:
            self._narrow(self._initial(news["lower"], min), self._initial(news["upper"], max))
        self._task.tell(self._line(), self._done())

    def clear(self) -> None:
        """Take the line away."""
        self._task.close()

    def farewell(self) -> str:
        """What was known when somebody lost patience."""
        if self._bounds is None:
            known = "nothing is known yet"
        else:
            known = f"between {self._bounds[0]!r} and {self._bounds[1]!r} so far"
        took = duration(time.monotonic() - self._task.start)
        return f"{self._formula}  {known} ({', '.join(filter(None, [self._line(), took]))})"

    def _begins_again(self, news: Mapping[str, Any]) -> bool:
        """Whether counting has begun anew; what was counted is kept."""
        before = {key: value for key, value in self._news.items() if isinstance(value, int) and key not in _NO_COUNTS}
        fallen = [key for key, value in before.items() if isinstance(now := news.get(key), int) and now < value]
        for key in fallen:
            self._counts[key] = self._counts.get(key, 0) + before[key]
        names = ("method", "step")
        return bool(fallen) or any(self._news.get(name) != news.get(name) for name in names if self._news)

    def _narrow(self, lower: float, upper: float) -> None:
        if self._bounds is not None:
            both = max(lower, self._bounds[0]), min(upper, self._bounds[1])
            lower, upper = both if both[0] <= both[1] else (lower, upper)
        self._bounds = lower, upper

    def _done(self) -> float | None:
        for key, end in ENDS.items():
            if self._news.get(key) is not None and self._news.get(end):
                return float(self._news[key]) / float(self._news[end])
        return None

    def _initial(self, bound: Any, pick: Any) -> float:
        """A bound in the initial states, where it is told for all states."""
        if self._model is not None and isinstance(bound, np.ndarray) and bound.shape == (self._model.n_states,):
            return float(pick(bound[self._model.initial]))
        return float(pick(np.ravel(bound)))

    def _line(self) -> str:
        known = [str(self._news[name]) for name in ("method", "step") if name in self._news]
        for key, value in self._news.items():
            if key in ("method", "step", "lower", "upper") or value is None or isinstance(value, np.ndarray):
                continue
            if isinstance(value, int):
                known.append(f"{value + self._counts.get(key, 0):,} {key}")
            elif isinstance(value, float) and key in ("residual", "width"):
                self._least[key] = min(value, self._least.get(key, value))
                known.append(f"{key} {self._least[key]:.3g}")
            else:
                known.append(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}")
        if self._bounds is not None:
            known.append(f"bounds {self._bounds[0]:.6g} to {self._bounds[1]:.6g}")
        return ", ".join(known)


_NO_COUNTS = {"horizon", "left", "digits", "improvements", "kept"}  # whole numbers that may fall


class Synthesizing:
    """Told of boxes by a synthesis; ``tolerance`` is the part of the space that may stay undecided."""

    def __init__(self, tolerance: float | None = None) -> None:
        self._task, self._tolerance = task(), tolerance
        self._news: dict[str, Any] = {}

    def __call__(self, news: Mapping[str, Any]) -> None:
        self._news |= news
        done = None
        if self._tolerance is not None and "decided" in self._news:
            done = self._news["decided"] / max(1.0 - self._tolerance, 1e-9)
        self._task.tell(self._line(), done)

    def clear(self) -> None:
        """Take the line away."""
        self._task.close()

    def _line(self) -> str:
        news = self._news
        parts = [f"{news['regions']:,} boxes", f"{news['steps']:,} steps"]
        if "decided" in news:
            parts.append(f"{news['decided']:.1%} decided")
        if news.get("best"):
            low, high = news["best"]
            parts.append(f"optimum between {low:.5g} and {high:.5g}")
        if "lower" in news:
            parts.append(f"values from {news['lower']:.5g} to {news['upper']:.5g}")
        return ", ".join(parts)
