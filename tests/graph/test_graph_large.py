"""Models made to be slow: a pass over the states per step would take hours. Each takes about a second."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from galton.graph import (
    attractor,
    can_avoid,
    can_reach,
    forward_reachable,
    maximal_end_components,
    strongly_connected_components,
    surely_reaches,
)
from galton.model.sparse import Model, Values

N = 1_000_000
SECONDS = 20.0  # of processor time, for a test, on a slow and busy machine; a quadratic way would take an hour


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < SECONDS


def model_of(rows: list[npt.NDArray[np.int64]], owners: npt.NDArray[np.int64] | None = None) -> Model:
    """A model whose k-th choice has an edge to each array's k-th number; ``owners`` are the states of the choices."""
    columns = np.sort(np.stack(rows, axis=1), axis=1)
    first = np.ones(columns.shape, dtype=bool)
    first[:, 1:] = columns[:, 1:] != columns[:, :-1]
    row_starts = np.concatenate(([0], np.cumsum(first.sum(axis=1)))).astype(np.int32)
    starts = None
    if owners is not None:
        starts = np.searchsorted(owners, np.arange(owners[-1] + 2)).astype(np.int32)
    return Model(
        type="dtmc" if owners is None else "mdp",
        choice_starts=starts,
        row_starts=row_starts,
        columns=columns[first].astype(np.int32),
        values=Values(plain=np.repeat(1 / first.sum(axis=1), first.sum(axis=1))),
        initial=np.array([0], dtype=np.int32),
    )


def numbering(kind: str) -> npt.NDArray[np.int64]:
    match kind:
        case "up":
            return np.arange(N)
        case "down":
            return np.arange(N)[::-1]
        case _:
            return np.random.default_rng(1).permutation(N)


@pytest.mark.parametrize("kind", ["up", "down", "in no order"])
def test_a_long_chain(kind: str) -> None:
    """Position k goes to k + 1 and, every other time, back to itself; the last one stays."""
    place = numbering(kind)
    position = np.argsort(place)
    following = place[np.minimum(position + 1, N - 1)]
    other = np.where(position % 2 == 0, np.arange(N), following)
    model = model_of([following, other])
    end, start, everywhere = np.zeros((3, N), dtype=bool)
    end[place[-1]], start[place[0]], everywhere[:] = True, True, True
    assert can_reach(model, everywhere, end).all()
    assert surely_reaches(model, everywhere, end, some_strategy=True).all()
    assert surely_reaches(model, everywhere, end, some_strategy=False).all()
    assert forward_reachable(model, start).all()
    assert np.array_equal(attractor(model, everywhere, end), np.arange(N))
    found = strongly_connected_components(model)
    assert np.array_equal(found.component, N - 1 - position)
    assert found.trivial.sum() == N - np.count_nonzero(other == np.arange(N))
    assert np.flatnonzero(found.bottom).tolist() == [0]
    assert maximal_end_components(model).count == 1


@pytest.mark.parametrize("kind", ["up", "down", "in no order"])
def test_a_long_chain_where_each_state_may_wait(kind: str) -> None:
    """Each state waits, or goes on at the risk of the goal; the last one fails. One after the other the states turn out
    not to reach the goal surely, from the last to the first; each of them is an end component."""
    place = numbering(kind)
    position = np.argsort(place)
    following = place[np.minimum(position + 1, N - 1)]
    goal_state = place[0]  # nobody else goes there
    risk = np.where((position == N - 1) | (position == 0), np.arange(N), goal_state)
    forward = np.where(position == 0, np.arange(N), following)
    stay = np.arange(N)
    first = np.stack([forward, stay], axis=1).ravel()
    second = np.stack([risk, stay], axis=1).ravel()
    model = model_of([first, second], np.repeat(np.arange(N), 2))
    goal, everywhere = np.zeros((2, N), dtype=bool)
    goal[goal_state], everywhere[:] = True, True
    assert can_reach(model, everywhere, goal).sum() == N - 1
    assert can_avoid(model, everywhere, goal).sum() == N - 1
    assert surely_reaches(model, everywhere, goal, some_strategy=True).sum() == 1
    assert maximal_end_components(model).count == N


@pytest.mark.parametrize("kind", ["up", "down", "in no order"])
def test_a_ring_that_falls_apart_state_by_state(kind: str) -> None:
    """Each state waits, or goes on at the risk of falling back to the first; the last one only waits. All but the last
    are one component; without the rows that leave it the next one is alone, and so on."""
    place = numbering(kind)
    position = np.argsort(place)
    last = position == N - 1
    forward = np.where(last, np.arange(N), place[np.minimum(position + 1, N - 1)])
    back = np.where(last, np.arange(N), place[0])
    stay = np.arange(N)
    first = np.stack([forward, stay], axis=1).ravel()
    second = np.stack([back, stay], axis=1).ravel()
    model = model_of([first, second], np.repeat(np.arange(N), 2))
    assert strongly_connected_components(model).count == 2
    found = maximal_end_components(model)
    assert found.count == N
    assert np.count_nonzero(found.staying) == N + 1  # both choices of the last state stay
