"""The product that explorers build, beside that of a model that was built before."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from ltl_judges import asked, both_products, meet, on_the_model, reading, same_products
from ltl_pairs import KINDS, Kind, random_pair

import galton
from galton.backend.limits import Limits
from galton.backend.reference import explorer as reference
from galton.checking.automaton_reading import reading_of
from galton.explore import build
from galton.lower.lowering import lower

GRID = """
mdp
const int N;
module walk
  x : [0..N]; y : [0..N];
  [right] x<N -> 0.9 : (x'=x+1) + 0.1 : true;
  [up] y<N -> 0.9 : (y'=y+1) + 0.1 : true;
  [home] true -> (x'=0) & (y'=0);
endmodule
label "corner" = x=N & y=N;
label "home" = x=0 & y=0;
rewards "steps" true : 1; endrewards
"""


@pytest.mark.parametrize("kind", KINDS)
def test_both_products_are_the_same(kind: Kind) -> None:
    for seed in range(60):
        pair = random_pair(Random(seed), kind, bounds=True)
        program = galton.parse(pair.program)
        assert not same_products(program, pair.questions[0]), (seed, pair)


@pytest.mark.parametrize("kind", KINDS)
def test_both_answers_are_the_same(kind: Kind) -> None:
    for seed in range(60):
        pair = random_pair(Random(seed), kind, bounds=True)
        program = galton.parse(pair.program)
        for prop in (*pair.questions, f"A [ {pair.path} ]", f"E [ {pair.path} ]"):
            assert meet(galton.check(program, prop), on_the_model(program, prop)), (seed, pair)


def test_rewards_of_cosafe_formulas_come_along() -> None:
    counted = 0
    for seed in range(200):
        pair = random_pair(Random(seed))
        program = galton.parse(pair.program)
        asks = ("min", "max") if pair.kind == "mdp" else ("",)
        for prop in (f'R{{"cost"}}{each}=? [ {pair.path} ]' for each in asks):
            context, question = asked(program, prop)
            if reading_of(question, context) is None or not reading(program, prop).verdicts.cosafe:
                continue
            try:
                ours = galton.check(program, prop)
            except galton.LanguageError:  # co-safe, but not as far as syntax shows it
                continue
            counted += 1
            assert meet(ours, on_the_model(program, prop)), (seed, pair)
    assert counted > 20


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_explores_the_same_product(kind: Kind) -> None:
    for seed in range(40):
        pair = random_pair(Random(seed), kind, bounds=True)
        program = galton.parse(pair.program)
        reader = reading(program, pair.questions[0]).reader
        ours = build(program, reader=reader)
        theirs = reference.explore(lower(program, reader=reader), threads=1, limits=Limits())
        # The reference rounds once where the core does so several times.
        assert list(ours.differences(theirs, tolerance=1e-14)) == [], (seed, pair)


def test_any_number_of_threads_gives_the_same_product() -> None:
    program = galton.parse(GRID, N=40)
    reader = reading(program, 'Pmax=? [ (G F "corner") & (G F "home") & (F x=3) ]').reader
    one, two = (build(program, reader=reader, threads=threads) for threads in (1, 2))
    assert list(one.differences(two)) == []


def test_a_state_without_a_transition_repeats_its_letter() -> None:
    program = galton.parse("dtmc module m x:[0..1]; [] x=0 -> (x'=1); endmodule")
    lowered, explicit = both_products(program, "P=? [ (X X x=1) & (X X X X x=1) & (F x=1) ]")
    assert lowered.n_states == explicit.n_states > 2
    assert galton.check(program, "P=? [ (X X x=1) & (X X X X x=1) & (F x=1) ]").value == 1.0


def test_several_initial_states_each_read_their_own_letter() -> None:
    program = galton.parse(
        "dtmc module m x:[0..2]; [] true -> (x'=x); endmodule init x<2 endinit",
    )
    result = galton.check(program, "P=? [ (F x=1) & (G F x<2) ]")
    assert result.value == (0.0, 1.0)


def test_nothing_is_explored_past_what_decides() -> None:
    program = galton.parse(GRID, N=100)
    whole = build(program).n_states
    for prop in ("Pmax=? [ F (x+y=3 & (X x+y<9)) ]", "Pmin=? [ G (x+y<3 | (X x+y>200)) ]"):
        found = reading(program, prop)
        assert found.verdicts.cosafe or found.verdicts.safe
        assert build(program, reader=found.reader).n_states < whole / 5, prop
        assert meet(galton.check(program, prop), on_the_model(program, prop))


def test_what_is_asked_about_the_limit_alone_needs_no_larger_model() -> None:
    program = galton.parse(GRID, N=20)
    for path in ('G F "corner"', 'F G "home"', '(G F "corner") => (G F "home")', '(G F "corner") & (F G x<9)'):
        found = reading(program, f"Pmax=? [ {path} ]")
        assert found.automaton.n_states == 1
        assert build(program, reader=found.reader).n_states == build(program).n_states


@pytest.mark.parametrize(
    "prop",
    [
        'Pmax=? [ G F "deadlock" ]',
        'Pmax=? [ (F "init") & (G F x=1) ]',
        "Pmax=? [ G F P>=1 [ F x=3 ] ]",
        "filter(max, Pmax=? [ G F x=1 ], x=2)",
        "Pmax=? [ G F x=1 ] + 1",
        "Pmax=? [ G F mod(3, x)=1 ]",
    ],
)
def test_what_needs_the_model_itself_is_left_to_its_product(prop: str) -> None:
    program = galton.parse(GRID, N=3)
    context, question = asked(program, prop)
    assert reading_of(question, context) is None


def test_the_plan_tells_which_product_it_was() -> None:
    program = galton.parse(GRID, N=3)
    found = {work.step: work.detail for work in galton.check(program, "Pmax=? [ G F x=1 ]").work}
    assert "explored with the model" in found["automaton"]
    assert "is the model" in found["product"]
    other = {work.step: work.detail for work in on_the_model(program, "Pmax=? [ G F x=1 ]").work}
    assert "of the model" in other["product"]


def test_marks_are_those_of_the_state_that_is_read() -> None:
    program = galton.parse(GRID, N=3)
    found = reading(program, 'Pmax=? [ (G F "corner") & (F G y=3) ]')
    model = build(program, reader=found.reader)
    marks, after = found.read(model)
    letters = sum(model.labels[str(bit)].astype(np.int64) << bit for bit in range(len(found.reader.propositions)))
    for state in range(model.n_states):
        assert (after[state], marks[state]) == found.automaton.step(0, int(letters[state]))
