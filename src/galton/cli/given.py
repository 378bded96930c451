"""Models in explicit files where commands take programs: read instead of built, with the same options.

A :class:`GivenModel` is the program without commands that describes a model to properties, and has the model with it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..device.placement import Placement, Request
from ..io import read_model
from ..lang.program import Program
from ..lang.source import GaltonError
from ..model.described import described

if TYPE_CHECKING:
    from ..lower.reader import Reader
    from ..model.sparse import Model

__all__ = ["GivenModel", "read_given", "refuse_given"]


@dataclass(frozen=True, slots=True)
class GivenModel(Program):
    """A model from a file, as commands see programs."""

    path: Path = Path()
    model: Model | None = None

    def placed(
        self,
        device: str = "cpu",
        max_states: float | None = None,
        memory: float | None = None,
        *,
        fix_deadlocks: bool = True,
        reader: Reader | None = None,
    ) -> Model:
        """The model where it is asked for; options that could only be ignored are refused."""
        assert self.model is not None
        if memory is not None:
            raise GaltonError(f"--memory is for states that are explored; {self.path} is read")
        if reader is not None:
            raise GaltonError(f"a strategy with memory is followed while states are explored; {self.path} is read")
        if max_states is not None and self.model.n_states > max_states:
            raise GaltonError(f"{self.path} has {self.model.n_states:,} states, more than --max-states allows")
        if not fix_deadlocks:
            read_model(self.path, fix_deadlocks=False)  # says which state has no transition
        request = Request.parse(device)
        if request.kind == "mpi":
            raise GaltonError(f"ranks share models that they explore; {self.path} is read, so ask on one machine")
        if request.kind != "cuda":
            return replace(self.model, placement=Placement.cpu("read from a file", device))
        if len(request.numbers) > 1:
            raise GaltonError(f"a model from a file goes to one device, not to {device}")
        if request.numbers:
            from ..device.cuda.runtime import select

            select(request.numbers)
        return self.model.to_device()


def read_given(path: Path) -> GivenModel:
    """Read a model, with all files that belong to it."""
    start = time.perf_counter()
    model = read_model(path)
    program = described(model)
    known = {part.name: getattr(program, part.name) for part in fields(program)}
    return GivenModel(**known, path=path, model=replace(model, build_seconds=time.perf_counter() - start))


def refuse_given(path: Path, what: str) -> None:
    """Say that something needs a program, where the file holds a model."""
    from ..io import is_model_file

    if is_model_file(path):
        raise GaltonError(f"{what} needs a model in the PRISM language; {path} holds its states, not its commands")
