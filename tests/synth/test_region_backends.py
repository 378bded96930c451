"""Backends find the same bounds: the specification in NumPy and the core."""

from __future__ import annotations

import numpy as np
import pytest
from chains import PLANT, SPACE, parametric

from galton.backend import CPU, REFERENCE
from galton.synth.forward_transient import ForwardRows, Mass, moved
from galton.synth.transient import PhaseRows, transient


@pytest.mark.parametrize("over", [False, True])
def test_steps_of_the_reference_give_the_bounds_of_the_core(over: bool) -> None:
    model = parametric(PLANT, SPACE)
    low, high = model.space
    boxes = np.stack([low, (low + high) / 2]), np.stack([(low + high) / 2, high])
    lower, upper = model.terms.bounds(*boxes)
    active = np.ones(model.n_states, dtype=bool)
    active[-1] = False
    start = (~active).astype(np.float64)[:, None]
    found = [
        transient(PhaseRows(model, active, backend.regions), (lower, upper), (start, start), 2.0, over=over)
        for backend in (CPU, REFERENCE)
    ]
    assert (found[0].upper > found[0].lower).any()
    np.testing.assert_allclose(found[0].lower, found[1].lower, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[0].upper, found[1].upper, rtol=1e-9, atol=1e-12)


def test_forward_too() -> None:
    model = parametric(PLANT, SPACE)
    low, high = model.space
    terms = model.terms.bounds(low[None], (low + (high - low) / 8)[None])
    active = np.ones(model.n_states, dtype=bool)
    mass = Mass.at(int(model.initial[0]), model.n_states, 1)
    (here, _), (there, _) = (
        moved(ForwardRows(model, active, backend.regions), terms, mass, 1.0) for backend in (CPU, REFERENCE)
    )
    np.testing.assert_allclose(here.lower, there.lower, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(here.upper, there.upper, rtol=1e-9, atol=1e-12)
