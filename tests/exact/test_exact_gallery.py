"""The gallery in exact numbers: the fractions of its catalogue, and what Storm's exact engine says in the same run."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from libraries import each_library, using

import galton

FOLDER = Path(__file__).parents[2] / "models"
ENTRIES: list[dict[str, Any]] = json.loads((FOLDER / "gallery.json").read_text())["models"]
SMALL = 2_000  # states


def states(entry: dict[str, Any], constants: dict[str, Any]) -> int:
    """The number of states of an instance; many where the catalogue does not know it."""
    fitting = [i["states"] for i in entry["instances"] if i["constants"].items() <= constants.items()]
    return min(fitting, default=10**9)


CASES = [
    pytest.param(entry, prop, id=f"{entry['file']} {prop['name']} {prop['constants']}")
    for entry in ENTRIES
    for prop in entry["properties"]
    if "exact" in prop["source"] and states(entry, prop["constants"]) <= SMALL
]


def text_of(entry: dict[str, Any], name: str) -> str:
    """The properties of a file with only one of them left, so that it can be asked alone."""
    from galton.lang import Source, parse_properties

    text = (FOLDER / entry["properties_file"]).read_text()
    file = parse_properties(Source("properties", text))
    declared = [text[c.name.span.start : c.name.span.end] for c in file.constants]
    wanted = next(p for p in file.properties if p.name == name)
    lines = [f"const {c.type} {n};" for c, n in zip(file.constants, declared, strict=True) if n in wanted.text]
    return "\n".join([*lines, wanted.text])


@pytest.mark.parametrize(("entry", "prop"), CASES)
def test_fractions_of_the_catalogue(entry: dict[str, Any], prop: dict[str, Any]) -> None:
    found = galton.check(FOLDER / entry["file"], text_of(entry, prop["name"]), exact=True, constants=prop["constants"])
    value = prop["value"]
    assert (found.value if isinstance(value, bool) else found.exact) == (
        value if isinstance(value, bool) else Fraction(value)
    )


STORM = [
    ("die.prism", {}, "P=? [ F d=6 ]"),
    ("herman.prism", {"N": 5}, 'R{"steps"}=? [ F "stable" ]'),
    ("consensus.prism", {"N": 2, "K": 2}, 'Pmax=? [ F "finished" & "all_heads" ]'),
    ("consensus.prism", {"N": 2, "K": 2}, 'R{"steps"}min=? [ F "finished" ]'),
    ("consensus.prism", {"N": 2, "K": 2}, 'R{"steps"}max=? [ F "finished" ]'),
    ("cluster.prism", {"N": 1}, 'LRA=? [ "minimum" ]'),
]


@each_library
@pytest.mark.parametrize(("file", "constants", "prop"), STORM)
def test_beside_storm(file: str, constants: dict[str, int], prop: str, library: str) -> None:
    stormpy = pytest.importorskip("stormpy")
    program = stormpy.parse_prism_program(str(FOLDER / file), prism_compatibility=True)
    given = ",".join(f"{name}={value}" for name, value in constants.items())
    program, (asked,) = stormpy.instantiate_constants(program, given, stormpy.parse_properties(prop, program))
    model = stormpy.build_model[stormpy.Rational](program, [asked])
    result = stormpy.model_checking(model, asked)
    theirs = [Fraction(str(result.get_value(state))) for state in model.initial_states]
    with using(library):
        ours = galton.check(FOLDER / file, prop, exact=True, constants=constants)
    assert ours.exact == (theirs[0] if len(theirs) == 1 else (min(theirs), max(theirs)))
