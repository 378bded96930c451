"""``--exact`` beside the exact checker: the fractions of the text, to the last digit."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from exact import Number
from galton_answers import in_state
from hypothesis import given, note
from hypothesis import strategies as st
from profile_settings import examples
from queries import Query
from random_models import models
from random_queries import AVERAGES, queries

import galton

pytest.importorskip("stormpy")

from storm_answers import Storm, comparable, timed

every_type = pytest.mark.parametrize("kind", ["dtmc", "ctmc", "mdp"])


def same(found: object, expected: Number) -> bool:
    if isinstance(expected, float) and math.isinf(expected):
        return found == math.inf
    return isinstance(found, Fraction) and found == expected


@every_type
@examples(25)
@given(data=st.data())
def test_every_number_is_that_of_the_text(kind: str, data: st.DataObject) -> None:
    random = data.draw(models([kind]))
    program = galton.parse(random.text)
    for _ in range(5):
        query: Query = data.draw(queries(kind, nested=data.draw(st.sampled_from([False, False, True]))))
        if timed(kind, query):
            continue
        note(query.text())
        values = query.exact(random.exact)
        state = data.draw(st.integers(0, len(values) - 1))
        found = galton.check(program, in_state(random, state, query), exact=True).exact
        assert same(found, values[state]), f"{found} and not {values[state]} in state {state}"


@every_type
@examples(15)
@given(data=st.data())
def test_bounds_that_are_met_exactly_are_decided(kind: str, data: st.DataObject) -> None:
    random = data.draw(models([kind]))
    program = galton.parse(random.text)
    query: Query = data.draw(queries(kind))
    (initial,) = random.exact.initial
    value = math.inf if timed(kind, query) else query.exact(random.exact)[initial]
    if isinstance(value, float):
        return
    note(query.text())
    for relation in ("<", "<=", ">", ">="):
        asked = query.text(f"{relation}{value.numerator}.0/{value.denominator}.0")
        optimum = getattr(query, "optimum", None)
        if optimum is None or (optimum == "min") == (relation in (">", ">=")):
            expected = relation in ("<=", ">=")
            assert galton.check(program, asked, exact=True).value is expected


@examples(15)
@given(data=st.data())
def test_long_run_averages_of_mdps_are_exact(data: st.DataObject) -> None:
    random = data.draw(models(["mdp"]))
    program = galton.parse(random.text)
    for operator in AVERAGES:
        query: Query = data.draw(queries("mdp", operator))
        note(query.text())
        values = query.exact(random.exact)
        state = data.draw(st.integers(0, len(values) - 1))
        assert same(galton.check(program, in_state(random, state, query), exact=True).exact, values[state])


@every_type
@examples(10)
@given(data=st.data())
def test_storm_has_the_same_fractions(kind: str, data: st.DataObject) -> None:
    random = data.draw(models([kind]))
    storm = Storm(random)
    program = galton.parse(random.text)
    (initial,) = random.exact.initial
    for _ in range(4):
        query: Query = data.draw(queries(kind))
        note(query.text())
        if not timed(kind, query) and initial in comparable(random.exact, query):
            assert same(galton.check(program, query.text(), exact=True).exact, storm.values(query)[initial])
