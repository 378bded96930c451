"""Equations made on a device against those made by the core: the same rows, in the order of the states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from systems import to_host

from galton.backend.rows import every_successor_in, owners, spread
from galton.graph import maximal_end_components
from galton.model.sparse import Model
from galton.reduce.restriction import restrict


def random_model(random: np.random.Generator, kind: str, size: int = 40) -> Model:
    """A model with loops, cycles and rows of several lengths."""
    rows = size if kind != "mdp" else int(random.integers(size, 3 * size))
    matrix = np.zeros((rows, size))
    for row in matrix:
        targets = random.choice(size, random.integers(1, 5), replace=False)
        weights = random.choice([0.125, 0.25, 0.5, 1.0], len(targets))
        row[targets] = weights if kind == "ctmc" else weights / weights.sum()
    groups = None
    if kind == "mdp":
        groups = np.sort(np.append(random.choice(np.arange(1, rows), size - 1, replace=False), [0, rows]))
    return Model.from_matrix(kind, matrix, row_groups=groups)  # type: ignore[arg-type]


def moved(model: Model, xp: Any) -> Any:
    """The parts of a model that the device's functions use, where they belong."""
    from dataclasses import replace

    values = model.values

    def give(array: Any) -> Any:
        return None if array is None else xp.asarray(array)

    parts = {name: give(getattr(values, name)) for name in ("plain", "dictionary", "index")}
    return replace(
        model,
        choice_starts=give(model.choice_starts),
        row_starts=give(model.row_starts),
        columns=give(model.columns),
        values=replace(values, **parts),
    )


@pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])
@pytest.mark.parametrize("seed", range(8))
def test_restrict(xp: Any, kind: str, seed: int) -> None:
    from galton.backend.cuda import restrict as device

    random = np.random.default_rng(seed)
    model = random_model(random, kind)
    size = model.n_states
    open_states = random.random(size) < 0.7
    known = np.where(open_states, 0.0, random.random(size))
    reward = random.random(model.n_choices) if seed % 2 else None
    keep = None
    if kind == "mdp" and seed % 3 == 0:
        keep = random.random(model.n_choices) < 0.8
        assert model.choice_starts is not None
        keep[model.choice_starts[:-1]] = True  # every state keeps one
    merge = None
    if kind == "mdp" and seed % 2 == 0:
        found = maximal_end_components(model, open_states, keep)
        merge = found.component if found.count else None
    members, groups = np.flatnonzero(open_states).astype(np.int32), None
    if merge is not None:
        heads = {c: int(np.flatnonzero(merge == c)[0]) for c in range(merge.max() + 1)}
        first = np.array([heads[merge[s]] if merge[s] >= 0 else s for s in members])
        members = members[np.argsort(first, kind="stable")]
        groups = np.append(np.unique(np.sort(first), return_index=True)[1], len(members)).astype(np.int32)
    expected = restrict(model, members, known, reward=reward, keep=keep, groups=groups)

    def give(array: Any) -> Any:
        return None if array is None else xp.asarray(array)

    number, unknowns = device.number_states(give(open_states), give(merge))
    np.testing.assert_array_equal(to_host(number), expected.origin.number)
    found = device.restrict(moved(model, xp), number, unknowns, give(known), give(reward), give(keep))
    for name in ("groups", "starts", "columns", "rows"):
        np.testing.assert_array_equal(to_host(getattr(found, name)), getattr(expected, name), err_msg=name)
    codes = expected.values.plain if expected.values.dictionary is None else expected.values.index
    np.testing.assert_array_equal(to_host(found.codes), codes)
    np.testing.assert_array_equal(to_host(found.constant), expected.constant)
    scale = np.ones(len(expected.rows)) if expected.scale is None else expected.scale
    np.testing.assert_array_equal(np.ones_like(scale) if found.scale is None else to_host(found.scale), scale)
    assert (found.scale is None) == bool((scale == 1).all())
    if expected.groups is not None:
        chosen = to_host(found.progress)
        assert (expected.groups[:-1] <= chosen).all()
        assert (chosen < expected.groups[1:]).all()


@pytest.mark.parametrize("kind", ["dtmc", "mdp"])
def test_choices(xp: Any, kind: str) -> None:
    from galton.backend.cuda import rows

    random = np.random.default_rng(5)
    model = random_model(random, kind)
    states = random.random(model.n_states) < 0.6
    there = moved(model, xp)
    np.testing.assert_array_equal(to_host(rows.owners(there)), owners(model))
    inside = rows.every_successor_in(there, xp.asarray(states))
    np.testing.assert_array_equal(to_host(inside), every_successor_in(model, states))
    numbers = random.random(model.n_states)
    np.testing.assert_array_equal(numbers[owners(model)], spread(model, numbers))
