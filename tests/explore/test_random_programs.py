"""Random programs: explorers must say what the oracle says, whatever the number of threads.

The usual run takes half a minute; ``--hypothesis-profile=thorough`` takes thirty times as long.
"""

from __future__ import annotations

import re
from contextlib import suppress

import oracle
import pytest
from comparison import check, differences
from hypothesis import HealthCheck, assume, event, given, settings
from random_programs import ProgramText, programs

import galton
from galton.backend import REFERENCE
from galton.backend.limits import Limits
from galton.lang import GaltonError
from galton.lang.program import Program
from galton.lower.lowering import lower
from galton.model.sparse import Model

MAX_STATES = 2_000
THREADS = (1, 3)


def examples(usual: int) -> settings:
    """So many programs, times what the profile asks for more than the hundred of Hypothesis."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    count = usual * settings.default.max_examples // 100
    return settings(max_examples=count, deadline=None, suppress_health_check=slow, print_blob=False)


def explored(program: Program) -> oracle.Reachable | None:
    """What the oracle finds, or None when there is no initial state."""
    try:
        return oracle.explore(program, MAX_STATES)
    except oracle.TooLarge:
        assume(False)
    except oracle.Failure:
        return None


def by_reference(program: Program) -> Model:
    """What the reference backend builds."""
    return REFERENCE.explorer.explore(lower(program), threads=1, limits=Limits(), transition_rewards=True)


def check_all(program: Program, expected: oracle.Reachable) -> None:
    """The explorer of the CPU and that of the reference."""
    check(program, expected, threads=THREADS)
    assert list(differences(by_reference(program), expected, of_transitions=program.type != "mdp")) == []


@pytest.mark.slow
@examples(350)
@given(programs())
def test_programs_with_a_meaning(text: ProgramText) -> None:
    program = galton.parse(text)
    expected = explored(program)
    assume(expected is not None)
    assert expected is not None
    assert not expected.failures
    event(program.type)
    check_all(program, expected)


@pytest.mark.slow
@examples(80)
@given(programs(budget=MAX_STATES))
def test_larger_programs(text: ProgramText) -> None:
    program = galton.parse(text)
    expected = explored(program)
    assume(expected is not None)
    check(program, expected, threads=THREADS)


@pytest.mark.slow
@examples(350)
@given(programs(mistakes=True))
def test_programs_with_mistakes(text: ProgramText) -> None:
    """Both sides fail, in a state where the oracle fails too; or the mistake is never reached."""
    program = galton.parse(text)
    expected = explored(program)
    if expected is not None and not expected.failures and not expected.excused:
        check_all(program, expected)
        return
    if expected is not None and not expected.failures:
        event("excused")
        with suppress(GaltonError):
            check(program, expected, threads=THREADS)
        return
    messages = []
    for count in THREADS:
        with pytest.raises(GaltonError) as caught:
            program.build(threads=count)
        assert caught.value.kind == "model"
        messages.append(str(caught.value))
    assert len(set(messages)) == 1, "the complaint depends on the number of threads"
    with pytest.raises(GaltonError) as caught:
        by_reference(program)
    messages.append(str(caught.value))
    for message in messages if expected is not None else ():
        event("fails")
        assert named_state(program, message) in {**expected.failures, **expected.excused}, message


def named_state(program: Program, message: str) -> oracle.State:
    """The state that a message is about."""
    match = re.search(r"in state \((.*?)\)", message)
    assert match, message
    values = dict(pair.split("=") for pair in match[1].split(", "))
    words = {"true": True, "false": False, "True": True, "False": False}
    return tuple(words[v] if (v := values[variable.name]) in words else int(v) for variable in program.variables)
