"""JANI that is wrong: what is said, and where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jani_models import automaton, binary, bounded, edge, jani, sync, to

from galton.lang import LanguageError, Source, check_program, parse_model, parse_properties
from galton.lang.jani.json_text import MOST_NESTED, read_json

GOOD = json.loads(
    jani(
        automaton("a", edge(binary("<", "x", "N"), to(x=binary("+", "x", 1)), action="go")),
        syncs=[sync("go")],
        variables=[bounded("x", 9)],
        constants=[{"name": "N", "type": "int", "value": 5}],
    )
)


def changed(path: str, value: Any) -> str:
    """The good model with one thing changed; lines are those of indented JSON."""
    model = json.loads(json.dumps(GOOD))
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
    place = model
    for part in way:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(model, indent=1, ensure_ascii=False)


def complaint(text: str) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        check_program(parse_model(Source("bad.jani", text)))
    return caught.value


def test_the_good_model_is_good() -> None:
    check_program(parse_model(Source("good.jani", json.dumps(GOOD))))


@pytest.mark.parametrize(
    ("path", "value", "message", "shown"),
    [
        ("type", None, "a JANI model needs 'type'", "{"),
        ("type", "dtmk", "there is no model type 'dtmk'", '"dtmk"'),
        ("type", "sta", "models of type sta are not supported: Galton checks dtmc, ctmc and mdp models", '"sta"'),
        ("jani-version", 2, "version 2 of JANI is not supported: this reads version 1", "2"),
        ("features", ["arrays"], "the feature 'arrays' is not supported", '"arrays"'),
        ("varaibles", [], "a JANI model has no 'varaibles'", "[]"),
        ("automata/0/edges/0/guard/exp", {"op": "<", "left": "x"}, "'<' needs 'right'", "{"),
        ("automata/0/edges/0/guard/exp", {"op": "!", "exp": True}, "no operator '!' can stand here", '"!"'),
        ("automata/0/edges/0/guard/exp", {"op": "aa", "exp": "x", "index": 0}, "'aa' is not supported: arrays", '"aa"'),
        ("automata/0/edges/0/guard/exp", "y", "unknown name 'y'", '"y"'),
        ("automata/0/edges/0/guard/exp", 5, "the guard must be a bool, but this is an int", "5"),
        ("automata/0/edges/0/action", "stop", "the model has no action 'stop'", '"stop"'),
        ("automata/0/edges/0/location", "m", "the automaton has no location 'm'", '"m"'),
        ("automata/0/edges/0/rate", {"exp": 2}, "edges of a dtmc cannot have rates or weights here", "2"),
        ("automata/0/edges/0/destinations", [], "an edge needs a destination", "[]"),
        ("automata/0/edges/0/destinations/0/assignments/0/ref", "N", "'N' is a constant and cannot be assigned", "{"),
        ("automata/0/edges/0/destinations/0/assignments/0/value", True, "the new value of 'x' must be an int", "true"),
        ("automata/0/edges/0/destinations/0/assignments/0/index", 0.5, "an index must be a whole number", "0.5"),
        ("automata/0/locations/0/time-progress", {"exp": True}, "'time-progress' belongs to timed models", "{"),
        ("automata/0/initial-locations", [], "an automaton needs an initial location", "[]"),
        ("system/syncs/0/synchronise", ["go", "go"], "this vector has 2 entries, and the system 1 automata", "["),
        ("system/elements/0/automaton", "b", "there is no automaton 'b'", '"b"'),
        ("variables/0/type", "real", "the variable 'x' is a real: only transient variables can be", '"real"'),
        ("variables/0/type/base", {"kind": "bounded"}, "a type must be a text, and this is an object", "{"),
        ("variables/0/type", "clock", "the type 'clock' is not supported", '"clock"'),
        ("variables/0/initial-value", 10, "the initial value of 'x' is 10, outside its range [0..9]", "10"),
        ("constants/0/value", 2**40, "integers lie between -2147483648 and 2147483647", str(2**40)),
        ("constants/0/value", "N", "the constant 'N' depends on itself: N → N", '"N"'),
        ("functions", [{"name": "f", "type": "int", "parameters": [], "body": {"op": "call", "function": "f"}}],
         "the function 'f' calls itself, which is not supported", "{"),
    ],
)  # fmt: skip
def test_message_and_place(path: str, value: Any, message: str, shown: str) -> None:
    error = complaint(changed(path, value))
    assert error.message.startswith(message)
    assert error.source.text[error.span.start :].startswith(shown)
    line, column = error.source.position(error.span.start)
    assert str(error).startswith(f"bad.jani:{line}:{column}: error: ")


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "expected a value, and the text ends here: the file is not complete", (1, 1)),
        ('{"a": 1', "expected ',' or '}', and the text ends here: the file is not complete", (1, 8)),
        ('{"a": [1, 2}', "expected ',' or ']', found '}'", (1, 12)),
        ('{"a" 1}', "expected ':', found '1'", (1, 6)),
        ('{"a": 1, "a": 2}', "'a' is given twice", (1, 10)),
        ('{"a": 01}', "expected a value", (1, 7)),
        ('{"a": NaN}', "expected a value", (1, 7)),
        ('{"a": "\\q"}', "a text has an escape that JSON does not know", (1, 7)),
        ("{}\n{}", "the text goes on after its end", (2, 1)),
        ("[" * (MOST_NESTED + 1), "values are nested too deeply", (1, MOST_NESTED + 1)),
    ],
)
def test_wrong_json(text: str, message: str, place: tuple[int, int]) -> None:
    error = complaint(text)
    assert error.message == message
    assert error.source.position(error.span.start) == place


def test_every_truncated_file_is_refused_in_words() -> None:
    text = json.dumps(GOOD)
    for end in range(len(text) - 1):
        assert "not complete" in complaint(text[:end]).message or end == 0 or text[end - 1] not in "]},"


def test_json_is_read_as_the_standard_library_reads_it() -> None:
    text = ' {"a": [1, -2.5e-3, true, false, null, "é\\u00e9\\n\\"", {}, []], "b": {"c": [[[]]]}}\r\n'

    def plain(node: Any) -> Any:
        match node.value:
            case dict():
                return {key: plain(part) for key, part in node.value.items()}
            case list():
                return [plain(part) for part in node.value]
            case str() if node.kind == "a number":
                return float(node.value)
        return node.value

    assert plain(read_json(Source("text", text))) == json.loads(text)


def test_deep_expressions_are_read_or_refused_in_words() -> None:
    def nested(op: str, depth: int) -> str:
        text = f'{{"op": "{op}", "left": true, "right": ' * depth + "true" + "}" * depth
        return changed("automata/0/edges/0/guard/exp", "HERE").replace('"HERE"', text)

    for op in ("∧", "⇒"):
        check_program(parse_model(Source("deep.jani", nested(op, 1_500))))
        assert "nested too deeply" in complaint(nested(op, 20_000)).message


def test_a_property_that_makes_no_sense_keeps_its_error_to_itself() -> None:
    good = {"op": "filter", "fun": "max", "values": {"op": "Pmax", "exp": {"op": "F", "exp": "x"}}}
    expressions = [
        {**good, "values": {"op": "Pmax", "exp": {"op": "F", "exp": binary("=", "x", 1)}}, "states": {"op": "initial"}},
        {**good, "states": {"op": "timelock"}},
        {"op": "Pmax", "exp": {"op": "F", "exp": True, "time-bounds": {"upper": 3}}},
        {"op": "Emax", "exp": "x", "accumulate": ["time"], "reach": True},
    ]
    properties = [{"name": f"p{number}", "expression": each} for number, each in enumerate(expressions)]
    found = parse_properties(Source("bad.jani", changed("properties", properties))).properties
    assert [prop.name for prop in found] == ["p0", "p1", "p2", "p3"]
    assert [prop.error and prop.error.message for prop in found] == [
        None,
        "'timelock' belongs to timed models",
        "'time-bounds' is not supported in a dtmc, where steps are counted",
        "no time passes in a dtmc",
    ]
