"""Choices that cannot apply to what is asked are refused, on the command line and in Python; none is ignored."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest
from command_line import DIE, MODELS, galton

from galton import GaltonError, Settings, check, load
from galton.checking.inspection import UsageError, kinds_of
from galton.lang import Source, parse_properties
from galton.lang.resolution import resolve
from galton.lang.wording import for_command_line

TANDEM = MODELS / "tandem.prism"
MODEL = {"die": (DIE, {}), "tandem": (TANDEM, {"c": 2})}

# A question of each kind, and the choices that it looks at.
BY_HAND = {
    *("method", "method and sweeps", "method and format", "method and order", "method and devices"),
    "method and single",
}
SWEPT = {*BY_HAND, "format", "segmented", "order", "single", "devices"}
ASKED: dict[tuple[str, str], set[str]] = {
    ("die", "P=? [ F d=6 ]"): {*SWEPT, "method for all at once"},
    ("die", 'R{"tosses"}=? [ F node=7 ]'): {*SWEPT, "method for all at once"},
    ("die", "P=? [ F<=9 d=6 ]"): {"format", "order", "single", "devices"},
    ("die", "P=? [ F>=2 d=6 ]"): {"format", "segmented", "order", "single", "devices"},
    ("die", "P=? [ X node=1 ]"): {"format", "order", "single", "devices"},
    ("die", "S=? [ d=6 ]"): {*BY_HAND, "sweeps", "order", "devices"},
    ("die", 'R{"tosses"}=? [ S ]'): {*BY_HAND, "sweeps", "order", "devices"},
    ("die", "A [ F node=7 ]"): set(),
    ("die", "d=6"): set(),
    ("tandem", "P=? [ F<=1 second=2 ]"): {"format", "order", "single", "timed", "devices"},
    ("tandem", 'R{"customers"}=? [ C<=1 ]'): {"format", "order", "single", "timed", "devices"},
    ("tandem", 'R{"customers"}=? [ I=1 ]'): {"format", "order", "single", "timed", "devices"},
    ("tandem", "S=? [ second=2 ]"): {*BY_HAND, "sweeps", "order", "devices"},
    ("tandem", "P=? [ X second=2 ]"): set(),
    ("tandem", "P=? [ F P>=0.5 [ F<=1 second=2 ] ]"): {*SWEPT, "method for all at once", "timed"},
}
CHOICES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "method": (["--method", "jacobi"], {"method": "jacobi"}),
    "method and sweeps": (
        ["--method", "jacobi", "--max-iterations", "1e6"],
        {"method": "jacobi", "max_iterations": 10**6},
    ),
    "method and format": (
        ["--method", "jacobi", "--format", "segmented"],
        {"method": "jacobi", "format": "segmented"},
    ),
    "method and order": (["--method", "jacobi", "--order", "rcm"], {"method": "jacobi", "order": "rcm"}),
    "method and single": (["--method", "jacobi", "--single"], {"method": "jacobi", "single": True}),
    "method and devices": (
        ["--method", "jacobi", "--device", "cuda:0,1"],
        {"method": "jacobi", "device": "cuda:0,1"},
    ),
    "method for all at once": (["--method", "interval"], {"method": "interval"}),
    "timed": (["--method", "uniformisation"], {"method": "uniformisation"}),
    "sweeps": (["--max-iterations", "1e6"], {"max_iterations": 10**6}),
    "format": (["--format", "ell"], {"format": "ell"}),
    "segmented": (["--format", "segmented"], {"format": "segmented"}),
    "order": (["--order", "rcm"], {"order": "rcm"}),
    "single": (["--single"], {"single": True}),
    "devices": (["--device", "cuda:0,1"], {"device": "cuda:0,1"}),
}


@pytest.mark.parametrize(("asked", "name"), list(product(ASKED, CHOICES)), ids=lambda value: str(value))
def test_a_choice_that_would_do_nothing_is_refused(asked: tuple[str, str], name: str) -> None:
    """Format, order, precision and several devices were ignored for steps, times and averages, the method for S."""
    (model, prop), (words, chosen) = asked, CHOICES[name]
    path, constants = MODEL[model]
    given = ["-c", ",".join(f"{n}={v}" for n, v in constants.items())] if constants else []
    settings = Settings(**{key: value for key, value in chosen.items() if key != "device"})
    device = chosen.get("device", "auto")
    if name in ASKED[asked]:
        if "device" not in chosen:  # which are not here
            assert galton("check", path, *given, "-p", prop, *words).code == 0
        return
    with patch("galton.explore.build", side_effect=AssertionError("a model was built")):
        outcome = galton("check", path, *given, "-p", prop, *words)
        with pytest.raises(UsageError) as caught:
            check(load(path, **constants), prop, settings=settings, device=device)
    with for_command_line():
        typed = str(caught.value)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"error: {typed}\n")
    assert prop in typed
    assert ("several devices" if name == "devices" else words[0]) in typed
    assert "Leave it away" in typed
    assert "--" not in str(caught.value)
    assert next(iter(chosen)) in str(caught.value)


@pytest.mark.parametrize("name", ["method for all at once", "format", "single"])
def test_a_model_that_was_built_before_is_no_way_around(name: str) -> None:
    with pytest.raises(UsageError, match="does nothing for"):
        check(load(DIE).build(), "S=? [ d=6 ]", settings=Settings(**CHOICES[name][1]))


def test_several_devices_of_a_model_that_was_built_there() -> None:
    model = load(DIE).build()
    model = replace(model, placement=replace(model.placement, devices=(0, 1)))
    with pytest.raises(UsageError, match="device with several devices does nothing for A \\[ F node=7 \\]"):
        check(model, "A [ F node=7 ]")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--omega", "0.9"], "--omega is for the methods jor and sor"),
        (["--omega", "0.9", "--method", "jacobi"], "--omega is for the methods jor and sor"),
        (["--single", "--method", "gmres"], "--single is for the default method and for those that only sweep"),
        (["--single", "--method", "topological:jacobi"], "--single is for the default method and for those that"),
        (["--single", "--device", "cpu"], "--single is for a device, and --device is cpu"),
        (["--format", "ell", "--device", "cpu"], "--format is for a device, and --device is cpu"),
        (["--format", "ell", "--method", "topological"], "--format is for a device, and --method topological runs on"),
        (["--order", "bfs", "--method", "direct"], "--order is for a device, and --method direct runs on the CPU"),
        (
            ["--device", "cuda:0,1", "--method", "direct"],
            "--method direct runs on the CPU, and on no device, let alone",
        ),
        (["--format", "ell", "--method", "interval"], "--format is for methods that sweep or multiply, and --method i"),
    ],
)
def test_choices_that_exclude_each_other(words: list[str], said: str) -> None:
    outcome = galton("check", DIE, "-p", "P=? [ F d=6 ]", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {said}")


@pytest.mark.parametrize("method", ["sor", "topological:jor"])
def test_relaxation_where_it_is_for_something(method: str) -> None:
    assert galton("check", DIE, "-p", "P=? [ F d=6 ]", "--omega", "0.9", "--method", method).code == 0


def test_one_property_of_several() -> None:
    outcome = galton("check", DIE, "-p", "P=? [ F d=6 ]", "-p", "S=? [ d=6 ]", "--method", "interval")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--method interval does nothing for S=? [ d=6 ]: it is for unbounded paths and rewards" in outcome.err


def test_every_choice_of_a_user_is_looked_at_by_some_kind_of_question() -> None:
    assert set(CHOICES) == set().union(*ASKED.values())


def test_kinds_in_the_order_of_their_list() -> None:
    program = load(TANDEM, c=2)
    context, (question,) = resolve(parse_properties(Source("p", "P=? [ F>=1 S>0.1 [ second=2 ] ]")), program, {})
    assert [kind.name for kind in kinds_of(question, context)] == [
        "bounds without an upper end",
        "time bounds",
        "long-run averages of chains",
    ]


def test_usage_is_a_kind_of_error() -> None:
    with pytest.raises(GaltonError) as caught:
        check(load(DIE), "S=? [ d=6 ]", method="interval")
    assert caught.value.kind == "usage"
