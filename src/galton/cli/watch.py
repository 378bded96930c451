"""What is going on while properties are checked: a line kept up to date, and the last bounds for an interrupt."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .options import QUIET_SECONDS, REFRESH_SECONDS

if TYPE_CHECKING:
    from ..model.sparse import Model


class Watcher:
    """Told of progress by the solvers; see :data:`galton.solve.settings.Watch`."""

    def __init__(self, model: Model, formula: str):
        self._model, self._formula = model, formula
        self._start = self._last = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._shown = False
        self._news: dict[str, Any] = {}
        self._bounds: tuple[float, float] | None = None

    def __call__(self, news: dict[str, Any]) -> None:
        self._news = news
        if news.get("lower") is not None and news.get("upper") is not None:
            self._bounds = self._initial(news["lower"], min), self._initial(news["upper"], max)
        now = time.monotonic()
        if self._terminal and now - self._start >= QUIET_SECONDS and now - self._last >= REFRESH_SECONDS:
            self._last, self._shown = now, True
            sys.stderr.write(f"\r\x1b[K{self._line(now - self._start)}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False

    def farewell(self) -> str:
        """What was known when somebody lost patience."""
        if self._bounds is None:
            known = "nothing is known yet"
        else:
            known = f"between {self._bounds[0]!r} and {self._bounds[1]!r} so far"
        return f"{self._formula}  {known} ({self._line(time.monotonic() - self._start)})"

    def _initial(self, bound: Any, pick: Any) -> float:
        """A bound in the initial states, where it is told for all states."""
        if isinstance(bound, np.ndarray) and bound.shape == (self._model.n_states,):
            return float(pick(bound[self._model.initial]))
        return float(pick(np.ravel(bound)))

    def _line(self, seconds: float) -> str:
        known = [str(self._news["method"])] if "method" in self._news else []
        for key, value in self._news.items():
            if key in ("method", "lower", "upper") or value is None or isinstance(value, np.ndarray):
                continue
            known.append(f"{value:,} {key}" if isinstance(value, int) else f"{key} {_short(value)}")
        if self._bounds is not None:
            known.append(f"bounds {self._bounds[0]:.6g} to {self._bounds[1]:.6g}")
        return ", ".join([*known, f"{seconds:.0f} s"])


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
