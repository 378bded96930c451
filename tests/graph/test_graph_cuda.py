"""The device's graph analysis against that of the CPU: on a device, or with its kernels compiled by g++."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from graph_oracle import edge_graph
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played import played_device
from played.kernels import FileKernel
from random_graphs import as_model, larger_models, masks, small_models

import galton
import galton.graph as cpu
from galton.graph import Components, small
from galton.model.sparse import Mask, Model, Values

MODELS = Path(__file__).resolve().parents[2] / "models"
EXAMPLES = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@dataclass(frozen=True)
class Device:
    """The functions under test, and the way of arrays to them and back."""

    graph: Any
    put: Callable[[Any], Any]
    get: Callable[[Any], Any]

    def model(self, model: Model) -> Model:
        starts = None if model.choice_starts is None else self.put(model.choice_starts)
        return replace(
            model, choice_starts=starts, row_starts=self.put(model.row_starts), columns=self.put(model.columns)
        )

    def mask(self, mask: Mask | None) -> Any:
        return None if mask is None else self.put(mask)


@pytest.fixture(scope="module", params=["played", pytest.param("device", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> Iterator[Device]:
    """Kernels run one thread at a time, or on a device."""
    if request.param == "played":
        if shutil.which("g++") is None:
            pytest.skip("g++ is not installed")
        with played_device() as played:
            yield Device(cpu, played.asarray, played.asnumpy)
        return
    import cupy

    with patch.object(small, "SMALL", 0):
        yield Device(cpu, cupy.asarray, cupy.asnumpy)


@pytest.fixture(params=["as it is", "pushing"])
def device(where: Device, request: pytest.FixtureRequest) -> Iterator[Device]:
    """As it is, small models are searched by sweeps alone; with other limits they take every way there is."""
    from galton.backend.cuda.graph import components, reachability, search

    with ExitStack() as stack:
        if request.param == "pushing":
            for name, limit in {"FAIR_PART": 1, "CHASE": 2, "WIDE": 2, "MANY_ENTRIES": 2}.items():
                stack.enter_context(patch.object(search, name, limit))
            stack.enter_context(patch.object(reachability, "ROUNDS", 0))
            stack.enter_context(patch.multiple(components, PATIENCE=2, FEW_PART=1))
        yield where


def check_reachability(device: Device, model: Model, through: Mask, goal: Mask) -> None:
    there = device.model(model)
    masks = device.put(through), device.put(goal)
    for name in ("can_reach", "can_avoid"):
        found = getattr(device.graph, name)(there, *masks)
        assert np.array_equal(device.get(found), getattr(cpu, name)(model, through, goal))
    for optimum in ("min", "max"):
        found = device.graph.zero_and_one(there, *masks, optimum)
        for mine, expected in zip(found, cpu.zero_and_one(model, through, goal, optimum), strict=True):
            assert np.array_equal(device.get(mine), expected)


def partition(found: Components) -> dict[frozenset[int], tuple[bool, bool]]:
    return {
        frozenset(found.states(number).tolist()): (bool(found.trivial[number]), bool(found.bottom[number]))
        for number in range(found.count)
    }


def fetched(device: Device, found: Components) -> Components:
    parts = (found.component, found.order, found.starts, found.trivial, found.bottom)
    return Components(*map(device.get, parts))


def check_components(device: Device, model: Model, within: Mask | None, choices: Mask | None) -> Components:
    there = device.model(model)
    found = device.graph.strongly_connected_components(there, device.mask(within), device.mask(choices))
    found, expected = fetched(device, found), cpu.strongly_connected_components(model, within, choices)
    assert found.count == expected.count
    assert np.array_equal(found.component < 0, expected.component < 0)
    assert np.array_equal(found.component[found.order], np.repeat(np.arange(found.count), found.sizes))
    # The same number of classes, and each of ours within one of theirs: the same classes.
    numbers = expected.component[found.order[found.starts[:-1]]]
    assert np.array_equal(np.append(numbers, -1)[found.component], expected.component)
    assert np.array_equal(found.trivial, expected.trivial[numbers])
    assert np.array_equal(found.bottom, expected.bottom[numbers])
    return found


def check_end_components(device: Device, model: Model, within: Mask | None, choices: Mask | None) -> None:
    found = device.graph.maximal_end_components(device.model(model), device.mask(within), device.mask(choices))
    expected = cpu.maximal_end_components(model, within, choices)
    assert found.count == expected.count
    assert np.array_equal(device.get(found.component), expected.component)
    assert np.array_equal(device.get(found.staying), expected.staying)


# Random models.


@EXAMPLES
@given(st.one_of(small_models(), larger_models()), st.data(), st.sampled_from([0.01, 0.1, 0.3]))
def test_zero_and_one(device: Device, model: Model, data: st.DataObject, goals: float) -> None:
    through, goal = data.draw(masks(model.n_states, 0.9)), data.draw(masks(model.n_states, goals))
    check_reachability(device, model, through, goal)


@EXAMPLES
@given(st.one_of(small_models(7), larger_models()), st.data())
def test_components(device: Device, model: Model, data: st.DataObject) -> None:
    within = data.draw(st.none() | masks(model.n_states, 0.8))
    choices = data.draw(st.none() | masks(model.n_choices, 0.8))
    found = check_components(device, model, within, choices)
    everywhere, always = np.ones(model.n_states, dtype=bool), np.ones(model.n_choices, dtype=bool)
    graph = edge_graph(model, everywhere if within is None else within, always if choices is None else choices)
    for source, target in graph.edges:
        assert found.component[target] <= found.component[source]
    bottom = fetched(device, device.graph.bottom_components(device.model(model), device.mask(within)))
    assert partition(bottom) == partition(cpu.bottom_components(model, within))
    assert np.array_equal(bottom.component[bottom.order], np.repeat(np.arange(bottom.count), bottom.sizes))


# Models of the gallery.

GALLERY = [
    ("consensus", {"N": 4, "K": 2}, "all_heads"),
    ("csma", {"N": 2, "K": 4}, "all_delivered"),
    ("wlan", {"MAX_BACKOFF": 1, "COL": 0}, "both_sent"),
    ("tandem", {"c": 63}, "init"),
    ("kanban", {"t": 2}, "init"),
    ("nand", {"N": 10, "K": 2}, "few_wrong"),
    ("crowds", {"TotalRuns": 3, "CrowdSize": 8}, "sender_seen_twice"),
]


@pytest.mark.parametrize(("name", "constants", "goal"), GALLERY, ids=[name for name, _, _ in GALLERY])
def test_gallery(device: Device, name: str, constants: dict[str, int], goal: str) -> None:
    model = galton.load(MODELS / f"{name}.prism", **constants).build()
    everywhere = np.ones(model.n_states, dtype=bool)
    check_reachability(device, model, everywhere, model.labels[goal])
    check_reachability(device, model, ~model.labels["init"], model.labels[goal])
    check_components(device, model, None, None)
    check_components(device, model, ~model.labels[goal], None)
    check_end_components(device, model, None, None)
    check_end_components(device, model, ~model.labels[goal], None)


# Models made to be slow: paths as long as the model.


def lined_up(kind: str, n: int) -> npt.NDArray[np.int64]:
    order = {"up": np.arange(n), "down": np.arange(n)[::-1], "in no order": np.random.default_rng(1).permutation(n)}
    return order[kind]


def pairs(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], choices: int) -> Model:
    """Row k leads to the k-th number of both arrays, and every state has so many rows."""
    columns = np.sort(np.stack([first, second], axis=1), axis=1)
    kept = np.stack([np.ones(len(first), dtype=bool), columns[:, 0] != columns[:, 1]], axis=1)
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    groups = np.arange(0, len(first) + 1, choices, dtype=np.int32) if choices > 1 else None
    return Model(
        type="dtmc" if choices == 1 else "mdp",
        choice_starts=groups,
        row_starts=starts,
        columns=columns[kept].astype(np.int32),
        values=Values(plain=np.ones(starts[-1])),
        initial=np.array([0], dtype=np.int32),
    )


@pytest.mark.parametrize("kind", ["up", "down", "in no order"])
def test_long_paths(where: Device, kind: str) -> None:
    """A line; a line on which each state may wait, or go on at the risk of the goal; a ring that falls apart."""
    n = 20_000
    place = lined_up(kind, n)
    position, states = np.argsort(place), np.arange(n)
    following = place[np.minimum(position + 1, n - 1)]
    everywhere = np.ones(n, dtype=bool)
    line = pairs(following, np.where(position % 2, following, states), 1)
    check_reachability(where, line, everywhere, states == place[-1])
    assert check_components(where, line, None, None).count == n
    risk = np.where((position == n - 1) | (position == 0), states, place[0])
    onward = np.where(position == 0, states, following)
    waiting = pairs(np.stack([onward, states], axis=1).ravel(), np.stack([risk, states], axis=1).ravel(), 2)
    check_reachability(where, waiting, everywhere, states == place[0])
    check_components(where, waiting, None, None)
    check_end_components(where, waiting, None, None)
    back = np.where(position == n - 1, states, place[0])
    ring = pairs(np.stack([following, states], axis=1).ravel(), np.stack([back, states], axis=1).ravel(), 2)
    check_components(where, ring, None, None)
    check_end_components(where, ring, None, None)


@pytest.mark.parametrize("kind", ["up", "down", "in no order"])
@pytest.mark.parametrize("end", [-1, 50_000], ids=["to the end", "to the middle"])
def test_a_long_path_takes_few_passes(kind: str, end: int) -> None:
    """A pass, or a launch, for each step would be a hundred thousand."""
    n = 100_000
    place = lined_up(kind, n)
    position = np.argsort(place)
    following = place[np.minimum(position + 1, n - 1)]
    line = pairs(following, np.where(position % 2, following, np.arange(n)), 1)
    with played_device() as played:
        device = Device(cpu, played.asarray, played.asnumpy)
        masks = played.ones(n, dtype=bool), played.asarray(np.arange(n) == place[end])
        before = FileKernel.launches
        found = cpu.can_reach(device.model(line), *masks)
        assert np.array_equal(device.get(found), position <= position[place[end]])
        assert 0 < FileKernel.launches - before < 30


def test_a_state_that_everything_leads_to(where: Device) -> None:
    """Its predecessors are more than one thread should look at."""
    n = 50_000
    states = np.arange(n)
    model = pairs(np.where(states == n // 2, n - 1, n // 2), np.where(states == n // 2, n - 1, n // 2), 1)
    everywhere, goal = np.ones(n, dtype=bool), states == n - 1
    from galton.backend.cuda.graph import search

    with patch.object(search, "FAIR_PART", 1):
        check_reachability(where, model, everywhere & (states != n - 1), goal)
        check_components(where, model, None, None)


def test_small_models_are_fetched() -> None:
    """Models, masks and answers of every kind go there and back."""
    with played_device() as played, patch.object(small, "SMALL", 100):
        model = as_model([[{0}, {1, 2}], [{1}], [{2}]])
        there = Device(cpu, played.asarray, played.asnumpy).model(model)
        goal, everywhere = played.asarray(np.array([False, True, False])), played.ones(3, dtype=bool)
        before = FileKernel.launches
        zero, one = cpu.zero_and_one(there, everywhere, goal, "max")
        assert isinstance(zero, played.ndarray)
        assert (zero.tolist(), one.tolist()) == ([False, False, True], [False, True, False])
        components = cpu.strongly_connected_components(there, within=everywhere)
        assert isinstance(components.bottom, played.ndarray)
        assert int(components.bottom.sum()) == 2
        ends = cpu.maximal_end_components(there)
        assert (ends.count, ends.component.tolist()) == (3, [0, 1, 2])
        assert FileKernel.launches == before


def test_masks_of_the_wrong_length_are_refused(where: Device) -> None:
    model = as_model([[{1}], [{0}]])
    with pytest.raises(ValueError, match="wrong length"):
        where.graph.can_reach(where.model(model), where.put(np.ones(3, dtype=bool)), where.put(np.ones(2, dtype=bool)))
    long = where.put(np.ones(3, dtype=bool))
    for name in ("strongly_connected_components", "maximal_end_components"):
        for argument in ("within", "choices"):
            with pytest.raises(ValueError, match="wrong length"):
                getattr(where.graph, name)(where.model(model), **{argument: long})
    with pytest.raises(ValueError, match="wrong length"):
        where.graph.forward_reachable(where.model(model), where.put(np.ones(2, dtype=bool)), long)
