"""``R{2}`` and ``R`` mean the rewards of the text, whatever of them a reduction has left in the model, in what order.

They once meant the second and the first of what was left: the slice, the orbits and the quotient keep only structures
that are asked for, and lumping had them in the order of the questions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import galton
from galton.checking.result import Result

ROOT = Path(__file__).parents[2]
CHAIN = """dtmc
module first   s : [0..3] init 0; [a] s<3 -> 1/3 : (s'=s+1) + 2/3 : true;  [a] s=3 -> true; endmodule
module second  x : [0..3] init 0; [a] true -> (x'=mod(x+1,4)); endmodule
module third   y : [0..3] init 0; [a] true -> (y'=mod(y+1,4)); endmodule
rewards "one"   x=y : 1; endrewards
rewards "two"   true : 2; endrewards
rewards         true : 3; endrewards
rewards "four"  s=1 : 4; endrewards
"""
WAYS: list[Mapping[str, Any]] = [{}, {"slice": False}, {"symmetry": False}, {"lump": True}]


def answers(subject: Any, props: list[str], **options: Any) -> list[Result]:
    """All of them together, as a file of properties is asked."""
    found = galton.check(subject, props, **options)
    return [found] if isinstance(found, Result) else list(found)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_numbers_beside_names(way: Mapping[str, Any]) -> None:
    """The structure without a name is the third; ``R`` is the first."""
    values = {"R": 9, 'R{"one"}': 9, "R{1}": 9, 'R{"two"}': 18, "R{2}": 18, "R{3}": 27, 'R{"four"}': 12, "R{4}": 12}
    for asked in (['R{"four"}', "R{2}"], ["R{2}", 'R{"four"}'], ["R{3}"], ['R{"two"}', "R"], list(values)):
        props = [f"{operator}=? [ F s=3 ]" for operator in asked]
        for found, operator in zip(answers(galton.parse(CHAIN), props, **way), asked, strict=True):
            assert found.value == pytest.approx(values[operator]), (operator, asked)
    (ratio,) = answers(galton.parse(CHAIN), ["R{2}=? [ C<=5 ] / R{3}=? [ C<=5 ]"], **way)
    assert ratio.value == pytest.approx(2 / 3)
    (holds,) = answers(galton.parse(CHAIN), ["R{2}<=20 [ F s=3 ]"], **way)
    assert holds.value is True


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_gallery_by_number_and_by_name(way: Mapping[str, Any]) -> None:
    """In every model of the gallery with several rewards."""
    seen = 0
    for entry in json.loads((ROOT / "models" / "gallery.json").read_text())["models"]:
        instance = min(entry["instances"], key=lambda one: one["states"])
        program = galton.load(ROOT / "models" / entry["file"], **instance["constants"])
        names = program.reward_names
        if len(names) < 2 or instance["states"] > 5000:
            continue
        seen += 1
        best = "max" if program.nature.has_choices else ""
        for number, name in enumerate(names, 1):
            by = [f"R{{{number}}}{best}=? [ C<=3 ]", f'R{{"{name}"}}{best}=? [ C<=3 ]']
            one, other = answers(program, by, **way)
            (alone,) = answers(program, by[:1], **way)
            assert one.value == other.value == alone.value, (entry["file"], name)
    assert seen >= 3


def test_models_without_a_program() -> None:
    """Lumping keeps what is asked of models from elsewhere, too."""
    model = galton.parse(CHAIN).build()
    named = ['R{"four"}=? [ F s=3 ]', "R{2}=? [ F s=3 ]", "R=? [ F s=3 ]"]
    for lump in (True, False):
        assert [round(found.value, 5) for found in answers(model, named, lump=lump)] == [12, 18, 9]
