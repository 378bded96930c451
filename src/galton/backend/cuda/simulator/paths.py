"""Random paths through a program on a CUDA device; the kernel is in ``simulate.cuh``."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from ....device.errors import DeviceError
from ....lower.lowering import Lowered
from ....model.random_paths import KINDS, Batch, PathQuestion, Sample
from ..explorer.kernels import THREADS, CudaKernels
from ..explorer.source import Source, text_with
from ..explorer.tables import NotPrintable

__all__ = ["Counts", "DevicePaths", "simulator_source"]

BATCH = 1 << 24  # paths at a time whose results are kept one by one
_COUNTERS = 5
_FALSE, _TRUE, _CUT, _STEPS, _FAULT = range(_COUNTERS)


class Counts:
    """How many paths came to what, and their steps together."""

    def __init__(self, counters: np.ndarray):
        self.falses, self.trues, self.cut, self.steps = (int(n) for n in counters[:_FAULT])


def simulator_source(
    lowered: Lowered, question: PathQuestion, *, verdicts: Sequence[int] = (), find_loops: int = 0
) -> Source:
    """The text of the kernel for a program and a kind of question."""
    labels = list(lowered.labels) if lowered.reader is None else []
    graph = lowered.graph
    varying = any(graph.constant(u.probability) is None for command in lowered.commands for u in command.updates)
    values = {
        "KIND": KINDS[question.kind],
        "GOAL": labels.index("goal") if "goal" in labels else -1,
        "THROUGH": labels.index("through") if "through" in labels else -1,
        "FIND_LOOPS": find_loops,
    }
    flags = {"TIMED": question.timed, "VARYING": varying, "EARNING": bool(lowered.program.rewards)}
    lines = [f"constexpr int {name} = {value};" for name, value in values.items()]
    lines += [f"constexpr bool {name} = {str(value).lower()};" for name, value in flags.items()]
    directory = files("galton.backend.cuda.simulator")
    table = f"TABLE int READER_VERDICTS[] = {{{', '.join(map(str, verdicts)) or '0'}}};"
    after = [table, *((directory / name).read_text() for name in ("philox.cuh", "simulate.cuh"))]
    return text_with(lowered, "\n".join(lines), "\n".join(after))


class DevicePaths:
    """Random paths of one program on the current device, for one question."""

    def __init__(
        self,
        lowered: Lowered,
        initial: Sequence[Sequence[int]],
        question: PathQuestion,
        *,
        verdicts: Sequence[int] = (),
        find_loops: int = 0,
    ):
        try:
            source = simulator_source(lowered, question, verdicts=verdicts, find_loops=find_loops)
        except NotPrintable as error:
            raise DeviceError(f"the program has {error}") from error
        self._question = question
        self._kernels = CudaKernels(source)
        self._xp = self._kernels.xp
        self._states = len(initial)
        self._initial = self._xp.asarray(np.array(initial, dtype=np.uint64).ravel())

    def count(self, *, seed: int, first: int, count: int) -> Counts:
        """Follow paths number ``first`` and so on, and count what they come to."""
        return Counts(self._run(seed, first, count, None, None, None))

    def sample(self, question: PathQuestion, batch: Batch) -> Sample:
        """Follow these paths until the question is settled for each."""
        if question != self._question:
            raise ValueError("the kernel was printed for another question")
        starts = range(0, batch.count, BATCH)
        parts = [self._part(batch.seed, batch.first + done, min(BATCH, batch.count - done)) for done in starts]
        return Sample(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _part(self, seed: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        xp = self._xp
        arrays = xp.zeros(count, np.uint8), xp.zeros(count, np.float64), xp.zeros(count, np.uint64)
        self._run(seed, first, count, *arrays)
        verdicts, values, steps = (array.get() for array in arrays)
        return verdicts, values, steps

    def _run(self, seed: int, first: int, count: int, verdicts: Any, values: Any, steps: Any) -> np.ndarray:
        question = self._question
        counts = self._xp.zeros(_COUNTERS, np.uint64)
        work = min(count, max(self._kernels.most_blocks("simulate"), 1) * THREADS)
        bounds = (_bits(question.low), _bits(question.high), question.most_steps)
        where = (self._initial, self._states, seed, first, count)
        self._kernels.run("simulate", work, *where, *bounds, counts, verdicts, values, steps)
        found: np.ndarray = counts.get()
        if found[_FAULT]:
            raise DeviceError("a path met a mistake of the program, which the CPU can tell")
        return found


def _bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])
