"""What JANI models mean, one construct at a time; values by hand, or from Storm where it knows the construct."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jani_models import automaton, binary, bounded, edge, jani, sync, to

import galton
from galton.lang import parse_properties
from galton.lang.source import Source


def states(text: str) -> list[dict[str, int]]:
    model = galton.parse(text).build()
    return [{name: int(value) for name, value in model.states[i].items()} for i in range(model.n_states)]


def asked(text: str, expression: Any, **constants: Any) -> Any:
    """The value of a property that is put into the file."""
    model = json.loads(text)
    filtered = {"op": "filter", "fun": "values", "values": expression, "states": {"op": "initial"}}
    model["properties"] = [{"name": "asked", "expression": filtered}]
    source = Source("test.jani", json.dumps(model))
    (prop,) = parse_properties(source).properties
    return galton.check(galton.parse(source.text, **constants), galton.lang.render(prop.expression)).value


def test_assignments_happen_in_the_order_of_their_indices() -> None:
    swap = edge(binary("=", "x", 0), to(x=3, y=(1, binary("+", "x", 1)), z="x"))
    text = jani(automaton("a", swap), variables=[bounded("x", 9), bounded("y", 9), bounded("z", 9)])
    assert states(text) == [{"x": 0, "y": 0, "z": 0}, {"x": 3, "y": 4, "z": 0}]


def test_transient_variables_pass_values_within_a_step_and_are_no_part_of_the_state() -> None:
    step = edge(binary("<", "x", 4), to(t=binary("+", "x", 2), x=(1, "t")))
    text = jani(automaton("a", step), variables=[bounded("x", 9), bounded("t", 20, transient=True)])
    assert states(text) == [{"x": 0}, {"x": 2}, {"x": 4}]


def test_values_are_passed_between_automata() -> None:
    """One writes at index 0 what the other reads at index 1, and both write a variable of their own."""
    sender = automaton("s", edge(binary("=", "x", 0), to(0.25, t=3, x=1), to(0.75, t=5, x=2), action="go"))
    reader = automaton("r", edge(True, to(y=(1, "t")), action="go"))
    variables = [bounded("x", 2), bounded("y", 9), bounded("t", 9, transient=True)]
    text = jani(sender, reader, syncs=[sync("go", "go")], variables=variables)
    assert states(text) == [{"x": 0, "y": 0}, {"x": 1, "y": 3}, {"x": 2, "y": 5}]
    assert asked(text, {"op": "Pmax", "exp": {"op": "F", "exp": binary("=", "y", 5)}}) == pytest.approx(0.75)


def test_automata_that_write_one_variable_at_once_are_refused() -> None:
    parts = [automaton(name, edge(True, to(x=value), action="go")) for name, value in (("a", 1), ("b", 2))]
    with pytest.raises(galton.GaltonError, match="'x' is assigned two values at once"):
        galton.parse(jani(*parts, syncs=[sync("go", "go")], variables=[bounded("x", 2)]))


def test_locations_are_values_of_a_variable() -> None:
    places = {"locations": [{"name": "one"}, {"name": "two"}], "initial-locations": ["one", "two"]}
    move = {"location": "one", "destinations": [{"location": "two"}]}
    text = jani({"name": "a", "edges": [move], **places})
    model = galton.parse(text).build()
    assert [dict(model.states[i]) for i in range(2)] == [{"a_location": 0}, {"a_location": 1}]
    assert list(model.initial) == [0, 1]


def test_local_variables_of_one_name_are_told_apart() -> None:
    parts = [automaton(n, edge(binary("=", "x", 0), to(x=1)), variables=[bounded("x", 1)]) for n in ("a", "b")]
    assert [v.name for v in galton.parse(jani(*parts)).variables] == ["x", "b_x"]
    assert len(states(jani(*parts))) == 4


def test_an_automaton_may_take_part_several_times() -> None:
    one = automaton("a", edge(binary("=", "x", 0), to(x=1)), variables=[bounded("x", 1)])
    model = json.loads(jani(one))
    model["system"] = {"elements": [{"automaton": "a"}] * 3}
    assert galton.parse(json.dumps(model)).build().n_states == 8


def test_variables_without_an_initial_value_begin_anywhere() -> None:
    x = bounded("x", 5)
    del x["initial-value"]
    text = jani(automaton("a"), variables=[x, bounded("y", 5)], **{"restrict-initial": {"exp": binary("≤", "x", 2)}})
    assert states(text) == [{"x": 0, "y": 0}, {"x": 1, "y": 0}, {"x": 2, "y": 0}]


def test_an_enabled_input_changes_nothing_where_no_edge_can() -> None:
    sender = automaton("s", edge(binary("<", "x", 2), to(x=binary("+", "x", 1)), action="go"))
    reader = automaton("r", edge(binary("=", "y", 5), to(y=0), action="go"))
    model = json.loads(jani(sender, reader, syncs=[sync("go", "go")], variables=[bounded("x", 2), bounded("y", 5)]))
    assert galton.parse(json.dumps(model)).build().n_states == 1
    model["system"]["elements"][1]["input-enable"] = ["go"]
    assert galton.parse(json.dumps(model)).build().n_states == 3


def test_vectors_say_who_moves_and_as_what() -> None:
    """Either of two moves with a third; the second pair is silent."""
    parts = [
        automaton(name, edge(binary("<", name, 1), to(**{name: 1}), action="go"), variables=[bounded(name, 1)])
        for name in ("x", "y", "z")
    ]
    syncs = [sync("go", None, "go"), sync(None, "go", "go", result=None)]
    model = galton.parse(jani(*parts, type="mdp", syncs=syncs)).build()
    assert model.n_states == 3
    assert sorted(model.action(choice) for choice in model.choices(0)) == ["", "go"]


def test_what_edges_earn_is_kept_apart() -> None:
    """Two silent edges of one state, of which one earns 3 and the other 1: a PRISM program could not say so."""
    cost = {"name": "cost", "type": "real", "transient": True, "initial-value": 0}
    edges = [edge(binary("=", "x", 0), to(x=1, cost=value)) for value in (3, 1)]
    text = jani(automaton("a", *edges), type="mdp", variables=[bounded("x", 1), cost])
    collected = {"exp": "cost", "accumulate": ["steps"], "reach": binary("=", "x", 1)}
    assert asked(text, {"op": "Emin", **collected}) == pytest.approx(1)
    assert asked(text, {"op": "Emax", **collected}) == pytest.approx(3)


def test_what_destinations_earn_is_known_as_a_mean_and_no_budget() -> None:
    cost = {"name": "cost", "type": "real", "transient": True, "initial-value": 0}
    step = edge(binary("=", "x", 0), to(0.25, x=1, cost=8), to(0.75, x=1, cost=4))
    text = jani(automaton("a", step), variables=[bounded("x", 1), cost])
    reach = binary("=", "x", 1)
    assert asked(text, {"op": "Emin", "exp": "cost", "accumulate": ["steps"], "reach": reach}) == pytest.approx(5)
    bound = [{"exp": "cost", "accumulate": ["steps"], "bounds": {"upper": 5}}]
    with pytest.raises(galton.GaltonError, match="differs between the destinations of an edge"):
        asked(text, {"op": "Pmax", "exp": {"op": "F", "exp": reach, "reward-bounds": bound}})


def test_steps_collect_what_holds_after_them_and_exits_what_held_before() -> None:
    step = edge(binary("<", "x", 3), to(x=binary("+", "x", 1)))
    text = jani(automaton("a", step), variables=[bounded("x", 3)], features=["state-exit-rewards"])
    reach = binary("=", "x", 3)
    assert asked(text, {"op": "Emin", "exp": "x", "accumulate": ["steps"], "reach": reach}) == pytest.approx(1 + 2 + 3)
    assert asked(text, {"op": "Emin", "exp": "x", "accumulate": ["exit"], "reach": reach}) == pytest.approx(0 + 1 + 2)
    assert asked(text, {"op": "Emin", "exp": 1, "accumulate": ["steps"], "reach": reach}) == pytest.approx(3)


def test_rates_are_shared_by_destinations() -> None:
    """Out of 0 at rate 4, of which a quarter leads to 1: reached with probability 1/4, after 1/4 units of time."""
    out = edge(binary("=", "x", 0), to(0.25, x=1), to(0.75, x=2), rate={"exp": 4})
    text = jani(automaton("a", out), type="ctmc", variables=[bounded("x", 2)])
    assert asked(text, {"op": "Pmax", "exp": {"op": "F", "exp": binary("=", "x", 1)}}) == pytest.approx(0.25)
    left = {"op": "Emin", "exp": 1, "accumulate": ["time"], "reach": binary(">", "x", 0)}
    assert asked(text, left) == pytest.approx(0.25)
    assert asked(text, {**left, "accumulate": ["exit"], "exp": 7}) == pytest.approx(7)
    assert asked(text, {**left, "accumulate": ["exit", "time"], "exp": 8}) == pytest.approx(8 + 2)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (binary("%", binary("-", 0, 7), 3), 2),
        (binary("%", 7, 3), 1),
        ({"op": "trc", "exp": binary("*", 100, binary("pow", 2, binary("-", 0, 1)))}, 50),
        ({"op": "trc", "exp": binary("pow", 3, 4)}, 81),
        ({"op": "abs", "exp": binary("-", 2, 6)}, 4),
        ({"op": "sgn", "exp": binary("-", 2, 6)}, -1),
        ({"op": "trc", "exp": binary("/", binary("-", 2, 7), 2)}, -2),
        ({"op": "trc", "exp": binary("/", 7, 2)}, 3),
        ({"op": "floor", "exp": binary("/", binary("-", 2, 7), 2)}, -3),
        ({"op": "ceil", "exp": binary("log", 9, 2)}, 4),
        ({"op": "floor", "exp": {"constant": "π"}}, 3),
        (binary("max", binary("min", 3, 4), 2), 3),
        ({"op": "ite", "if": binary("⇒", True, binary("≠", 1, 2)), "then": 5, "else": 6}, 5),
        ({"op": "call", "function": "twice", "args": [{"op": "call", "function": "twice", "args": [1]}]}, 4),
    ],
)
def test_operators(expression: Any, value: int) -> None:
    twice = {"name": "twice", "type": "int", "parameters": [{"name": "n", "type": "int"}]}
    functions = [{**twice, "body": binary("+", "n", "n")}]
    step = edge(binary("=", "x", 0), to(x=expression))
    text = jani(automaton("a", step), variables=[{"name": "x", "type": "int", "initial-value": 0}], functions=functions)
    assert {"x": value} in states(text)


def test_remainders_are_those_of_storm() -> None:
    stormpy = pytest.importorskip("stormpy")
    step = edge(binary("<", "x", 6), to(x=binary("+", "x", 1), y=binary("%", "x", 4)))
    x = {**bounded("x", 6, -6), "initial-value": -6}
    text = jani(automaton("a", step), variables=[x, {**bounded("y", 6, -6), "initial-value": 0}])
    model, _ = stormpy.parse_jani_model_from_string(text)
    built = stormpy.build_model(model, options=stormpy.BuilderOptions(build_full=True))
    theirs = set()
    for state in range(built.nr_states):
        known = built.state_valuations
        values = {v.name: known.get_value(state, v) for v in known.get_all_variables()}
        theirs.add((int(values["x"]), int(values["y"])))
    theirs.discard((-3, 4))  # Storm 2.0 says that -4 modulo 4 is 4
    assert {(state["x"], state["y"]) for state in states(text)} - {(-3, 0)} == theirs


def test_names_that_no_identifier_could_be() -> None:
    step = edge(binary("=", "my x", 0), to(**{"my x": 1}))
    program = galton.parse(jani(automaton("a", step), variables=[bounded("my x", 1), bounded("P", 1)]))
    assert [v.name for v in program.variables] == ["my_x", "P_"]
    assert galton.check(program, "P=? [ F my_x=1 ]").value == 1


def test_transient_values_are_labels_and_formulas() -> None:
    done = {"name": "done", "type": "bool", "transient": True, "initial-value": False}
    size = {"name": "size", "type": "real", "transient": True, "initial-value": 0}
    values = [{"ref": "done", "value": binary("=", "x", 3)}, {"ref": "size", "value": binary("*", 2, "x")}]
    more = {"locations": [{"name": "l", "transient-values": values}]}
    step = edge(binary("<", "x", 3), to(x=binary("+", "x", 1)))
    program = galton.parse(jani(automaton("a", step, **more), variables=[bounded("x", 3), done, size]))
    assert galton.check(program, 'P=? [ F "done" & size>5 ]').value == 1
    assert galton.check(program, 'R{"size"}=? [ F "done" ]').value == pytest.approx(0 + 2 + 4)


def test_exact_answers_refuse_pi_and_know_fractions() -> None:
    def flip(p: Any) -> str:
        step = edge(binary("=", "x", 0), to(p, x=1), to(binary("-", 1, p), x=2))
        return jani(automaton("a", step), variables=[bounded("x", 2)])

    third = galton.check(galton.parse(flip(binary("/", 1, 3))), "P=? [ F x=1 ]", exact=True)
    assert str(third.exact) == "1/3"
    with pytest.raises(galton.GaltonError, match="no fraction is"):
        galton.check(galton.parse(flip(binary("/", {"constant": "π"}, 10))), "P=? [ F x=1 ]", exact=True)
