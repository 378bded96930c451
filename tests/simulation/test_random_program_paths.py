"""Random programs: paths go only where the explorer says that the program leads, and a device follows the same ones."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from random_programs import ProgramText, programs

import galton
from galton.lang.source import GaltonError

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40, derandomize=True)


@SLOW
@given(programs())
def test_steps_are_transitions_and_earn_what_they_should(text: ProgramText) -> None:
    program = galton.parse(text)
    try:
        model = program.build()
    except GaltonError:
        return
    known = {tuple(state.items()): number for number, state in enumerate(model.states)}
    traces = program.simulate(steps=12, paths=30, seed=1)
    numbers = [known[tuple(traces.state(row).items())] for row in range(len(traces))]
    for row in range(len(traces) - 1):
        if traces.path[row] != traces.path[row + 1]:
            assert numbers[row + 1] in model.initial
            continue
        fitting = {
            target
            for action, branches in model.transitions(numbers[row])
            for _, target in branches
            if not model.has_choices or action == traces.actions[row]
        }
        assert numbers[row + 1] in fitting
    for name, values in traces.state_rewards.items():
        expected = model.rewards[name].state
        assert np.array_equal(values, np.zeros(len(values)) if expected is None else expected[numbers])
