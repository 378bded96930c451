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
    """The program, what each rank finds, and its ghosts with where those of each rank begin."""
    program = galton.load(MODELS / name, **constants)
    lowered = lower(program)
    core, words = to_core(lowered), lowered.words
    limits = {"threads": threads, "max_states": 2**60, "memory": 2**40, "firsts": np.empty((0, words), dtype=np.uint64)}
    explorers = [_core.RankExplorer(core, rank=r, ranks=ranks, **limits) for r in range(ranks)]
    assert not any(explorer.begin() for explorer in explorers)
    while any(explorer.waiting for explorer in explorers):
        for mine, explorer in enumerate(explorers):
            assert not explorer.expand(1)
            for other, target in enumerate(explorers):
                if other != mine:
                    assert not target.receive(explorer.outbox(other))
    ghosts = [explorer.finish() for explorer in explorers]
    return program, explorers, ghosts


@pytest.mark.parametrize(("name", "constants"), CASES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_same_model_as_on_one_machine(name: str, constants: dict[str, Any], ranks: int) -> None:
    program, explorers, ghosts = explored(name, constants, ranks)
    numbered = [
        [explorers[r].numbers(words[starts[r] : starts[r + 1]]) for r in range(ranks)] for words, starts in ghosts
    ]
    parts = [
        (explorer.count, numbers, explorer.assemble(None))
        for explorer, numbers in zip(explorers, numbered, strict=True)
    ]
    whole = build(program, device="cpu")
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


@pytest.mark.parametrize("threads", [1, 2])
def test_states_are_spread(threads: int) -> None:
    _, explorers, _ = explored("cluster.prism", {"N": 16}, 4, threads)
    counts = [explorer.count for explorer in explorers]
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
    nowhere = np.empty((0, 1), dtype=np.uint64)
    limits = {"threads": 1, "max_states": 100, "memory": 2**30, "firsts": nowhere}
    explorer = _core.RankExplorer(to_core(lower(program)), rank=0, ranks=1, **limits)
    assert not explorer.begin()
    assert explorer.expand(10)["fault"] == 1  # out of range
