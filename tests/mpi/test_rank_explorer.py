"""One rank's part of an exploration, and searches in it, without MPI: several ranks in one process, told by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import galton
from galton import _core
from galton.backend.cpu.explorer import to_core
from galton.backend.cpu.matrix import matrix_of
from galton.explore import build
from galton.lower.lowering import lower

MODELS = Path(__file__).parents[2] / "models"
CASES = [
    ("brp.prism", {"N": 16, "MAX": 2}),
    ("cluster.prism", {"N": 4}),
    ("consensus.prism", {"N": 2, "K": 2}),
    ("herman.prism", {"N": 7}),
    ("egl.prism", {"N": 5, "L": 2}),
]


def explored(name: str, constants: dict[str, Any], ranks: int, threads: int = 1) -> tuple[Any, list[Any], list[Any]]:
    """The program, the explorers of all ranks, and how many states, choices and transitions each has found."""
    program = galton.load(MODELS / name, **constants)
    lowered = lower(program)
    core = to_core(lowered)
    limits = {"threads": threads, "max_states": 2**60, "memory": 2**40}
    explorers = [_core.RankExplorer(core, rank=r, ranks=ranks, **limits) for r in range(ranks)]
    assert not any(explorer.begin() for explorer in explorers)
    while any(explorer.waiting for explorer in explorers):
        for mine, explorer in enumerate(explorers):
            assert not explorer.expand(1)
            for other, target in enumerate(explorers):
                if other != mine:
                    assert not target.receive(explorer.outbox(other))
    counted = [(explorer.states, *explorer.finish()) for explorer in explorers]
    return program, explorers, counted


def settled(explorers: list[Any], counted: list[Any], firsts: np.ndarray) -> None:
    """Give each rank the states of its range."""
    states = np.concatenate([explorer.take_states() for explorer in explorers])
    initial = np.concatenate([explorer.take_initial() for explorer in explorers])
    names = ("all_states", "all_choices", "all_transitions")
    totals = {name: sum(part[k] for part in counted) for k, name in enumerate(names)}
    for rank, explorer in enumerate(explorers):
        mine = [words[explorer.owners(words, firsts) == rank] for words in (states, initial)]
        explorer.settle(*mine, firsts, **totals)


def ghosts_of(found: dict[str, Any], found_by: list[dict[str, Any]]) -> list[np.ndarray]:
    """The numbers of a rank's ghosts at their owners."""
    words, starts = found["ghosts"], found["ghost_starts"]
    return [_core.numbers_of(words[starts[r] : starts[r + 1]], other["states"]) for r, other in enumerate(found_by)]


@pytest.mark.parametrize(("name", "constants"), CASES)
@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (2, 1), (3, 1), (7, 1), (3, 2)])
def test_same_model_as_on_one_machine(name: str, constants: dict[str, Any], ranks: int, threads: int) -> None:
    program, explorers, counted = explored(name, constants, ranks, threads)
    whole = build(program, device="cpu")
    if ranks > 1:
        places = np.arange(1, ranks) * whole.n_states // ranks
        settled(explorers, counted, np.ascontiguousarray(whole.states.words[places]))
    found_by = [explorer.assemble(None) for explorer in explorers]
    parts = [(len(found["states"]), ghosts_of(found, found_by), found) for found in found_by]
    assert sum(count for count, _, _ in parts) == whole.n_states
    place = {tuple(words): number for number, words in enumerate(whole.states.words.tolist())}
    canonical = [
        np.array([place[tuple(words)] for words in found["states"].tolist()], dtype=int) for _, _, found in parts
    ]
    for order in canonical:
        assert (np.diff(order) > 0).all()
    rows = whole.row_groups
    seen = 0
    for mine, (_, numbers, found) in enumerate(parts):
        known = np.concatenate([canonical[mine], *(canonical[r][n] for r, n in enumerate(numbers))]).astype(int)
        values = found["values"] if "values" in found else found["dictionary"][found["value_index"]]
        groups = found.get("choice_starts", np.arange(len(canonical[mine]) + 1))
        for state, number in enumerate(canonical[mine]):
            there = range(groups[state], groups[state + 1])
            here = range(rows[number], rows[number + 1])
            assert len(there) == len(here)
            for row, other in zip(there, here, strict=True):
                entries = slice(found["row_starts"][row], found["row_starts"][row + 1])
                mine_row = dict(zip(known[found["columns"][entries]].tolist(), values[entries].tolist(), strict=True))
                theirs = slice(int(whole.row_starts[other]), int(whole.row_starts[other + 1]))
                assert mine_row == dict(zip(whole.columns[theirs].tolist(), whole.values[theirs].tolist(), strict=True))
                seen += 1
        for label, mask in zip(program.labels, found["labels"], strict=True):
            if mask is not None:
                assert (mask.view(bool) == whole.labels[label][canonical[mine]]).all()
    assert seen == whole.n_choices


def test_a_rank_without_states_has_no_rows() -> None:
    _, explorers, counted = explored("brp.prism", {"N": 16, "MAX": 2}, 3)
    last = build(galton.load(MODELS / "brp.prism", N=16, MAX=2), device="cpu").states.words[-1:]
    settled(explorers, counted, np.concatenate([last, last]))
    found = [explorer.assemble(None) for explorer in explorers]
    assert [len(rows["row_starts"]) - 1 for rows in found] == [len(rows["states"]) for rows in found]
    assert not len(found[1]["states"])
    assert not len(found[1]["columns"])
    assert sum(len(rows["states"]) for rows in found) == sum(states for states, _, _ in counted)


@pytest.mark.parametrize("threads", [1, 2])
def test_states_are_spread(threads: int) -> None:
    _, _, counted = explored("cluster.prism", {"N": 16}, 4, threads)
    counts = [states for states, _, _ in counted]
    assert sum(counts) == 10_132
    assert max(counts) < 1.5 * sum(counts) / 4


def test_searches_of_one_rank_are_those_of_the_graph() -> None:
    """Where a rank has all states there are no ghosts, and its searches are those of one machine."""
    from galton.graph import can_reach

    model = build(galton.load(MODELS / "consensus.prism", N=2, K=2), device="cpu")
    n = model.n_states
    search = _core.RankSearch(matrix_of(model), n)
    goal = model.labels["finished"] & model.labels["all_heads"]
    found, through = goal.copy(), np.ones(n, dtype=bool)
    by = np.full(n, -1, dtype=np.int32)
    search.backward(found, through, None, None, None, by, np.flatnonzero(goal).astype(np.int32))
    assert (found == can_reach(model, through, goal)).all()
    assert (by[found & ~goal] >= 0).all()
    start = np.zeros(n, dtype=bool)
    start[model.initial] = True
    search.forward(start, through, None, model.initial)
    assert start.all()
    colour = np.arange(n, dtype=np.int64)
    search.greatest(colour, through, None, np.arange(n, dtype=np.int32))
    last = np.zeros(n, dtype=bool)
    last[n - 1] = True
    assert ((colour == n - 1) == can_reach(model, through, last)).all()


def test_what_is_wrong_comes_back() -> None:
    program = galton.parse("dtmc  module m  x : [0..3];  [] x<4 -> (x'=x+1);  endmodule")
    limits = {"threads": 1, "max_states": 100, "memory": 2**30}
    explorer = _core.RankExplorer(to_core(lower(program)), rank=0, ranks=1, **limits)
    assert not explorer.begin()
    assert explorer.expand(10)["fault"] == 1  # out of range
