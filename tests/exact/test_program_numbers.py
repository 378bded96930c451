"""Rows and rewards of random programs: the doubles of the explorers, up to rounding, or a refusal."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from random_programs import programs

import galton
from galton.backend.failures import SemanticError
from galton.checking.exact.constants import ExactConstants
from galton.checking.exact.expressions import NoRationalValueError
from galton.checking.exact.program_numbers import NumbersOfProgram, OtherGraphError
from galton.lang import LanguageError, Source

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=SLOW)
@given(text=programs(budget=60))
def test_numbers_are_those_of_doubles_up_to_rounding(text: str) -> None:
    try:
        program = galton.parse(text)
        model = program.build()
    except (LanguageError, SemanticError):
        return
    try:
        numbers = NumbersOfProgram(program, model, ExactConstants(program, Source("properties", "")))
        numbers.require(np.ones(model.n_states, dtype=np.bool_))
        for name in model.rewards:
            for state in range(model.n_states):
                numbers.state_reward(name, state)
            for choice in range(model.n_choices):
                numbers.choice_reward(name, choice)
    except (NoRationalValueError, OtherGraphError):
        return
    assert numbers.deviation < 1e-9
