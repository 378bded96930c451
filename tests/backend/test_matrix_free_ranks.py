"""Numbers of states by rank, and two numbers a state: the kernels of a device that has no matrix, played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from played import memory, played_device
from program_cases import CASES, chain, wide

import galton
from galton.backend.cuda.matrix_free import Numbers, StateSet, discover, states
from galton.device.errors import DeviceMemoryError
from galton.lower.lowering import Lowered, Lowering

PROGRAMS = {"several words": wide(5, 3), "one after the other": chain(1000), "initial states": CASES["initial states"]}


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    """A device that is played."""
    with played_device():
        yield


def lowered(program: galton.Program, goal: str = "false") -> Lowered:
    """A program without rewards, with a goal."""
    (row,) = galton.checking.inquiring.inquire(program, f"P=? [ F {goal} ]", {}, galton.Settings()).rows()
    lowering = Lowering(program)
    path = row.all_asked[0].question.prop.expression.path
    return replace(lowering.lowered(structures=()), labels={"goal": lowering.expressions.node(path.operand)})


def states_of(text: str) -> tuple[StateSet, np.ndarray]:
    """The states as a set, and as the explorer of the CPU lists them."""
    program = galton.parse(text)
    return discover(lowered(program)), program.build().states.words


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_numbers_are_those_of_the_explorer(text: str, hashed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if hashed:
        monkeypatch.setattr(states, "directory_size", lambda lowered, slots: None)
    found, words = states_of(text)
    assert found.n == len(words)
    numbers = np.arange(found.n, dtype=np.uint64)
    assert np.array_equal(found.states(numbers), words)
    assert np.array_equal(found.ranks(words), numbers)


def test_all_groups_and_none() -> None:
    """Groups that are full, groups of one, and a last block that is not."""
    text = "mdp module m x : [0..63]; y : [0..99]; z : [0..1]; [] y<99 & z=0 -> (y'=y+1); "
    found, words = states_of(text + "[] y=7 & z=0 & x<63 -> (x'=x+1); [] y=99 & x=3 & z=0 -> (z'=1); endmodule")
    numbers = np.arange(found.n, dtype=np.uint64)
    assert np.array_equal(found.states(numbers), words)
    assert np.array_equal(found.ranks(words), numbers)


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("first", [2**31 - 300, 2**32 - 5, 2**40 + 256])
def test_numbers_beyond_32_bits(first: int, hashed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same groups, behind so many states that nobody has the memory for."""
    if hashed:
        monkeypatch.setattr(states, "directory_size", lambda lowered, slots: None)
    found, words = states_of(CASES["synchronised"])
    kernels, n = found.kernels, found.n
    assert (found.table is not None) == hashed
    if found.table is not None:
        found.table[:, 2] += np.uint64(first)
    found.ends += np.uint64(first)
    blocks = kernels.xp.zeros((first + n) // 256 - first // 256 + 2, dtype=np.uint64)
    blocks[-1] = blocks[-2] = len(found.ends) - 1
    before = blocks.data.ptr - first // 256 * 8  # where the first block of all would be
    kernels.run("find_firsts", len(found.ends), found.groups, found.ends, len(found.ends), before)
    found.firsts = before
    numbers = np.arange(first, first + n, dtype=np.uint64)
    assert np.array_equal(found.ranks(words), numbers)
    assert np.array_equal(found.states(numbers), words)


@pytest.mark.parametrize("queue", [1, 3, 1 << 20])
def test_backwards_with_little_room(queue: int) -> None:
    """Lists of states that wait are taken up again where the queue was full."""
    text = "dtmc module m x : [0..200]; y : [0..3]; [] x<200 -> 0.5 : (x'=x+1) + 0.5 : (y'=0) & (x'=min(200, 2*x+1)); "
    program = galton.parse(text + "endmodule init true endinit")
    found_states = discover(lowered(program, "x=200 & y=0"))
    numbers = Numbers(found_states, "probability", None, queue=queue)
    assert numbers.backwards() == 0
    expected = galton.check(program.build(), "filter(range, P=? [ F x=200 & y=0 ])").value
    found = numbers.extremes()
    assert (found.least_first, found.most_second) == pytest.approx(expected, rel=1e-12)
    values = numbers.pairs.get().reshape(-1, 2)
    assert (values[:, 0] <= values[:, 1]).all()
    everywhere = galton.check(program.build(), "P=? [ F x=200 & y=0 ]").values.array
    np.testing.assert_allclose(values.mean(axis=1), everywhere, rtol=1e-6)


def test_too_little_memory_is_told_with_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    thousand = discover(lowered(galton.parse(chain(1000))))
    monkeypatch.setattr(memory, "free", 1 << 28)
    with pytest.raises(
        DeviceMemoryError, match=r"1,000 states take 0\.0 GB .* their numbers 0\.0 GB more, and 0\.0 GB are free"
    ):
        Numbers(thousand, "probability", None)
