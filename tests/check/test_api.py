"""``galton.check``, as Python sees it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from asking import COIN, GAMBLE, assert_number

import galton
from galton import Settings
from galton.model.sparse import Model

MODELS = Path(__file__).parents[2] / "models"


def test_a_program_a_model_and_a_file() -> None:
    program = galton.parse(COIN)
    for subject in (program, program.build()):
        assert_number(galton.check(subject, "P=? [ F heads & x=2 ]"), 2 / 15)
    assert_number(galton.check(MODELS / "die.prism", "P=? [ F d=6 ]"), 1 / 6)
    assert_number(galton.check(str(MODELS / "die.prism"), "const int k; P=? [ F d=k ]", k=2), 1 / 6)


def test_constants_of_a_file() -> None:
    path = MODELS / "consensus.prism"
    assert galton.check(path, 'P>=1 [ F "finished" ]', N=2, K=2).value is True


def test_a_model_without_a_program() -> None:
    model = Model.from_matrix("dtmc", [[0.5, 0.5], [0, 1]], labels={"end": [1]}, rewards={"steps": [1, 0]})
    assert_number(galton.check(model, 'P=? [ X "end" ]'), 1 / 2)
    assert_number(galton.check(model, 'R{"steps"}=? [ F "end" ]'), 2)
    assert_number(galton.check(model, 'P=? [ F<=2 !"init" ]'), 3 / 4)
    assert galton.check(model, 'filter(count, "end" | "init")').value == 2


def test_a_model_from_a_function() -> None:
    class Place(NamedTuple):
        x: int
        up: bool

    def step(place: Place) -> list[tuple[float, Place]]:
        return [(0.5, Place(place.x + 1, True)), (0.5, place)] if place.x < 3 else [(1.0, place)]

    model = Model.from_function(step, Place(0, False))
    assert_number(galton.check(model, "P=? [ F<=2 x=1 & up ]"), 3 / 4)
    assert galton.check(model, "filter(max, x)").value == 3
    assert galton.check(model, "filter(state, up, x=0)").value is False


def test_what_a_result_says() -> None:
    found = galton.check(galton.parse(COIN), "P=? [ F<=3 heads ]")
    assert float(found) == pytest.approx(7 / 8)
    assert repr(found).startswith("<P=? [ F<=3 heads ] = 0.875")
    assert found.proved
    assert found.seconds > 0
    assert found.method
    assert found.work
    assert found.iterations == sum(step.iterations for step in found.work)
    with pytest.raises(TypeError, match="is no question of true or false"):
        bool(found)
    with pytest.raises(TypeError, match="has no single number"):
        float(galton.check(galton.parse(COIN), "heads"))


def test_what_is_undecided_is_neither_true_nor_false() -> None:
    die = galton.load(MODELS / "die.prism")
    for found in (
        galton.check(die, "P>=1/6 [ F d=6 ]"),
        galton.estimate(die, "P>=1/6 [ F d=6 ]", paths=100),
    ):
        assert found.value is None
        with pytest.raises(TypeError, match="is undecided: its value is None"):
            bool(found)


def test_precision() -> None:
    found = galton.check(galton.parse(COIN), "P=? [ F heads & x=2 ]", eps=1e-9)
    assert found.lower is not None
    assert found.upper is not None
    assert found.upper - found.lower <= 2e-9 * found.upper
    loose = galton.check(galton.parse(COIN), "P=? [ F heads & x=2 ]", settings=Settings(eps=1e-3))
    assert loose.lower is not None
    assert loose.upper is not None
    assert loose.lower <= 2 / 15 <= loose.upper


def test_a_constant_that_nobody_declares() -> None:
    with pytest.raises(galton.GaltonError, match="declares no constant 'k'"):
        galton.check(galton.parse(COIN), "P=? [ F heads ]", k=3)


def test_strategies_come_with_the_answer() -> None:
    assert galton.check(galton.parse(GAMBLE), "Pmax=? [ F s=3 ]").strategy is None
    found = galton.check(galton.parse(GAMBLE), "Pmax=? [ F s=3 ]", strategy=True)
    assert found.strategy is not None
    assert np.asarray(found.strategy.choices).shape == (5,)


def test_the_default_device_is_that_of_the_command_line() -> None:
    """``galton check`` and ``synthesize`` took ``auto``, ``galton.check`` the CPU."""
    code = "import galton; print(galton.check.__kwdefaults__['device'], galton.synthesize.__kwdefaults__['device'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["auto", "auto"]


@pytest.mark.slow
def test_one_of_many_components_may_need_more_than_its_part_of_eps() -> None:
    """Shared coin with six processes: of 452 components with cycles, one has paths of ten thousand steps."""
    found = galton.check(MODELS / "consensus.prism", 'R{"steps"}min=? [ F "finished" ]', N=6, K=2)
    assert_number(found, 432)
