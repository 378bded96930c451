"""Lumping on a device, played and real, against the reference."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from places import NEED_A_DEVICE, PLACES, Place

import galton
import galton.backend
from galton.backend.reference import lumping as reference
from galton.device.moving import to_host
from galton.reduce.lumping import Lumped, Sight, lump

sys.path.insert(0, str(Path(__file__).parents[1] / "reduce"))
from lump_cases import WEIGHTS, random_rows

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.gpu if name in NEED_A_DEVICE else ()) for name in PLACES],
)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    backend, library = PLACES[request.param]
    with library() as xp:
        yield Place(backend, xp)


@pytest.fixture(params=[None, 0], ids=["", "long rows"])
def _short_row(request: pytest.FixtureRequest, place: Place) -> Iterator[None]:
    """On devices, rows of more entries are sorted before they are compared."""
    if request.param is None:
        yield
        return
    if place.backend is galton.backend.CPU:
        pytest.skip("the core compares all rows in one way")
    from galton.backend.cuda.lumping import refinement

    with patch.object(refinement, "SHORT_ROW", request.param):
        yield


@pytest.mark.usefixtures("_short_row")
@pytest.mark.parametrize("weights", WEIGHTS)
def test_backends_find_the_coarsest_partition(place: Place, weights: str) -> None:
    for seed in range(16):
        rows, began = random_rows(seed, WEIGHTS[weights])
        expected = reference.refine(rows, began)
        found = place.backend.lumping.refine(place.give(rows), place.xp.array(began))
        if found.first is None:  # plain numbers that are too far apart for a device
            assert weights == "wide"
            continue
        np.testing.assert_array_equal(to_host(found.block), expected.block)
        np.testing.assert_array_equal(to_host(found.first), expected.first)


def test_backends_split_by_keys(place: Place) -> None:
    random = np.random.default_rng(3)
    keys, block = random.integers(0, 5, 200).astype(np.uint64) << np.uint64(61), random.integers(0, 3, 200)
    expected, found = block.astype(np.int32), place.xp.array(block.astype(np.int32))
    assert place.backend.lumping.split(place.xp.array(keys), found) == reference.split(keys, expected)
    pairs = set(zip(to_host(found).tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})


@pytest.mark.usefixtures("_short_row")
def test_a_device_gives_up_where_hashes_collide(place: Place) -> None:
    """It never says that states are alike which are not."""
    if place.backend is galton.backend.CPU:
        pytest.skip("the core goes on: tests/reduce/test_bisimulation.py")
    from galton.backend.cuda.lumping import refinement

    given_up = 0
    for seed in range(12):
        rows, began = random_rows(seed, WEIGHTS["tenths"])
        with patch.object(refinement, "HASH_BITS", 1):
            found = refinement.refine(place.give(rows), place.xp.array(began))
        given_up += found.first is None
        if found.first is not None:
            np.testing.assert_array_equal(to_host(found.block), reference.refine(rows, began).block)
    assert given_up


def test_quotients_are_the_same(place: Place) -> None:
    for file, constants in (("herman.prism", {"N": 5}), ("consensus.prism", {"N": 2, "K": 2})):
        model = galton.load(MODELS / file, **constants).build(device="cpu")
        there = model if place.backend is galton.backend.CPU else model.to_device()
        mine, theirs = lump(there, Sight.whole(there)), lump(model, Sight.whole(model))
        assert isinstance(mine, Lumped)
        assert isinstance(theirs, Lumped)
        assert mine.model.same_as(theirs.model)
        assert mine.model.on_device == there.on_device


def test_answers_of_a_lumped_model_on_a_device(place: Place) -> None:
    if place.backend is galton.backend.CPU:
        pytest.skip("tests/check/test_lumped_answers.py")
    for file, constants, prop in (
        ("herman.prism", {"N": 5}, 'filter(max, R=? [ F "stable" ])'),
        ("consensus.prism", {"N": 2, "K": 2}, 'Pmin=? [ F "finished" & "all_heads" ]'),
        ("cluster.prism", {"N": 1}, 'P=? [ F<=0.2 !"minimum" ]'),
    ):
        model = galton.load(MODELS / file, **constants).build(device="cuda")
        mine, theirs = (galton.check(model, prop, lump=lump) for lump in (True, False))
        assert mine.device == theirs.device == "cuda"
        assert mine.value == pytest.approx(theirs.value, rel=3e-6)
        assert mine.about == theirs.about
