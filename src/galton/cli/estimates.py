"""``galton check --sim``: answers from random paths. They come with a confidence, and are never told as proved."""

from __future__ import annotations

import csv as csv_files
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..lang import GaltonError, Source
from ..lang.wording import counted
from ..model.sparse import Model
from ..progress import task
from ..simulation.api import LONGEST_PATH, estimate_question
from ..simulation.chains import UNIFORM, applied, chain_of
from ..simulation.estimating import Plan
from . import options, telling
from .beside import given
from .run import Run

if TYPE_CHECKING:
    from ..checking.asking import Asked, Row
    from ..lang.syntax import ModelFile
    from ..simulation.result import Estimate

__all__ = ["EstimatingRun", "estimating", "refuse_beside_sim"]

# Options of galton check that random paths have no use for, by the names of its parameters.
USELESS = {
    "eps": "--eps, which --width takes the place of",
    "relative": "--relative and --absolute",
    "method": "--method",
    "omega": "--omega",
    "max_iterations": "--max-iterations",
    "fair": "--fair",
    "strategy": "--strategy, which writes a best strategy; --apply FILE follows one",
    "certificate": "--certificate",
    "prism_results": "--prism-results; --csv FILE writes a table with intervals",
    "counterexample": "--counterexample",
    "counterexample_file": "--counterexample-file",
    "automaton": "--automaton",
    "plot": "--plot",
    "explain": "--explain",
    "full": "--full",
    "slice": "--slice and --no-slice",
    "symmetry": "--symmetry and --no-symmetry",
    "lump": "--lump and --no-lump",
    "matrix_free": "--matrix-free and --no-matrix-free",
    "format": "--format",
    "order": "--order",
    "single": "--single",
    "exact": "--exact",
    "max_states": "--max-states",
    "memory": "--memory",
    "fix_deadlocks": "--no-fix-deadlocks",
}
NO_STRATEGY = (
    "an MDP has no single value without a strategy: give the file of one that galton check --strategy has "
    "written with --apply FILE, or take each choice of a state with the same probability by --apply uniform"
)
FOR_SIM = {
    "confidence": "--confidence",
    "width": "--width",
    "paths": "--paths",
    "seed": "--seed",
    "path_length": "--path-length",
}


def refuse_beside_sim(context: typer.Context, sim: bool) -> None:
    """Refuse options that would do nothing."""
    option = given(context, USELESS if sim else FOR_SIM)
    if option is not None:
        raise GaltonError(f"--sim has no use for {option}" if sim else f"{option} is for --sim")


def estimating(
    run: Run, confidence: float, width: float | None, paths: int | None, seed: int, path_length: int
) -> EstimatingRun:
    """A run of ``galton check`` that answers by random paths."""
    import os

    threads = run.building["threads"] or len(os.sched_getaffinity(0))
    return EstimatingRun(
        run.path,
        run.settings,
        run.building,
        run.outputs,
        full=False,
        apply=None,
        plan=Plan(confidence, width, paths, seed, threads),
        path_length=path_length,
        chooser=None if run.apply is None else str(run.apply),
    )


