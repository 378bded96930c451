"""``galton check --matrix-free``: answers on a device that keeps states and no matrix."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..backend.limits import Limits
from ..checking import reports
from ..checking.asking import reductions
from ..checking.matrix_free import answer
from ..checking.watching import Exploring, Watcher
from ..lang import GaltonError
from ..model.sparse import Model
from . import options, show, telling

if TYPE_CHECKING:
    from ..checking.asking import Asked, Row
    from ..checking.matrix_free import Answered
    from ..checking.result import Result
    from .run import Run

__all__ = ["MatrixFreeAnswers"]


class MatrixFreeAnswers:
    """The answers to the properties of one row, each told as it is found."""

    def __init__(self, run: Run, row: Row, reason: str):
        if isinstance(run.subject, Model):
            raise GaltonError(
                "--matrix-free is for programs, whose rows can be computed anew, and this is a file of states"
            )
        if row.error is not None:
            raise row.error
        assert row.program is not None
        self._run, self._reason = run, reason
        families = [family for family in row.families if family.wrong is None]
        self._reductions = reductions(run.inquiry, row.program, families)

    def of(self, asked: Asked) -> Result | str:
        """The answer to a property, or what kind of error it came to."""
        run = self._run
        found = self._answered(asked)
        if isinstance(found, GaltonError):
            run.code, run.failure = max(run.code, 1), found
            if run.outputs.as_json:
                run.put({**run.record(asked), "error": {"kind": found.kind, "message": str(found)}})
            run.tell(found)
            return f"error: {found.kind}"
        result = found.result
        run.answered += 1
        run.count(result.value)
        for warning in result.warnings:
            telling.warn(warning)
        if run.outputs.as_json:
            run.put({**run.record(asked), **self._told(found)})
        elif not run.ranges:
            show.print_result(result)
            if run.outputs.explain:
                show.print_work(result)
        return result

    def _told(self, found: Answered) -> dict[str, Any]:
        result = found.result
        told = {
            **reports.record(result),
            "states": found.states,
            "initial_states": found.initial,
            "device": result.device,
        }
        told |= {"placement": str(result.placement), "method": result.method, "iterations": result.iterations}
        told["check_s"] = round(result.seconds, 6)
        if self._run.outputs.explain:
            told |= {"plan": reports.plan(result), "bytes": found.bytes}
        return told

    def _answered(self, asked: Asked) -> Answered | GaltonError:
        run = self._run
        building = run.building
        most = building["max_states"]
        watcher = Watcher(None, asked.question.prop.text)
        try:
            with Exploring() as exploring, options.enough_memory("for the states"):
                found = answer(
                    asked.context,
                    asked.question,
                    replace(run.settings, watch=watcher),
                    device=building["device"],
                    reason=self._reason,
                    reduced=self._reductions.get(asked.family),
                    full=run.inquiry.full,
                    propose=not run.inquiry.symmetry,
                    limits=Limits.choose(None if most is None else int(min(most, sys.maxsize)), building["memory"]),
                    threads=building["threads"] or len(os.sched_getaffinity(0)),
                    watch=exploring,
                )
        except GaltonError as error:
            return error
        except KeyboardInterrupt:
            watcher.clear()
            telling.complain(watcher.farewell())
            raise
        finally:
            watcher.clear()
        return found
