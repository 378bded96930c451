"""Formats beside the programs they come from: Storm and umbi read what is written here, and the other way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stormpy
import stormpy.io
import umbi

import galton
from galton.io import read_model, write_model
from galton.model import Model

MODELS = Path(__file__).resolve().parents[2] / "models"
CASES: list[tuple[str, dict[str, object]]] = [
    ("die", {}),
    ("herman", {"N": 3}),
    ("consensus", {"N": 2, "K": 1}),
    ("tandem", {"c": 2}),
    ("cluster", {"N": 1}),
]
QUESTIONS = {
    "die": 'R{"tosses"}=? [ F "done" ]',
    "consensus": 'R{"steps"}max=? [ F "finished" ]',
    "tandem": 'R{"departures"}=? [ F "full" ]',
    "cluster": 'P=? [ F<=10 !"minimum" ]',
}
ULP = 2.3e-16


@pytest.fixture(params=CASES, ids=lambda case: case[0])
def case(request: pytest.FixtureRequest) -> tuple[str, dict[str, object], Model]:
    """A model of the gallery, small."""
    name, constants = request.param
    return name, constants, galton.load(MODELS / f"{name}.prism", **constants).build()


def in_storm(name: str, constants: dict[str, object], number: type = float) -> Any:
    """The model as Storm builds it from the text."""
    program = stormpy.parse_prism_program(str(MODELS / f"{name}.prism"), prism_compatibility=True, simplify=False)
    if constants:
        program = stormpy.io.instantiate_constants(program, constants)[0]
    return stormpy.build_model[number](program, options=stormpy.BuilderOptions(build_full=True))


def assert_same(model: Model, theirs: Any, rounding: float = 0.0) -> None:
    """Same sizes, matrix, labels and rewards, in the same order; labels that hold nowhere may be missing."""
    sizes = theirs.nr_states, theirs.nr_choices, theirs.nr_transitions
    assert sizes == (model.n_states, model.n_choices, model.n_transitions)
    entries = list(theirs.transition_matrix)
    assert [entry.column for entry in entries] == model.columns.tolist()
    assert np.allclose([float(entry.value) for entry in entries], model.values.array(), rtol=rounding, atol=0)
    assert sorted(theirs.initial_states) == model.initial.tolist()
    for name, mask in model.labels.items():
        if mask.any() or name in theirs.labeling.get_labels():
            assert list(theirs.labeling.get_states(name)) == np.flatnonzero(mask).tolist()
    for name, rewards in model.rewards.items():
        found = theirs.reward_models[name]
        state = list(map(float, found.state_rewards)) if found.has_state_rewards else 0.0
        assert np.array_equal(np.broadcast_to(state, model.n_states), _filled(rewards.state, model.n_states))
        choice = list(map(float, found.state_action_rewards)) if found.has_state_action_rewards else 0.0
        mine = _filled(rewards.choice, model.n_choices) / (model.exit_rates if model.has_rates else 1.0)
        assert np.allclose(np.broadcast_to(choice, model.n_choices), mine, rtol=3 * ULP, atol=0)


def _filled(array: Any, count: int) -> Any:
    return np.zeros(count) if array is None else array


def test_storm_reads(case: tuple[str, dict[str, object], Model], tmp_path: Path) -> None:
    name, _, model = case
    write_model(model, [tmp_path / "m.drn", tmp_path / "m.umb"])
    options = stormpy.io.DirectEncodingParserOptions()
    options.build_choice_labeling = True
    text = stormpy.build_model_from_drn(str(tmp_path / "m.drn"), options=options)
    binary = stormpy.build_model_from_umb(str(tmp_path / "m.umb"))
    assert_same(model, text)
    assert_same(model, binary, ULP if model.has_rates else 0.0)
    if name in QUESTIONS:
        (question,) = stormpy.parse_properties(QUESTIONS[name])
        mine = galton.check(model, QUESTIONS[name])
        for theirs in (text, binary):
            value = stormpy.model_checking(theirs, question).get_value(theirs.initial_states[0])
            assert value == pytest.approx(mine.value, rel=1e-5)
    for compression in ("gzip", "xz"):
        write_model(model, tmp_path / "packed.umb", compression=compression)
        assert_same(model, stormpy.build_model_from_umb(str(tmp_path / "packed.umb")), ULP)


def test_storm_reads_transitions_and_labels(case: tuple[str, dict[str, object], Model], tmp_path: Path) -> None:
    """Storm's own dialect of PRISM's files has another header; all lines below are the same."""
    _, _, model = case
    write_model(model, [tmp_path / "m.tra", tmp_path / "m.lab"], exact=True)
    lines = (tmp_path / "m.tra").read_text().splitlines()
    (tmp_path / "storm.tra").write_text("\n".join([model.type, *lines[2:], ""]))
    _, header, *lines = (tmp_path / "m.lab").read_text().splitlines()
    names = dict(re.findall(r'(\d+)="([^"]*)"', header))
    rows = [line.split(":") for line in lines]
    body = [f"{state} {' '.join(names[number] for number in numbers.split())}" for state, numbers in rows]
    (tmp_path / "storm.lab").write_text("\n".join(["#DECLARATION", " ".join(names.values()), "#END", *body, ""]))
    theirs = stormpy.build_model_from_explicit(str(tmp_path / "storm.tra"), str(tmp_path / "storm.lab"))
    object.__setattr__(model, "rewards", {})
    assert_same(model, theirs)


def test_storm_writes(case: tuple[str, dict[str, object], Model], tmp_path: Path) -> None:
    name, constants, model = case
    theirs = in_storm(name, constants)
    text = stormpy.io.DirectEncodingExporterOptions()
    text.output_precision = 17
    stormpy.io.export_to_drn(theirs, str(tmp_path / "m.drn"), options=text)
    found = [read_model(tmp_path / "m.drn")]
    for compression in ("NO_COMPRESSION", "GZIP", "XZ"):
        options = stormpy.io.UmbExportOptions()
        options.compression = getattr(stormpy.io.CompressionMode, compression)
        stormpy.io.export_to_umb(theirs, str(tmp_path / f"{compression}.umb"), options=options)
        found.append(read_model(tmp_path / f"{compression}.umb"))
    for again in found:
        assert_same(again, theirs, ULP)
        assert again.states is not None
        assert set(again.states.variables) == set(model.states.variables)
        assert _listed(again, model.states.variables) == _listed(model, model.states.variables)
        assert again.warnings == ()


def _listed(model: Model, variables: tuple[str, ...]) -> list[tuple[object, ...]]:
    return sorted(zip(*(model.states.column(name).tolist() for name in variables), strict=True))


def test_storm_writes_fractions(tmp_path: Path) -> None:
    exact = in_storm("die", {}, stormpy.Rational)
    stormpy.io.export_to_drn(exact, str(tmp_path / "m.drn"))
    assert "1/2" in (tmp_path / "m.drn").read_text()
    assert_same(read_model(tmp_path / "m.drn"), in_storm("die", {}))


def test_umbi(case: tuple[str, dict[str, object], Model], tmp_path: Path) -> None:
    """The reference of the binary format reads the same, and what it writes is read."""
    _, _, model = case
    path = tmp_path / "m.umb"
    write_model(model, path)
    theirs = umbi.umb.read(path, strict=True)
    system = theirs.index.transition_system
    assert (system.num_states, system.num_choices, system.num_branches) == (
        model.n_states,
        model.n_choices,
        model.n_transitions,
    )
    assert theirs.branch_to_target == model.columns.tolist()
    assert theirs.choice_to_branches == model.row_starts.tolist()
    assert [list(values.values()) for values in theirs.valuations["states"]] == [list(s.values()) for s in model.states]
    assert np.flatnonzero(theirs.state_is_initial).tolist() == model.initial.tolist()
    probabilities = np.array(theirs.branch_to_probability)
    if model.has_rates:
        probabilities *= np.repeat(theirs.state_to_exit_rate, np.diff(model.row_starts))
    assert np.allclose(probabilities, model.values.array(), rtol=ULP, atol=0)
    umbi.ats.read(path)  # which checks it
    umbi.umb.write(theirs, tmp_path / "again.umb")
    again = read_model(tmp_path / "again.umb")
    assert list(model.differences(again, tolerance=2 * ULP)) == []
