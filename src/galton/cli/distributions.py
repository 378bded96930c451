"""``galton transient`` and ``galton steady-state``: distributions over states, as a table, a CSV file, a picture."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, telling
from .options import Constants, FixDeadlocks, MaxStates, Memory, ModelFile, Threads

if TYPE_CHECKING:
    from ..checking.distributions.api import Distributions
    from ..checking.distributions.distribution import Share, StateDistribution

SHOWN = 20  # of the likeliest, at each moment
DIGITS = 10

Times = Annotated[
    str,
    typer.Option(
        "--time",
        metavar="TIME",
        help="A time or, for a DTMC, a number of steps; or a range low:high or low:step:high of them.",
        show_default=False,
    ),
]
Of = Annotated[
    str | None,
    typer.Option(
        "--expression",
        "-e",
        metavar="EXPRESSION",
        help="Put states together by the value of an expression, e.g. s, x+y or '\"done\"'; if not given, none are.",
        show_default=False,
    ),
]
Csv = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Write all of it to a CSV file.", show_default=False)
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw it: bars for one moment, curves for several (.png, .pdf, .svg or .html).",
        show_default=False,
    ),
]
Eps = Annotated[float, typer.Option("--eps", help="How much probability may be off, about.")]


def transient(
    model: ModelFile,
    time: Times,
    const: Constants = None,
    expression: Of = None,
    csv: Csv = None,
    plot: Picture = None,
    eps: Eps = 1e-6,
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
) -> None:
    """Where a chain is after some time, or after some steps: its distribution, with bounds that are proved.

    \b
    Examples:
      galton transient models/die.prism --time 0:10 --expression d
      galton transient models/cluster.prism -c N=4 --time 0:1:100 -e '"premium"' --plot premium.png
    """
    from ..checking.experiment import is_range, values

    times = values("time", time if is_range(time) else f"{time}:{time}", "--time")
    report = _Report(model, csv, plot, expression)
    asked = _asked(
        model, const, expression, eps, threads, max_states=max_states, memory=memory, fix_deadlocks=fix_deadlocks
    )
    report.passing = "time" if asked.model.is_continuous else "steps"
    report.show(asked.at([float(moment) for moment in times]), eps)


def steady_state(
    model: ModelFile,
    const: Constants = None,
    expression: Of = None,
    csv: Csv = None,
    plot: Picture = None,
    eps: Eps = 1e-6,
    threads: Threads = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
) -> None:
    """Where a chain is in the long run: the share of time, or of steps, in each state, with bounds that are proved.

    \b
    Examples:
      galton steady-state models/die.prism --expression d
      galton steady-state models/cluster.prism -c N=4 -e 'upL+upR' --csv up.csv
    """
    report = _Report(model, csv, plot, expression)
    asked = _asked(
        model, const, expression, eps, threads, max_states=max_states, memory=memory, fix_deadlocks=fix_deadlocks
    )
    report.show([asked.in_the_long_run()], eps)


def _asked(
    model: Path, const: list[str] | None, expression: str | None, eps: float, threads: int | None, **building: Any
) -> Distributions:
    from ..checking.distributions.api import Distributions
    from ..checking.distributions.transient import refuse_choices
    from ..solve.settings import Settings

    program = options.load_program(model, const)
    refuse_choices(program.type)
    settings = replace(Settings(), eps=eps, threads=threads)
    settings.check_eps()
    return Distributions(options.build_model(program, threads=threads, **building), program, settings, expression)


class _Report:
    """Tells distributions one after the other; what cannot be written shows before anything is computed."""

    def __init__(self, model: Path, csv: Path | None, plot: Path | None, expression: str | None) -> None:
        from ..io.output import check_writable
        from ..plot.distributions import check_kind

        self._model, self._csv, self._plot, self._what = model, csv, plot, expression or "state"
        self.passing = "time"  # what passes in a picture from one distribution to the next
        if plot is not None:
            check_kind(plot)
        for path in (csv, plot):
            if path is not None:
                check_writable(path)

    def show(self, distributions: Iterable[StateDistribution], eps: float) -> None:
        """Print a table, and write the files that are asked for."""
        rows: list[tuple[float | None, list[Share]]] = []
        distance = 0.0
        for found in distributions:
            shares = list(found)
            self._print(found, shares, first=not rows)
            rows.append((found.time, shares))
            distance = max(distance, found.distance)
        telling.say(f"no set of states is off by more than {distance:.2g}")
        if distance > 2 * eps:
            telling.warn(f"that is more than --eps {eps:g} asks for; no method at hand comes closer")
        fine = options.kept(lambda path: self._write(path, rows), self._csv)
        fine &= options.kept(lambda path: self._draw(path, rows), self._plot)
        if not fine:
            raise typer.Exit(2)

    def _print(self, found: StateDistribution, shares: list[Share], *, first: bool) -> None:
        from ..checking.result import outward, shown

        likeliest = sorted(shares, key=lambda share: -share.probability)[:SHOWN]
        kept = [share for share in shares if share in likeliest]
        names = [_text(share.value) for share in kept]
        width = max([len(self._what), *map(len, names)])
        timed = found.time is not None
        if first:
            head = f"{'time':>10}  " if timed else ""
            telling.say(telling.bold(f"{head}{self._what:<{width}}  probability     bounds"))
        for name, share in zip(names, kept, strict=True):
            time = f"{shown(found.time):>10}  " if timed else ""
            lower, upper = outward(share.lower, "ROUND_FLOOR", DIGITS), outward(share.upper, "ROUND_CEILING", DIGITS)
            bounds = f"[{lower}, {upper}]"
            telling.say(f"{time}{name:<{width}}  {share.probability:<14.10g}  {bounds}")
        if len(kept) < len(shares):
            telling.say(f"… and {len(shares) - len(kept):,} that are less likely; --csv has all")

    def _write(self, path: Path, rows: list[tuple[float | None, list[Share]]]) -> None:
        from ..io.output import replacing

        with replacing(path) as file:
            writer = csv.writer(file)
            writer.writerow(
                [*(["time"] if rows[0][0] is not None else []), self._what, "probability", "lower", "upper"]
            )
            for time, shares in rows:
                for share in shares:
                    numbers = [repr(number) for number in share[1:]]
                    writer.writerow([*([] if time is None else [repr(time)]), _text(share.value), *numbers])

    def _draw(self, path: Path, rows: list[tuple[float | None, list[Share]]]) -> None:
        from ..plot.distributions import Drawn, plot_distributions

        drawn = [Drawn(time, [(_text(share.value), share.probability) for share in shares]) for time, shares in rows]
        moment = rows[0][0]
        when = "in the long run" if moment is None else f"over {self.passing}"
        if moment is not None and len(rows) == 1:
            when = f"at time {moment:g}" if self.passing == "time" else f"after {moment:g} steps"
        plot_distributions(drawn, path, f"{self._model.stem} {when}", self._what, self.passing)


def _text(value: object) -> str:
    return (
        str(value).lower() if isinstance(value, bool) else f"{value:.10g}" if isinstance(value, float) else str(value)
    )
