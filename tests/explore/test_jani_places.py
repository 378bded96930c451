"""JANI models on all explorers: vectors of which some share variables, rewards of edges, several initial states."""

from __future__ import annotations

import json
import shutil

import pytest
from jani_models import automaton, binary, bounded, edge, jani, sync, to
from played_explorer import explore as explore_played

import galton
from galton.backend.cpu import explorer as cpu
from galton.backend.limits import Limits
from galton.backend.reference import explorer as reference
from galton.lang import Source, check_program, parse_model
from galton.lower.lowering import lower

COST = {"name": "cost", "type": "real", "transient": True, "initial-value": 0}
SENT = bounded("sent", 5, transient=True)


def model() -> str:
    less = binary("<", "x", 4)
    sender = automaton(
        "sender",
        edge(less, to(0.5, sent=2, x=binary("+", "x", 1)), to(0.5, sent=3), action="go"),
        edge(less, to(sent=1, x=binary("+", "x", 1), cost=7), action="go"),
        edge(binary("=", "x", 4), to(x=0, cost=1)),
        edge(binary("=", "x", 4), to(x=1, cost=2)),
    )
    reader = automaton("reader", edge(True, to(y=(1, binary("%", binary("+", "y", "sent"), 6))), action="go"))
    other = automaton("other", edge(binary("<", "z", 2), to(z=binary("+", "z", 1)), action="go"))
    z = bounded("z", 2)
    del z["initial-value"]
    variables = [bounded("x", 4), bounded("y", 5), z, COST, SENT]
    syncs = [sync("go", "go", None), sync("go", None, "go")]
    return jani(sender, reader, other, type="mdp", syncs=syncs, variables=variables)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_all_explorers_agree() -> None:
    lowered = lower(check_program(parse_model(Source("test.jani", model()))))
    expected = reference.explore(lowered, threads=1, limits=Limits()).to_host()
    assert expected.n_states > 50
    for found in (cpu.explore(lowered, threads=1, limits=Limits()).to_host(), explore_played(lowered)):
        assert list(found.differences(expected)) == []


def test_storm_builds_the_same() -> None:
    stormpy = pytest.importorskip("stormpy")
    text = json.loads(model())
    text["variables"][2]["initial-value"] = 0
    collected = {"exp": "cost", "accumulate": ["steps"], "step-instant": 6}
    asked = {"op": "filter", "fun": "values", "values": {"op": "Emin", **collected}, "states": {"op": "initial"}}
    text["properties"] = [{"name": "cost", "expression": asked}]
    read, (cost,) = stormpy.parse_jani_model_from_string(json.dumps(text))
    theirs = stormpy.build_model(read, options=stormpy.BuilderOptions(build_full=True))
    program = galton.parse(json.dumps(text))
    ours = program.build()
    sizes = [ours.n_states, ours.n_choices, ours.n_transitions]
    assert sizes == [theirs.nr_states, theirs.nr_choices, theirs.nr_transitions]
    value = stormpy.model_checking(stormpy.build_model(read, [cost]), cost).get_value(theirs.initial_states[0])
    assert galton.check(program, 'R{"cost"}min=? [ C<=6 ]').value == pytest.approx(value)
