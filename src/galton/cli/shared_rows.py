"""The rows of an experiment, answered by workers: each notes what it would say, and it is said in the order of rows.

A piece is all that is asked of one model, because properties that share a model are answered together: so a row is the
same whoever answers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..checking.experiment import Valuation, valuations
from ..lang.source import GaltonError
from ..lang.wording import for_command_line
from ..progress import task, unseen
from ..workers import LostWorkerError, completed
from . import telling

if TYPE_CHECKING:
    from .run import Run
    from .table import TableRow

__all__ = ["Noting", "answer_rows"]


@dataclass
class Noting:
    """Rows that a worker would write, with what it said before each."""

    said: list[telling.Note]
    parts: list[tuple[list[telling.Note], Sequence[TableRow]]] = field(default_factory=list)

    def add(self, rows: Sequence[TableRow]) -> None:
        """Some rows."""
        self.parts.append((self.said.copy(), rows))
        self.said.clear()

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class _Answered:
    """What a worker made of a row; ``fine`` is false where the text of a property is at fault."""

    fine: bool
    parts: list[tuple[list[telling.Note], Sequence[TableRow]]]
    code: int
    answered: int
    failure: GaltonError | None
    told: set[str]


@dataclass(frozen=True)
class _RowPiece:
    """All that is asked of the model with these constants."""

    run: Run
    constants: Valuation

    def __call__(self) -> _Answered:
        run = _bare(self.run)
        with for_command_line(), unseen(), telling.noted() as said:
            noting = Noting(said)
            run.sinks, run.begun, run.rows_done, run.rows_task = [noting], True, 0, None
            fine = run.ask(run.inquiry.row(self.constants))
            run.write_rows()
            noting.add([])  # what was said after the last row
        return _Answered(fine, noting.parts, run.code, run.answered, run.failure, run.told)


def _bare(run: Run) -> Run:
    """A run with the questions of another, none of which is answered."""
    bare = copy(run)
    bare.code, bare.answered, bare.failure, bare.told = 0, 0, None, set()
    bare.sinks, bare.waiting, bare.executor = [], [], None
    return bare


def answer_rows(run: Run, executor: Executor) -> None:
    """Answer all rows; those of lost workers are refused, and an interrupt keeps what there is."""
    bare = _bare(run)
    pieces = [_RowPiece(bare, constants) for constants in valuations(run.inquiry.of_model)]
    if run.refuses(run.inquiry.row(pieces[0].constants, alone=True)):  # before anybody builds anything
        return
    done: dict[int, Future[_Answered]] = {}
    following = count = 0
    with task() as progress:
        try:
            for place, future in completed(pieces, executor):
                done[place], count = future, count + 1
                progress.tell(f"{count:,} of {len(pieces):,} models", count / len(pieces))
                while following in done:
                    if not _take(run, pieces[following], done.pop(following)):
                        return
                    following += 1
        except KeyboardInterrupt:
            for place in sorted(done):  # after a gap
                with suppress(GaltonError):
                    _take(run, pieces[place], done[place])
            telling.complain(f"interrupted: {count:,} of {len(pieces):,} models are answered")
            raise


def _take(run: Run, piece: _RowPiece, future: Future[_Answered]) -> bool:
    """Say and write what came of a row; false where others need not be looked at."""
    try:
        found = future.result()
    except LostWorkerError as error:
        run.begin()
        run.refuse_row(run.inquiry.row(piece.constants), error)
        run.write_rows()
        return True
    if found.fine:
        run.begin()
    known = run.told & found.told  # what is told once, however many rows it is about
    for said, rows in found.parts:
        telling.repeat((how, text) for how, text in said if text not in known)
        run.waiting.extend(rows)
        run.write_rows()
    run.told |= found.told
    run.code, run.answered = max(run.code, found.code), run.answered + found.answered
    run.failure = found.failure or run.failure
    return found.fine
