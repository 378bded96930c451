"""Answers with lumping and without: the same, on random programs and on the gallery; and when it is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from played import played_device
from symmetric_programs import symmetric
from test_symmetry import CHAINS, DECISIONS, EPS, agree

import galton
from galton.checking import asking, lumping
from galton.checking.asking import Answers, QuietWorker
from galton.checking.inquiring import inquire
from galton.checking.result import Result
from galton.solve.settings import Settings

MODELS = Path(__file__).parents[2] / "models"

GALLERY = [
    ("die.prism", {}, "P=? [ F d=6 ]", 'R{"tosses"}=? [ F "done" ]'),
    ("herman.prism", {"N": 7}, 'filter(max, R=? [ F "stable" ])', 'P=? [ F<=9 "stable" ]'),
    ("egl.prism", {"N": 3, "L": 2}, 'P=? [ F !"knowA" & "knowB" ]'),
    ("cluster.prism", {"N": 2}, 'S=? [ "premium" ]', 'P=? [ F<=0.2 !"minimum" ]', 'R{"time_not_min"}=? [ C<=1 ]'),
    ("cluster.prism", {"N": 2}, 'R{"num_repairs"}=? [ C<=5 ]', 'R{"percent_op"}=? [ I=2 ]', 'P>0.9 [ G<=1 "minimum" ]'),
    ("consensus.prism", {"N": 2, "K": 2}, 'Pmin=? [ F "finished" & "all_heads" ]', 'R{"steps"}max=? [ F "finished" ]'),
    ("consensus.prism", {"N": 2, "K": 2}, 'Smax=? [ "all_heads" ]', 'Pmax=? [ (G F "all_heads") | (F G "finished") ]'),
    ("consensus.prism", {"N": 2, "K": 2}, 'multi(Pmax=? [ F heads=2 ], R{"steps"}min=? [ F "finished" ])'),
    ("csma.prism", {"N": 2, "K": 2}, 'Pmax=? [ F<=60 "one_delivered" ]', 'Pmin=? [ F "all_delivered" ]'),
]


@pytest.mark.parametrize(("file", "constants", "props"), [(f, c, p) for f, c, *p in GALLERY])
def test_the_gallery_has_the_same_answers(file: str, constants: dict[str, int], props: list[str]) -> None:
    program = galton.load(MODELS / file, **constants)
    for prop in props:
        eps = None if prop.startswith("multi") else EPS
        mine, theirs = (galton.check(program, prop, lump=lump, symmetry=False, eps=eps) for lump in (True, False))
        if prop.startswith("multi"):
            np.testing.assert_allclose(sorted(mine.value.points), sorted(theirs.value.points), rtol=1e-5)
        else:
            agree(mine, theirs)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 7])
@pytest.mark.parametrize("symmetry", [False, True])
def test_random_programs_have_the_same_answers(seed: int, symmetry: bool) -> None:
    """Programs that are symmetric, so that there is something to lump, asked with everything that they answer."""
    program = galton.parse(str(symmetric(seed)))
    for prop in DECISIONS[:-1] if program.nature.has_choices else CHAINS:
        results = [answer(program, prop, lump, symmetry and lump) for lump in (False, True)]
        if isinstance(results[0], str) or isinstance(results[1], str):
            assert results[0] == results[1]
        else:
            agree(*results)


def answer(program: galton.Program, prop: str, lump: bool, symmetry: bool) -> Result | str:
    """The answer, or what kind of error there is instead."""
    try:
        return galton.check(program, prop, lump=lump, symmetry=symmetry, eps=EPS)
    except galton.GaltonError as error:
        return error.kind


def test_labels_that_only_the_model_knows_stay_known() -> None:
    """Both were dropped, because neither is the same in a whole block; then the formula could not be read."""
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    prop = 'Pmin=? [ F "finished" & "all_heads" ]'
    expected = galton.check(program, prop, lump=False).value
    assert galton.check(program.build(), prop, lump=True).value == pytest.approx(expected, rel=1e-5)
    small = galton.lump(program, prop).model
    assert {"finished", "all_heads"} <= small.labels.keys()
    assert galton.check(small, prop).value == pytest.approx(expected, rel=1e-5)


def test_values_of_all_states_are_those_of_the_whole_model() -> None:
    program = galton.load(MODELS / "herman.prism", N=5)
    model = program.build()
    found = galton.check(model, 'R=? [ F "stable" ]', lump=True)
    assert len(found.values) == model.n_states
    small = galton.lump(model, 'R=? [ F "stable" ]')
    lifted = small.lift(np.asarray(galton.check(small.model, 'R=? [ F "stable" ]').values))
    np.testing.assert_allclose(lifted, np.asarray(found.values), rtol=1e-5)


def models_of(program: object, props: list[str], device: str = "cpu", **options: object) -> list[tuple[bool, str]]:
    """For each property whether it is asked of a quotient, and what is told."""
    inquiry = inquire(program, props, {}, Settings(), **options)  # type: ignore[arg-type]
    (row,) = inquiry.rows()
    answers = Answers(inquiry, row, QuietWorker(Settings(), {"device": device}))
    built = [answers.of(asked).built for asked in row.all_asked]
    return [(one.model.sizes is not None, one.lumping) for one in built if one is not None]


def test_it_is_done_where_it_pays_and_said_why_not() -> None:
    program = galton.load(MODELS / "cluster.prism", N=4)
    quick, long = 'P=? [ F<=1 !"minimum" ]', 'P=? [ F<=4000 !"minimum" ]'
    with pytest.MonkeyPatch.context() as patch:
        assert models_of(program, [long]) == [(False, "the model is small")]
        patch.setattr(asking, "SMALL", 0)
        patch.setattr(lumping, "SMALL", 0)
        assert models_of(program, [quick]) == [(False, "about 40 sweeps are quicker")]
        ((used, note),) = models_of(program, [long])
        with played_device():
            on_device = models_of(program, [long], "cuda")
            told = models_of(program, [long], "cuda", lump=True)
    assert used
    assert note.startswith("131 blocks standing for 554 states")
    assert on_device == [(False, "a device lumps only where it is told to")]
    assert told[0][0]
    assert models_of(program, [long], lump=False) == [(False, "")]
    assert models_of(program, [quick], lump=True)[0][0]


def test_what_looks_at_single_states_gets_the_whole_model() -> None:
    program = galton.load(MODELS / "herman.prism", N=5)
    asked = ['filter(count, P=? [ X "stable" ]>0.2)', 'R=? [ F "stable" ]']
    (first, why), (second, _) = models_of(program, asked, lump=True, symmetry=False)
    assert (first, why, second) == (False, "a filter 'count' is about all states", True)


@pytest.mark.parametrize(
    ("option", "why"), [("strategy", "a strategy is one"), ("exact", "exact numbers are computed")]
)
def test_what_cannot_be_lumped_is_refused_where_it_is_asked_for(option: str, why: str) -> None:
    program = galton.load(MODELS / "consensus.prism", N=2, K=2)
    with pytest.raises(galton.GaltonError, match=why):  # on the CPU, because exact numbers are refused elsewhere
        galton.check(program, 'Pmin=? [ F "finished" ]', device="cpu", lump=True, **{option: True})
    galton.check(program, 'Pmin=? [ F "finished" ]', device="cpu", **{option: True})


def test_a_model_that_is_lumped_after_its_symmetries_counts_all_states() -> None:
    program = galton.load(MODELS / "consensus.prism", N=3, K=2)
    prop = 'Pmin=? [ F "finished" & "all_heads" ]'
    inquiry = inquire(program, prop, {}, Settings(), lump=True)
    (row,) = inquiry.rows()
    built = Answers(inquiry, row, QuietWorker(Settings(), {})).of(row.all_asked[0]).built
    assert built is not None
    assert built.model.orbits is not None
    assert built.model.stands_for() == program.build(terminal=inquiry.end_of(program, row.all_asked)).n_states


SWAPPED = """dtmc
module m
  x : [0..3] init 0;
  [] x<2 -> 1/2 : (x'=1-x) + 1/2 : (x'=2);
  [] x=2 -> 1/2 : (x'=0) + 1/2 : (x'=3);
  [] x=3 -> true;
endmodule
"""


def test_one_initial_state_stays_one_where_it_stands_for_others() -> None:
    """x=1 behaves like x=0, which is initial: the answer was a range "over 2 initial states"."""
    found = galton.check(galton.parse(SWAPPED), "P=? [ F<=3 x=3 ]", lump=True)
    assert float(found) == pytest.approx(3 / 8)
    assert "initial states" not in str(found)
    several = SWAPPED.replace(" init 0", "") + "init x<2 endinit"
    found = galton.check(galton.parse(several), "P=? [ F<=3 x=3 ]", lump=True)
    assert found.value == pytest.approx((3 / 8, 3 / 8))
