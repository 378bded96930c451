"""Answers with symmetries and without: the same, on random programs and on the gallery."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from symmetric_programs import BREAKS, symmetric

import galton
from galton.checking.result import Result
from galton.checking.symmetry import symmetry_of
from galton.lang import Source, parse_properties
from galton.lang.resolution import resolve
from galton.lower.symmetry import Symmetries
from galton.programs import Program

MODELS = Path(__file__).parents[2] / "models"
EPS = 1e-12

CHAINS = (
    'P=? [ F "goal" ]',
    'P=? [ !"goal" U<=4 b1 & a2=1 ]',
    'R{"r"}=? [ F "goal" ]',
    'R{"r"}=? [ C<=3 ]',
    'S=? [ "goal" ]',
    'P=? [ G F "goal" ]',
    'P=? [ F P>=0.3711 [ X "goal" ] ]',
    'filter(max, P=? [ F<=2 "goal" ], !"deadlock")',
    'filter(avg, P=? [ F<=2 "goal" ], true)',
    'filter(count, "goal" | "init")',
)
DECISIONS = (
    'Pmax=? [ F "goal" ]',
    'Pmin=? [ F<=4 "goal" ]',
    'R{"r"}min=? [ F "goal" ]',
    'R{"r"}max=? [ C<=3 ]',
    'Pmax=? [ (G F "goal") & (F b1) ]',
    'Smax=? [ "goal" ]',
    'Pmax=? [ F Pmin>=0.3711 [ X "goal" ] ]',
    'filter(min, Pmax=? [ F "goal" ], true)',
    'E [ F "goal" ]',
    'multi(Pmax=? [ F "goal" ], R{"r"}min=? [ C ])',
)


def reduced(program: Program, prop: str) -> bool:
    """Whether fewer states are explored for a property."""
    context, (question,) = resolve(parse_properties(Source("property", prop)), program, {})
    return symmetry_of(Symmetries(program), context, question).orbits is not None


def agree(mine: Result, theirs: Result) -> None:
    """The same truth, or the same bounds, as close as each is to the truth."""
    assert isinstance(mine.value, tuple) == isinstance(theirs.value, tuple)
    if mine.lower is None or theirs.lower is None or mine.upper is None or theirs.upper is None:
        assert mine.value == theirs.value
        return
    assert mine.about == theirs.about
    if math.isinf(theirs.lower):
        assert mine.lower == mine.upper == theirs.lower
        return
    for a, b in ((mine.lower, theirs.lower), (mine.upper, theirs.upper)):
        assert float(a) == pytest.approx(float(b), rel=4 * EPS, abs=1e-300)


def compare(program: Program, prop: str) -> None:
    answers = [_answer(program, prop, symmetry=symmetry) for symmetry in (True, False)]
    mine, theirs = answers
    if isinstance(mine, str) or isinstance(theirs, str):
        assert mine == theirs
    else:
        agree(mine, theirs)


def _answer(program: Program, prop: str, *, symmetry: bool) -> Result | str:
    try:
        return galton.check(program, prop, symmetry=symmetry, eps=EPS)
    except galton.GaltonError as error:
        return error.kind


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    program = galton.parse(str(symmetric(seed)))
    for prop in DECISIONS if program.type == "mdp" else CHAINS:
        compare(program, prop)
    assert reduced(program, CHAINS[0] if program.type != "mdp" else DECISIONS[0])


@pytest.mark.parametrize("name", BREAKS)
def test_programs_that_are_nearly_symmetric(name: str) -> None:
    for seed in (0, 1, 2):
        program = galton.parse(str(BREAKS[name](symmetric(seed))))
        for prop in (DECISIONS if program.type == "mdp" else CHAINS)[:4]:
            compare(program, prop)


GALLERY = {
    "consensus": ({"N": 3, "K": 2}, ("c2", "disagree", "steps_max", "steps_min")),
    "csma": ({"N": 2, "K": 2}, None),
    "herman": ({"N": 7, "k": 3, "T": 8}, None),
    "leader_async": ({"N": 3}, None),
    "leader_sync": ({"N": 3, "K": 2}, None),
    "polling": ({"N": 3, "T": 5}, None),
    "egl": ({"N": 2, "L": 2}, None),
}


@pytest.mark.parametrize("name", GALLERY)
def test_gallery(name: str) -> None:
    constants, chosen = GALLERY[name]
    text = (MODELS / f"{name}.props").read_text()
    file = parse_properties(Source("props", text))
    own = {c.name.name for c in file.constants}
    program = galton.load(MODELS / f"{name}.prism", **{n: v for n, v in constants.items() if n not in own})
    declared = "".join(f"const {c.type} {c.name.name} = {constants.get(c.name.name, 2)};\n" for c in file.constants)
    for prop in file.properties:
        if chosen is None or prop.name in chosen:
            compare(program, declared + prop.text)


def test_strategies_certificates_and_exact_numbers_are_about_all_states() -> None:
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    prop = 'Pmax=? [ F "finished" & !"agree" ]'
    assert reduced(program, prop)
    best = galton.check(program, prop, strategy=True).strategy
    assert best is not None
    assert best.model.orbits is None
    assert galton.check(program, prop, exact=True).exact.denominator == 120  # type: ignore[union-attr]
    certificate = galton.check(program, prop, certificate=True).certificate
    assert certificate is not None
    assert galton.verify(program, prop, certificate)


@pytest.mark.parametrize(
    ("prop", "expected"),
    [
        ("filter(print, Pmax=? [ F heads=2 ], heads=1)", False),
        ("filter(count, heads=1)", False),
        ("filter(max, Pmax=? [ F heads=2 ], heads=1)", True),
        ("filter(max, Pmax=? [ F heads=2 ], coin1=1)", False),
        ("Pmax=? [ F do1=3 & do2=3 ]", True),
        ("Pmax=? [ F do1=3 & do2=2 ]", False),
        ("Pmax=? [ (F do1=3) & (F do2=3) ]", False),
        ('Pmax=? [ F "finished" & "init" ]', True),
        ("do1=do2", True),
        ("do1=0", False),
        ('quantile(min b, Pmax>=0.1 [ F{"steps"}<=b "finished" ])', False),
        ('Pmax=? [ F{"steps"}<=9 "finished" ]', False),
    ],
)
def test_which_questions_leave_processes_alike(prop: str, expected: bool) -> None:
    assert reduced(galton.load(MODELS / "consensus.prism", N=2, K=2), prop) == expected


def test_initial_states_of_an_orbit_are_told_as_many() -> None:
    text = "dtmc  module p1  x1 : bool;  [a] true -> 0.5 : (x1'=true) + 0.5 : (x1'=false);  endmodule "
    text += "module p2 = p1 [ x1=x2 ] endmodule  init x1!=x2 endinit"
    program = galton.parse(text)
    for symmetry in (True, False):
        result = galton.check(program, "P=? [ X x1&x2 ]", symmetry=symmetry)
        assert result.value == (0.25, 0.25)
        assert result.about == "2 initial states"
