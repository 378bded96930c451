"""Long-run averages on a device: the drift is bounded as the core bounds it, and the bias makes it constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from systems import to_host

import galton
from galton.backend.chain import Chain
from galton.model.values import Values
from galton.solve.long_run import drift_bounds, gain, prove
from galton.solve.settings import Settings

MODELS = Path(__file__).parents[2] / "models"
CASES = [
    ("tandem", {"c": 31}, "customers"),
    ("cluster", {"N": 8}, "percent_op"),
    ("kanban", {"t": 2}, "throughput"),
    ("fms", {"n": 2}, "productivity"),
    ("polling", {"N": 7}, "waiting"),
]


def chain_of(name: str, constants: dict[str, int], reward: str) -> Chain:
    model = galton.load(MODELS / f"{name}.prism", **constants).build()
    rewards = model.rewards[reward]
    return Chain(model.row_starts, model.columns, model.values, rewards.state, rewards.choice)


def moved(chain: Chain, xp: Any) -> Chain:
    def give(array: Any) -> Any:
        return None if array is None else xp.asarray(array)

    values = Values(*(give(part) for part in (chain.values.plain, chain.values.dictionary, chain.values.index)))
    parts = {name: give(getattr(chain, name)) for name in ("row_starts", "columns", "state", "choice")}
    return replace(chain, values=values, **parts)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_drift_bounds(xp: Any, case: tuple[str, dict[str, int], str]) -> None:
    from galton.backend.cuda import long_run as bias

    chain = chain_of(*case)
    random = np.random.default_rng(2)
    high, low = random.random(chain.n_states) * 1e3, random.random(chain.n_states) * 1e-9
    there = moved(chain, xp)
    for second in (None, low):
        lower, upper = drift_bounds(chain, high, second)
        given = None if second is None else xp.asarray(second)
        found = [to_host(a) for a in bias.drift_bounds(there, there.state, there.choice, xp.asarray(high), given, 1)]
        # Each pair holds the truth, so they overlap.
        assert (found[0] <= upper).all()
        assert (lower <= found[1]).all()
        assert (found[0] < found[1]).any()
        assert (found[1] - found[0] <= 1e-13 * np.abs(found[1]).max()).all()


@pytest.mark.parametrize(
    "prepare",
    [lambda bias: bias.smooth(8), lambda bias: bias.sweep_levels(), lambda bias: bias.sweep_levels(8)],
    ids=["jacobi", "levels", "levels and jacobi"],
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_the_bias_makes_the_drift_constant(
    xp: Any, case: tuple[str, dict[str, int], str], prepare: Callable[[Any], bool]
) -> None:
    from galton.backend.cuda.long_run import Bias

    chain = chain_of(*case)
    there = moved(chain, xp)
    bias = Bias(there, Settings())
    assert prepare(bias)
    h = xp.zeros(chain.n_states)
    assert bias.improve(there.reward, h, relative=1e-8, absolute=0.0, patience=100)
    lower, upper = prove(chain, to_host(h))
    assert 0 < upper - lower < 1e-6 * abs(upper)
    known = gain(chain, Settings())
    assert lower <= known.upper
    assert known.lower <= upper


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_the_gain(case: tuple[str, dict[str, int], str]) -> None:
    import cupy

    chain = chain_of(*case)
    found, known = gain(moved(chain, cupy), Settings()), gain(chain, Settings())
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.upper - found.lower <= 2e-6 * found.upper
