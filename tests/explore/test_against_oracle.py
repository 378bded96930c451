"""The gallery: small instances against the oracle in everything, larger ones against each other and the known sizes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
from comparison import changes, check, differences

import galton
from galton.model.sparse import Rewards
from galton.model.values import Values

GALLERY = Path(__file__).parents[2] / "models"
SMALL, LARGE = 3_000, 160_000
MANY_TRANSITIONS = 2_000_000
MOST = 3  # instances of a model that the oracle looks at

# Instances smaller than any in the list, of models whose listed ones are too large for the oracle.
SMALLER: dict[str, list[dict[str, int]]] = {
    "nand.prism": [{"N": 3, "K": 1}, {"N": 5, "K": 2}],
    "embedded.prism": [{"MAX_COUNT": 1}],
    "egl.prism": [{"N": 2, "L": 2}],
    "crowds.prism": [{"TotalRuns": 2, "CrowdSize": 3}],
}


def listed() -> list[tuple[str, dict[str, Any]]]:
    """The instances of the gallery with their sizes; none while there is no list."""
    path = GALLERY / "gallery.json"
    if not path.exists():
        return []
    models = json.loads(path.read_text())["models"]
    return [(model["file"], instance) for model in models for instance in model["instances"] if instance.get("states")]


def small() -> list[Any]:
    """The smallest instances of each model."""
    chosen: dict[str, list[dict[str, Any]]] = {file: list(constants) for file, constants in SMALLER.items()}
    for file, instance in sorted(listed(), key=lambda pair: pair[1]["states"]):
        if instance["states"] <= SMALL and len(chosen.setdefault(file, [])) < MOST:
            chosen[file].append(instance["constants"])
    pairs = [(file, constants) for file in sorted(chosen) for constants in chosen[file]]
    return [pytest.param(*pair, id=_name(*pair)) for pair in pairs]


def large() -> list[Any]:
    """The largest instance of each model that is quick to build."""
    quick = [pair for pair in listed() if pair[1]["transitions"] <= MANY_TRANSITIONS]
    fitting = [pair for pair in quick if pair[1]["states"] <= LARGE]
    largest = dict(sorted(fitting, key=lambda pair: pair[1]["states"]))  # of each file, the last one stays
    return [pytest.param(file, largest[file], id=_name(file, largest[file]["constants"])) for file in sorted(largest)]


def _name(file: str, constants: dict[str, Any]) -> str:
    return "-".join([file.removesuffix(".prism"), *(f"{name}={value}" for name, value in constants.items())])


@pytest.mark.parametrize(("file", "constants"), small())
def test_small_instances(file: str, constants: dict[str, Any]) -> None:
    program = galton.load(GALLERY / file, **constants)
    expected = oracle.explore(program, max_states=2 * SMALL)
    assert not expected.failures
    check(program, expected, threads=(1, 2))


@pytest.mark.parametrize(("file", "instance"), large())
def test_the_number_of_threads_does_not_matter(file: str, instance: dict[str, Any]) -> None:
    program = galton.load(GALLERY / file, **instance["constants"])
    rewards = program.type != "mdp"
    one, *others = (program.build(threads=count, transition_rewards=rewards) for count in (1, 2, 3))
    sizes = {"states": one.n_states, "choices": one.n_choices, "transitions": one.n_transitions}
    sizes["initial_states"] = len(one.initial)
    assert sizes == {what: instance[what] for what in sizes}
    for other in others:
        assert list(changes(one, other)) == []


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
def test_many_threads_again_and_again(threads: int) -> None:
    """A table that threads share once lost a state now and then."""
    program = galton.load(GALLERY / "fms.prism", n=4)
    first = program.build(threads=1)
    assert first.n_states == 35_910
    for _ in range(10):
        assert list(changes(first, program.build(threads=threads))) == []


def test_the_comparison_sees_what_differs() -> None:
    """Who compares the comparison? Change one thing after the other."""
    program = galton.load(GALLERY / "consensus.prism", N=2, K=2)
    expected, model = oracle.explore(program), program.build(threads=1)
    assert list(differences(model, expected)) == []
    label, (name, rewards) = next(iter(program.labels)), next(iter(model.rewards.items()))
    last = model.n_choices - 1
    assert model.choice_actions is not None
    changed = [
        replace(model, values=Values.compress(model.values.array() * (1 + 1e-11))),
        replace(model, initial=model.initial + 1),
        replace(model, labels={**model.labels, label: ~model.labels[label]}),
        replace(model, labels={**model.labels, "deadlock": ~model.labels["deadlock"]}),
        replace(model, rewards={**model.rewards, name: Rewards(state=np.full(model.n_states, 7.0))}),
        replace(model, rewards={**model.rewards, name: replace(rewards, choice=np.full(model.n_choices, 7.0))}),
        replace(model, rewards={}),
        replace(model, choice_actions=np.where(np.arange(last + 1) == last, 0, model.choice_actions)),
        replace(model, states=model.states[::-1]),
        replace(model, columns=np.roll(model.columns, 1)),
    ]
    for other in changed:
        assert list(differences(other, expected)) != []
        assert list(changes(other, model)) != []


def test_every_model_is_covered() -> None:
    covered = {parameters.values[0] for parameters in small()}
    assert covered or not listed()
    assert {file for file, _ in listed()} <= covered
