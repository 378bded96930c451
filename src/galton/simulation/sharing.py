"""Random paths followed by the workers of an executor.

Path number i of a seed is the same wherever it is followed (:mod:`galton.model.random_paths`), so that any runs of
numbers will do as pieces; what comes of them is put together in the order of the paths. Who follows them is packed
once and travels with each piece; a worker unpacks it the first time, one for each of its threads.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..model.random_paths import Batch, ModelPaths, PathQuestion, Sample
from ..workers import in_order
from .program_paths import ProgramPaths

__all__ = ["SharedPaths"]

PIECES = 64  # of a batch: some for each of many workers
LEAST = 64  # paths of a piece, whose way there and back takes as long as many steps

_own = threading.local()


@dataclass(frozen=True)
class _Packed:
    """Who follows paths, as it travels."""

    digest: str
    bytes: bytes

    @classmethod
    def of(cls, paths: ProgramPaths | ModelPaths) -> _Packed:
        data = pickle.dumps(paths)
        return cls(hashlib.sha256(data).hexdigest(), data)

    def unpacked(self) -> ProgramPaths | ModelPaths:
        """What was packed, in this process; the last one is kept."""
        if getattr(_own, "digest", None) != self.digest:
            _own.paths, _own.digest = pickle.loads(self.bytes), self.digest
        found: ProgramPaths | ModelPaths = _own.paths
        return found


class SharedPaths:
    """Paths of a program or a model, as these have them, followed by the workers of an executor."""

    device = "cpu"
    trouble = ""

    def __init__(self, paths: ProgramPaths | ModelPaths, executor: Executor):
        self._here, self._executor = paths, executor
        self._packed = _Packed.of(paths)

    def earnings(self) -> tuple[float, float, float, float]:
        """The least and the most that a state earns, and that a step does."""
        return self._here.earnings()

    def sample(self, question: PathQuestion, batch: Batch) -> Sample:
        """Follow these paths until the question is settled for each."""
        pieces = [
            partial(
                _sampled, self._packed, question, replace(batch, first=batch.first + first, count=count, watch=None)
            )
            for first, count in _runs(batch.count, LEAST)
        ]
        found: list[Sample] = []
        done = 0
        for sample in in_order(pieces, self._executor):
            found.append(sample)
            done += len(sample.steps)
            if batch.watch is not None:
                batch.watch(done)
        return Sample(
            np.concatenate([sample.verdicts for sample in found]),
            np.concatenate([sample.values for sample in found]),
            np.concatenate([sample.steps for sample in found]),
        )

    def follow(self, question: PathQuestion, seed: int, paths: int) -> dict[str, Any]:
        """All that the first paths meet, as the core tells it."""
        pieces = [partial(_followed, self._packed, question, seed, *run) for run in _runs(paths, 1)]
        found = list(in_order(pieces, self._executor))
        return {name: _joined([rows[name] for rows in found]) for name in found[0]}


def _runs(count: int, least: int) -> Iterator[tuple[int, int]]:
    """So many paths in runs: the first of each, and how many."""
    size = max(least, -(-count // PIECES))
    for first in range(0, count, size):
        yield first, min(size, count - first)


def _joined(parts: list[Any]) -> Any:
    """Arrays one after the other; of lists of them, one for each reward structure, each by itself."""
    if isinstance(parts[0], list):
        return [np.concatenate(own) for own in zip(*parts, strict=True)]
    return np.concatenate(parts)


def _sampled(packed: _Packed, question: PathQuestion, batch: Batch) -> Sample:
    return packed.unpacked().sample(question, batch)


def _followed(packed: _Packed, question: PathQuestion, seed: int, first: int, count: int) -> dict[str, Any]:
    return packed.unpacked().follow(question, seed, count, first)
