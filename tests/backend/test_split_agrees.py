"""Work that several devices share against the reference and against one device, on random models.

One device and several round alike: steps, proofs and bounds on the drift are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import Place
from played import memory, played_device
from systems import random_pair
from test_backends_agree import (  # noqa: F401
    numbered,
    test_exit_rates_are_exact_to_more_than_a_double,
    test_long_run,
    test_steps,
)
from test_cuda_restrict import random_model
from test_cuda_split import some_devices
from test_cuda_system import matrix_of

from galton.backend import CUDA, SPLIT
from galton.backend.chain import Chain
from galton.backend.protocol import OPTIMA, Span, Stop
from galton.device.moving import moved, to_host
from galton.model.sparse import Model

RANDOM = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), print_blob=False)
PARTS = st.sampled_from([2, 3, 5, 99])
SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Shared(Place):
    """Arrays on the host or on a device, of which devices take parts."""

    devices: tuple[int, ...]

    def give(self, value: Any) -> Any:
        value = super().give(value)
        if isinstance(value, Model):
            return replace(value, placement=replace(value.placement, devices=self.devices))
        return replace(value, devices=self.devices) if isinstance(value, Chain) else value


@pytest.fixture(scope="module", params=["played", pytest.param("cuda", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """CuPy, with as many devices as there are, or who plays it, with three."""
    if request.param == "cuda":
        import cupy

        yield cupy
        return
    with played_device(count=3) as played:
        yield played


@pytest.fixture(scope="module", params=[(2, "host"), (3, "device"), (99, "host")], ids=str)
def place(request: pytest.FixtureRequest, xp: ModuleType) -> Place:
    """Where arrays are, and how many parts devices take of them: there are fewer states than 99."""
    parts, where = request.param
    return Shared(SPLIT, np if where == "host" else xp, some_devices(xp, parts))


@RANDOM
@given(seed=SEEDS, parts=PARTS, kind=st.sampled_from(["dtmc", "ctmc", "mdp"]), size=st.integers(4, 50))
def test_steps_are_those_of_one_device(xp: ModuleType, seed: int, parts: int, kind: str, size: int) -> None:
    random = np.random.default_rng(seed)
    model = numbered(random_model(random, kind, size), 4 if seed % 2 else None)
    keep, loops = random.random(size) < 0.8, bool(seed % 3)
    keep[0] = True
    x, stay, weights = random.random(size), random.random(size), random.random(5)
    constant, count = random.random(model.n_choices), 1 + seed % 5
    results = []
    for where in (Place(CUDA, xp), Shared(SPLIT, np, some_devices(xp, parts))):
        states, _, matrix, starts, _ = where.backend.steps.part_of(where.give(model), where.give(keep), loops, 1)
        inside, rows = to_host(states), len(starts) - 1
        matrix = matrix.in_format(None, single=seed % 7 < 3)
        begin = x[inside].astype(matrix.precision.real)
        found: list[Any] = [np.array(matrix.rounds_values)]
        for scale, staying in () if kind == "mdp" else ((1.0, None), (0.25, stay)):
            chain = matrix.chain(scale, where.give(None if staying is None else staying[inside]))
            vectors, total = [where.give(begin) for _ in range(2)], where.give(np.zeros(len(inside)))
            swapped, *seen = chain.run(count, weights[:count], *vectors, total, 1)
            found += [vectors[swapped], total, np.array(seen)]
        for added in (None, constant[:rows]):
            choices = np.zeros(count * len(inside), dtype=np.int32)
            vectors = [where.give(begin) for _ in range(2)]
            bellman = matrix.bellman(where.give(added), bool(seed % 2))
            swapped, *seen = bellman.run(count, *vectors, choices if kind == "mdp" else None, 1)
            found += [vectors[swapped], np.array(seen), choices]
        results.append([to_host(array).tolist() for array in found])
    assert results[0] == results[1]


@RANDOM
@given(seed=SEEDS, parts=PARTS, optimum=st.sampled_from([None, "min", "max"]), length=st.sampled_from([1, 2, 5]))
def test_proofs_are_those_of_one_device(xp: ModuleType, seed: int, parts: int, optimum: Any, length: int) -> None:
    """Bounds that are nearly none: some are proved, some are not, and the same ones."""
    random = np.random.default_rng(seed)
    size = 2 + seed % 40
    pair = random_pair(random, size=size, optimum=OPTIMA[optimum], length=length, scaled=bool(seed % 2))
    reference, span, slack = pair.reference, Span(0, size), 2.0**-51
    systems = []
    for backend, library, devices in ((CUDA, xp, ()), (SPLIT, np, some_devices(xp, parts))):
        scale, constant = moved((reference.scale, reference.constant), library.array)
        rows = matrix_of(pair, library)
        values = _values(rows)
        matrix = backend.equations.matrix(
            rows.groups, rows.starts, rows.columns, values, scale, constant, format=None, devices=devices
        )
        systems.append((matrix.prover(constant, optimum), library))
    x = random.random(size)
    reference.gauss_seidel(x, x.copy(), None, span, Stop(2000))
    for nudge in (0.0, 1e-16, 1e-15, -1e-15, 1e-12):
        u = x * (1 + nudge * random.random(size))
        answers = []
        for prover, library in systems:
            mine = library.array(u)
            answers.append([prover.is_above(mine, span, slack), prover.is_below(mine, span, slack)])
        assert answers[0] == answers[1]


def _values(rows: Any) -> Any:
    from galton.model.values import Values

    return Values(plain=rows.codes) if rows.dictionary is None else Values(None, rows.dictionary, rows.codes)


@RANDOM
@given(seed=SEEDS, parts=PARTS, size=st.integers(4, 50))
def test_bounds_on_the_drift_are_those_of_one_device(xp: ModuleType, seed: int, parts: int, size: int) -> None:
    random = np.random.default_rng(seed)
    model = numbered(random_model(random, "ctmc", size), None)
    state, choice = random.random(size), random.random(size) if seed % 2 else None
    chain = Chain(model.row_starts, model.columns, model.values, state, choice)
    high, low = random.random(size) * 1e3, random.random(size) * 1e-9 if seed % 3 else None
    results = []
    for where in (Place(CUDA, xp), Shared(SPLIT, np, some_devices(xp, parts))):
        there = where.give(chain)
        given = (there, there.state, there.choice, *where.give((high, low)), 1)
        results.append([bound.tolist() for bound in to_host(where.backend.long_run.drift_bounds(*given))])
    assert results[0] == results[1]


def test_only_halos_are_exchanged() -> None:
    """A queue in two parts: each sweep and each step carries one number each way, however long the queue is."""
    size = 400
    dense = np.diag(np.full(size - 1, 0.4), 1) + np.diag(np.full(size - 1, 0.3), -1)
    with played_device(count=2):
        from galton.backend.cuda.layout import csr
        from galton.backend.cuda.split.equations import Matrix

        chain = Model.from_matrix("ctmc", dense)
        chain = replace(chain, placement=replace(chain.placement, devices=(0, 1)))
        steps = SPLIT.steps.matrix_of(chain).chain(1.0, None)
        rows = csr(None, chain.row_starts, chain.columns, chain.values[:], None)
        system = Matrix(rows, None, np.ones(size), None, (0, 1)).system(np.ones(size), None, compact=True)
        assert system.parts.halo == 2
        x = np.ones(size)
        with memory.watched() as traffic:
            system.gauss_seidel(x, x.copy(), None, Span(0, size), Stop(100))
        assert traffic.crossed == {"device": 8 * 2 * (100 + 1), "host": 8 * size}
        with memory.watched() as traffic:
            steps.run(50, None, x, x.copy(), None, 1)
        assert traffic.crossed == {"device": 8 * 2 * (50 + 1), "host": 8 * size}
        with memory.watched() as traffic:
            done, _ = system.bicgstab(x, None, Span(0, size), 50, 0.0)
        assert traffic.crossed["device"] <= 8 * 2 * (done + 1)
        assert traffic.crossed["host"] == 8 * size


def test_devices_that_do_not_receive_what_is_sent_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from galton.device.errors import DeviceError

    chain = numbered(random_model(np.random.default_rng(0), "ctmc", 30), None)
    chain = replace(chain, placement=replace(chain.placement, devices=(0, 1)))
    with played_device(count=2):
        from galton.backend.cuda.split import parts

        brought = parts.brought
        monkeypatch.setattr(parts, "brought", lambda array: brought(array) * 0)
        with pytest.raises(DeviceError, match="the CUDA device 0 does not receive what other devices send it"):
            parts.Parts(SPLIT.steps.matrix_of(chain).rows, (0, 1))