@dataclass
class EstimatingRun(Run):
    """Reads everything as ``galton check`` does, and answers by random paths."""

    plan: Plan = field(default_factory=Plan)
    path_length: int = LONGEST_PATH
    chooser: str | None = None

    def all(self) -> None:
        """Every property for every valuation of the constants."""
        rows: list[dict[str, Any]] = []
        self.plan = replace(self.plan, executor=self.executor)
        # A strategy makes a chain of a model with choices.
        inquiry = replace(self.inquiry, type="dtmc" if self.has_choices else None, reads=False)
        try:
            for row in inquiry.rows():
                if row.error is not None:
                    raise row.error
                self._tell_structures(row)
                self._estimate_row(row, rows)
        except KeyboardInterrupt:
            options.kept(lambda path: self._write(path, rows), self.outputs.csv if rows else None)
            raise
        if not self.answered:
            self.code = 2  # nothing could be answered at all
        if not options.kept(lambda path: self._write(path, rows), self.outputs.csv):
            self.code = 2

    def check_shareable(self) -> None:
        """Paths can always be shared."""

    def _read_subject(self, text: Source | None) -> Model | ModelFile:
        """As always; a model with choices becomes the chain that a strategy leaves of it."""
        read = super()._read_subject(text)
        if not isinstance(read, Model):
            return read
        if read.has_choices and self.chooser is None:
            raise GaltonError(NO_STRATEGY)
        return chain_of(read, self.chooser)

    def _estimate_row(self, row: Row, rows: list[dict[str, Any]]) -> None:
        assert row.program is not None
        known: list[Model] = [self.subject] if isinstance(self.subject, Model) else []
        if not known and row.program.nature.has_choices and self.chooser is None:
            raise GaltonError(NO_STRATEGY)

        def chain() -> Model:
            if not known:
                known.append(applied(row.program, self.chooser))  # type: ignore[arg-type]
            return known[0]

        for valuation, asked in zip(row.valuations, row.asked, strict=True):
            for a in asked:
                if a.wrong is not None:
                    self._refused(a)
                    continue
                self._tell_estimate(a, valuation, self._estimated(a, chain), rows)

    def _estimated(self, asked: Asked, chain: Any) -> Estimate | GaltonError:
        progress = task()
        try:
            return estimate_question(
                asked.context,
                asked.question,
                replace(self.plan, watch=lambda paths: progress.tell(f"{paths:,} random paths")),
                strategy=None if isinstance(self.subject, Model) else self.chooser,
                path_length=self.path_length,
                device=self.building["device"],
                chain=chain if isinstance(self.subject, Model) or self.chooser not in (None, UNIFORM) else None,
            )
        except GaltonError as error:
            return error
        finally:
            progress.close()

    def _tell_estimate(
        self, asked: Asked, valuation: Any, found: Estimate | GaltonError, rows: list[dict[str, Any]]
    ) -> None:
        record: dict[str, Any] = {**self.record(asked)}
        if isinstance(found, GaltonError):
            self.code = max(self.code, 1)
            self.tell(found)
            record["error"] = str(found)
        else:
            self.count(found.value)
            self.answered += 1
            for warning in found.warnings:
                telling.warn(warning)
            record |= {"value": found.value, "lower": found.lower, "upper": found.upper, "proved": False}
            record |= {"confidence": found.confidence, "paths": found.paths, "steps": found.steps, "cut": found.cut}
            record |= {"method": found.method, "assumption": found.assumption, "seed": found.seed}
            record["check_s"] = round(found.seconds, 6)
        rows.append({"property": " ".join(asked.question.prop.text.split()), **valuation, **record})
        if self.outputs.as_json:
            typer.echo(json.dumps(record))
        elif not isinstance(found, GaltonError):
            self._print(found, valuation)

    def _print(self, found: Estimate, valuation: Any) -> None:
        values = "".join(f"{name}={value}, " for name, value in valuation.items()).rstrip(", ") if self.ranges else ""
        sign = "is" if found.value is None or isinstance(found.value, bool) else "≈"
        name = f"{found.name}: " if found.name else ""
        value = telling.bold(telling.verdict(found.text))
        telling.say(f"{name}{found.formula}  {sign}  {value}{f'   for {values}' if values else ''}")
        telling.say(f"  {found.margin.strip(' ,')}, for {found.about}")
        if telling.quiet():
            return
        telling.say(
            f"  by {counted(found.paths, 'random path')}, {counted(found.steps, 'step')}, seed {found.seed}, "
            f"{found.seconds:.3f} s"
        )
        telling.say(f"  {found.method}: statistical, not proved; assumes that {found.assumption}")

    def _write(self, path: Path, rows: list[dict[str, Any]]) -> None:
        from ..io.output import replacing

        names = [name for name in rows[0] if name in ("property", *self.ranges)] if rows else []
        names += ["value", "lower", "upper", "confidence", "paths", "seed"]
        with replacing(path) as file:
            writer = csv_files.writer(file, lineterminator="\n")
            writer.writerow(names)
            for row in rows:
                writer.writerow([row.get(name, row.get("error") if name == "value" else None) for name in names])
