"""Lumping: the coarsest partition, exactly; and the same answers from the quotient as from the whole model."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from lump_cases import WEIGHTS, random_rows

import galton
from galton.backend.cpu import lumping as core
from galton.backend.lumping import LumpLimits
from galton.backend.reference import lumping as reference
from galton.reduce.lumping import Lumped, Sight, lump, partition

MODELS = Path(__file__).parents[2] / "models"


# Partitions.


@pytest.mark.parametrize("hash_bits", [64, 3, 0])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_core_finds_the_coarsest_partition_though_hashes_collide(weights: str, hash_bits: int) -> None:
    """With hashes of 3 bits or none nearly all of them collide: the exact comparison has to find everything."""
    smaller = 0
    for seed in range(25):
        rows, began = random_rows(seed, WEIGHTS[weights])
        expected = reference.refine(rows, began)
        with patch.object(core, "HASH_BITS", hash_bits):
            found = core.refine(rows, began, threads=1 + seed % 2)
        np.testing.assert_array_equal(found.block, expected.block)
        np.testing.assert_array_equal(found.first, expected.first)
        assert expected.first is not None
        smaller += len(expected.first) < rows.n_states
    assert smaller >= 10


@pytest.mark.parametrize("leaving", [False, True])
def test_the_core_adds_up_weights_of_one_kind(leaving: bool) -> None:
    for seed in range(25):
        rows, began = random_rows(seed, (1.0, -1.0, 0.5))  # negative ones: sums may vanish
        kinds = np.random.default_rng(seed).integers(0, 2, len(rows.columns)).astype(np.int32)
        rows = replace(rows, kinds=kinds, n_kinds=2, leaving=leaving)
        found, expected = core.refine(rows, began), reference.refine(rows, began)
        np.testing.assert_array_equal(found.block, expected.block)


def test_many_threads_find_the_same() -> None:
    model = galton.load(MODELS / "herman.prism", N=9).build()
    copies = [partition(model, Sight.whole(model), threads=threads) for threads in (1, 2, 3)]
    for other in copies[1:]:
        np.testing.assert_array_equal(copies[0].block, other.block)


def fork(*ways: float, sure: float) -> galton.Model:
    """State 0 may go to several goals, state 1 to one: alike where the sum of the ways is the sure one."""
    k = len(ways)
    matrix = np.zeros((k + 3, k + 3))
    matrix[0, 2 : k + 2] = ways
    matrix[1, 2] = sure
    matrix[:2, k + 2] = 1.0
    matrix[range(2, k + 3), range(2, k + 3)] = 1.0
    return galton.Model.from_matrix("ctmc", matrix, labels={"goal": list(range(2, k + 2))}, initial=[0, 1])


def test_sums_are_compared_as_the_numbers_they_are() -> None:
    """What rounding makes equal is kept apart, and what it makes different is not."""
    up = float(np.nextafter(1.0, 2))
    alike = [((0.5, 0.5), 1.0), ((0.1, 0.1), 0.2), ((1e-300, 1e-300), 2e-300), ((0.25, 2.0**-54, 0.75), 1 + 2.0**-54)]
    for ways, sure in [*alike, ((0.1, 0.2), 0.3), ((0.5, 0.5), up), ((1.0, 2.0**-80), 1.0), ((1e300, 1e-300), 1e300)]:
        model = fork(*ways, sure=sure)
        found = partition(model, Sight((), ("goal",)))
        assert (found.block[0] == found.block[1]) == (sum(map(Fraction, ways)) == Fraction(sure)), (ways, sure)


def test_the_order_of_addition_does_not_keep_states_apart() -> None:
    """(0.1 + 0.2) + 0.3 and (0.3 + 0.2) + 0.1 are different doubles, and the same number."""
    matrix = np.zeros((9, 9))
    matrix[0, 2:5], matrix[1, 5:8] = (0.1, 0.2, 0.3), (0.3, 0.2, 0.1)
    matrix[:2, 8] = 1.0
    matrix[range(2, 9), range(2, 9)] = 1.0
    model = galton.Model.from_matrix("ctmc", matrix, labels={"goal": list(range(2, 8))}, initial=[0, 1])
    found = galton.lump(model)
    assert found.model.n_states == 3
    assert found.block[0] == found.block[1]


def test_models_that_differ_in_the_last_bit_are_not_merged() -> None:
    """Two copies of a gambler, one of them with a weight one unit larger: nothing of them is the same but the ends."""
    size = 6
    for bend in (False, True):
        matrix = np.zeros((2 * size, 2 * size))
        for first in (0, size):
            for k in range(size):
                up, down = (k, k) if k in (0, size - 1) else (k + 1, k - 1)
                matrix[first + k, first + up] += 0.5
                matrix[first + k, first + down] += 0.5
        if bend:
            matrix[size + 1, size + 2] = np.nextafter(0.5, 1)
        goals = [size - 1, 2 * size - 1]
        model = galton.Model.from_matrix("ctmc", matrix, labels={"goal": goals}, initial=[1, size + 1])
        assert galton.lump(model).model.n_states == (2 * size - 2 if bend else size)


def test_choices_are_sets_of_distributions() -> None:
    """Equal choices count once, whatever their actions, unless these are asked about."""
    matrix = [[0, 0, 1.0], [0, 0, 1.0], [0, 0, 1.0], [0, 0, 1.0]]
    model = galton.Model.from_matrix(
        "mdp", matrix, row_groups=[0, 2, 3, 4], actions=["a", "b", "a", ""], initial=[0, 1]
    )
    model = replace(model, labels={"end": np.array([False, False, True])})
    plain, named = galton.lump(model), galton.lump(model, actions=True)
    assert (plain.model.n_states, plain.model.n_choices) == (2, 2)
    assert (named.model.n_states, named.model.n_choices) == (3, 4)


def test_rewards_of_choices_tell_states_apart() -> None:
    matrix = [[0, 0, 1.0], [0, 0, 1.0], [0, 0, 1.0]]
    rewards = {"r": galton.model.sparse.Rewards(choice=np.array([1.0, 2.0, 0.0]))}
    model = galton.Model.from_matrix("mdp", matrix, row_groups=[0, 1, 2, 3], initial=[0, 1])
    model = replace(model, rewards=rewards)
    assert lumped(model, Sight()).model.n_states == 1
    assert lumped(model, Sight((), (), ("r",))).model.n_states == 3


def lumped(model: galton.Model, sight: Sight) -> Lumped:
    found = lump(model, sight)
    assert isinstance(found, Lumped)
    found.model.validate()
    return found


def test_work_is_given_up_at_the_limits() -> None:
    model = galton.load(MODELS / "tandem.prism", c=10).build()
    assert partition(model, Sight.whole(model), LumpLimits(blocks=20)).first is None
    assert partition(model, Sight.whole(model), LumpLimits(entries=10)).first is None
    assert partition(model, Sight.whole(model)).first is not None


def test_a_long_chain_is_split_in_time() -> None:
    """A round for each of 200,000 states, each of which looks at one state only."""
    n = 200_000
    model = galton.model.sparse.Model(
        type="dtmc",
        row_starts=np.arange(n + 1, dtype=np.int32),
        columns=np.minimum(np.arange(1, n + 1), n - 1).astype(np.int32),
        values=galton.model.values.Values.compress(np.ones(n)),
        initial=np.array([0], dtype=np.int32),
        labels={"end": np.arange(n) == n - 1},
    )
    found = partition(model, Sight((), ("end",)))
    assert found.first is not None
    assert len(found.first) == n
    assert found.entries < 10 * n


# Minimality, beside Storm.

STORM = [
    ("herman.prism", {"N": 7}, 9),
    ("die.prism", {}, 9),
    ("csma.prism", {"N": 2, "K": 2}, 434),
    ("consensus.prism", {"N": 2, "K": 2}, 144),
    ("leader_sync.prism", {"N": 3, "K": 3}, 8),
    ("brp.prism", {"N": 8, "MAX": 2}, 176),
    ("egl.prism", {"N": 3, "L": 2}, 239),
    ("cluster.prism", {"N": 2}, 147),
    ("kanban.prism", {"t": 1}, 160),
]


@pytest.mark.parametrize(("file", "constants", "blocks"), STORM, ids=[case[0] for case in STORM])
def test_there_are_as_many_blocks_as_storm_finds(file: str, constants: dict[str, int], blocks: int) -> None:
    """Strong bisimulation that keeps all labels. The numbers are Storm 2.0's; where it is there, it is asked again."""
    model = galton.load(MODELS / file, **constants).build()
    found = partition(model, Sight((), tuple(model.labels)))
    assert found.first is not None
    assert len(found.first) == blocks
    try:
        import stormpy
        from stormpy.transformations import perform_bisimulation
    except ImportError:
        return
    program = stormpy.parse_prism_program(str(MODELS / file), prism_compatibility=True)
    program, _ = stormpy.instantiate_constants(program, ",".join(f"{n}={value}" for n, value in constants.items()))
    options = stormpy.BuilderOptions()
    options.set_build_all_labels(True)
    assert perform_bisimulation(stormpy.build_model(program, options=options), []).nr_states == blocks
