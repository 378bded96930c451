"""Eliminations as preconditioners of chains that end, beside dense solutions and a value that is known by symmetry."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import galton
from galton.model.sparse import Model
from galton.reduce.restriction import restrict
from galton.solve import absorbing
from galton.solve.absorbing import AbsorbingChains
from galton.solve.equations import Equations, Segment
from galton.solve.settings import Settings

# A walk over a plane that is a ring in one direction. Both ends are equally likely.
PLANE = """
dtmc
const int N;
const int M;
module walk
  x : [0..N] init floor(N/2);
  y : [0..M-1];
  [] x>0 & x<N -> 0.45 : (x'=x+1) & (y'=mod(y+1,M)) + 0.45 : (x'=x-1) + 0.1 : (y'=mod(y+3,M));
endmodule
"""
LEFT = "P=? [ F x=0 ]"


def random_chain(seed: int, n: int) -> Model:
    """A chain whose last two states end it, with self-loops and with states that hardly ever leave."""
    random = np.random.default_rng(seed)
    matrix = random.random((n, n)) * (random.random((n, n)) < 4 / n)
    matrix[:, -2:] *= 1e-3
    matrix[np.arange(n - 1), np.arange(1, n)] += 0.1  # all lead to the end
    matrix[-2:] = 0
    matrix[[-2, -1], [-2, -1]] = 1
    return Model.from_matrix("dtmc", matrix / matrix.sum(axis=1, keepdims=True))


def equations(model: Model, parts: int = 1) -> Equations:
    """Of the probability to end in the last state; in segments that read each other's unknowns, whatever these are."""
    n = model.n_states - 2
    known = np.zeros(model.n_states)
    known[-1] = 1.0
    cuts = np.linspace(0, n, parts + 1).astype(int)
    segments = tuple(Segment(int(a), int(b), False) for a, b in itertools.pairwise(cuts))
    return restrict(model, np.arange(n, dtype=np.int32), known, segments=segments)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("parts", [1, 3])
def test_a_segment_is_solved_beside_the_others(seed: int, parts: int) -> None:
    model = random_chain(seed, 60 + 40 * seed)
    asked = equations(model, parts)
    n = asked.size
    dense = model.matrix.toarray()
    x = np.random.default_rng(seed).random(n)
    chains = AbsorbingChains(asked, Settings(threads=1))
    for segment in asked.segments:
        part = slice(segment.first, segment.last)
        _, residual = chains.improve(asked.system, x, segment, 1e-13)
        assert residual <= 1e-13
        assert chains.promises(segment)
        outside = np.append(x, [0.0, 1.0])
        outside[part] = 0.0
        inside = np.eye(segment.last - segment.first) - dense[part, part]
        expected = np.linalg.solve(inside, dense[part] @ outside)
        np.testing.assert_allclose(x[part], expected, rtol=1e-9)


def test_what_is_outside_is_a_sum_and_no_difference_from_one() -> None:
    leak = 1e-30
    model = Model.from_matrix("dtmc", [[0, 1, leak, leak], [1, 0, 0, leak], [0, 0, 1, 0], [0, 0, 0, 1]])
    x = np.zeros(2)
    asked = equations(model)
    _, residual = AbsorbingChains(asked, Settings(threads=1)).improve(asked.system, x, asked.segments[0], 1e-12)
    assert residual <= 1e-12
    np.testing.assert_allclose(x, 2 / 3, rtol=1e-6)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_walk_over_a_plane_is_eliminated(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    thresholds = []
    eliminated = absorbing.eliminated

    def told(*given: object, **named: object) -> object:
        thresholds.append(given[4])
        return eliminated(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(absorbing, "eliminated", told)
    result = galton.check(galton.parse(PLANE, N=60, M=200), LEFT, settings=Settings(threads=threads))
    assert thresholds == [0.0]
    assert result.lower <= 0.5 <= result.upper
    assert result.upper - result.lower < 2e-6
    assert sum(work.iterations for work in result.work) < 1000


@pytest.mark.parametrize(
    "attempts",
    [
        (),  # nothing is eliminated
        ((10**5, (3e-4, 80)),),
        ((10**5, (0.5, 4)),),  # one that does not do
        ((20, (0.0, 12), (3e-4, 80)),),  # too few operations
        ((20, (0.0, 12)), (10**5, (0.0, 12))),  # enough the second time
    ],
)
def test_whatever_is_eliminated_the_answer_is_right(monkeypatch: pytest.MonkeyPatch, attempts: object) -> None:
    monkeypatch.setattr(absorbing, "ATTEMPTS", attempts)
    result = galton.check(galton.parse(PLANE, N=40, M=90), LEFT)
    assert result.lower <= 0.5 <= result.upper
    assert result.upper - result.lower < 2e-6
