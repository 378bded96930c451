"""Long-run averages by methods chosen by hand: stationary distributions, as the literature finds them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from played import played_device

import galton
from galton.backend.formats import FORMATS, ORDERS
from galton.model.errors import NumericError
from galton.solve.methods import METHODS, balances, runs_on_device

MODELS = Path(__file__).parents[2] / "models"
BALANCING = [name for name in METHODS if balances(name)]


RING = """
ctmc
module m
  s : [0..9] init 0;
  [] true -> 1:(s'=mod(s+1,10)) + 0.5:(s'=mod(s+3,10)) + 0.2*(s+1):(s'=mod(s*s+2,10));
endmodule
"""


def random_chain(seed: int, kind: str) -> galton.Model:
    """A chain with transient states and several bottom components, one of them a single state."""
    random = Random(seed)
    sizes = [random.randint(3, 7) for _ in range(random.randint(1, 3))]
    transient = random.randint(0, 4)
    n = transient + sum(sizes) + 1
    matrix = np.zeros((n, n))
    for s in range(transient):
        for t in random.sample(range(n), min(n, 3)):
            matrix[s, t] += random.uniform(0.1, 2)
        matrix[s, random.randrange(transient, n)] += 0.5
    first = transient
    for size in sizes:  # from everywhere to everywhere, so that no method meets a period
        for s, t in product(range(first, first + size), repeat=2):
            matrix[s, t] = random.uniform(0.1, 5)
        first += size
    matrix[n - 1, n - 1] = 1.0
    if kind == "dtmc":
        matrix /= matrix.sum(axis=1, keepdims=True)
    reward = [random.uniform(0, 3) for _ in range(n)]
    return galton.Model.from_matrix(kind, matrix, rewards={"r": reward}, labels={"goal": [transient, n - 2]})


def in_every_state(model: galton.Model, text: str, **options: Any) -> list[float]:
    """The value from each state."""
    found = []
    for state in range(model.n_states):
        result = galton.check(replace(model, initial=np.array([state], dtype=np.int32)), text, **options)
        assert result.proved is ("method" not in options)
        found.append(float(result.value))
    return found


@pytest.mark.parametrize("text", ['R{"r"}=? [ S ]', 'S=? [ "goal" ]'])
@pytest.mark.parametrize("kind", ["dtmc", "ctmc"])
@pytest.mark.parametrize("name", BALANCING)
def test_every_method_beside_proved_bounds(name: str, kind: str, text: str) -> None:
    for seed in range(4):
        model = random_chain(seed, kind)
        found = in_every_state(model, text, method=name, eps=1e-10)
        assert found == pytest.approx(in_every_state(model, text), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("devices", ["cuda", "cuda:0,1"])
@pytest.mark.parametrize("name", [name for name in BALANCING if runs_on_device(name)])
def test_every_method_on_a_device(name: str, devices: str) -> None:
    program = galton.parse(RING)
    proved = galton.check(program, "S=? [ s<5 ]", device="cpu")
    with played_device(count=2):
        found = galton.check(program, "S=? [ s<5 ]", method=name, eps=1e-9, device=devices)
    assert found.warnings == ()
    assert found.placement.backend == "cuda"
    assert found.value == pytest.approx(proved.value, rel=1e-5)


@pytest.mark.parametrize(("format", "order"), list(product(FORMATS, ORDERS)))
def test_every_format_and_order_takes_the_same_sweeps(format: str, order: str) -> None:
    program = galton.parse(RING)
    plain = galton.check(program, "S=? [ s<5 ]", method="jor", device="cpu")
    settings = galton.Settings(method="jor", format=format, order=order)
    with played_device():
        found = galton.check(program, "S=? [ s<5 ]", settings=settings, device="cuda")
    assert (found.value, found.iterations) == (pytest.approx(plain.value, rel=1e-12), plain.iterations)
    assert found.placement.backend == "cuda"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "constants", "text", "method", "sweeps"),
    [
        ("tandem", {"c": 255}, 'R{"customers"}=? [ S ]', "jacobi", 4212),
        ("fms", {"n": 5}, 'R{"productivity"}=? [ S ]', "jacobi", 905),
        ("cluster", {"N": 64}, 'S=? [ "premium" ]', "jor", 540),
    ],
)
def test_sweeps_as_prism_and_the_papers_count_them(
    model: str, constants: dict[str, int], text: str, method: str, sweeps: int
) -> None:
    found = galton.check(galton.load(MODELS / f"{model}.prism", **constants), text, method=method, device="cpu")
    assert found.iterations == sweeps


def test_a_chain_with_a_period_does_not_settle() -> None:
    model = galton.Model.from_matrix("dtmc", [[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]], labels={"goal": [0]})
    settings = galton.Settings(method="power", max_iterations=50)
    with pytest.raises(NumericError, match="power did not converge: after 50 sweeps"):
        galton.check(model, 'S=? [ "goal" ]', settings=settings)
