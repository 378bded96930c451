"""What follows the targets is not explored, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import COIN, GAMBLE, MACHINE, SPLIT

import galton
from galton.checking import exploration
from galton.checking.answering import check
from galton.checking.exploration import terminal
from galton.lang import Source, parse_properties, render
from galton.lang.expressions import Expression, Literal
from galton.lang.program import Program
from galton.lang.resolution import resolve

LINE = """
{type}
module line
  x : [0..100] init 50;
  [up] x<100 -> 0.5 : (x'=x+1) + 0.5 : (x'=x);
  [down] x>0 & {down} -> 0.25 : (x'=x-1) + 0.75 : (x'=x);
endmodule
label "top" = x>=60;
rewards "r" [up] true : 1; x>55 : 3; endrewards
"""


def ends(program: Program, *props: str) -> Expression | None:
    asked = []
    for prop in props:
        context, questions = resolve(parse_properties(Source("p", prop)), program, {})
        asked += [(context, question) for question in questions]
    return terminal(asked)


@pytest.mark.parametrize(
    ("props", "expected"),
    [
        (["P=? [ F heads ]"], "heads"),
        (['P=? [ F "heads" ]'], "heads"),
        (['P>=0.5 [ F<=3 "heads" ]'], "heads"),
        (["P=? [ x<2 U heads ]"], "heads | !(x < 2)"),
        (["P=? [ G x<2 ]"], "!(x < 2)"),
        (["P=? [ x<2 W heads ]"], "!(x < 2) & !heads | !(x < 2 & !heads)"),
        (["P=? [ F[0,3] heads ]"], "heads"),
        (['R{"tosses"}=? [ F heads ]'], "heads"),
        (['R{"tosses"}=? [ x<2 U heads ]'], "heads | !(x < 2)"),
        (["T=? [ F heads ]"], "heads"),
        (["1 - P=? [ F heads ]"], "heads"),
        (["x=0 & P>0.5 [ F heads ]"], "heads"),
        (["P=? [ F heads ] + T=? [ F x=1 ]"], "heads & x = 1"),
        (["P=? [ F heads ]", "P=? [ F heads ]"], "heads"),
        (["P=? [ F heads ]", "T=? [ F x=1 ]"], "heads & x = 1"),
        (["P=? [ F heads ]", "P=? [ F ("], "heads"),
        (['const int k=2; label "far" = x>=k; P=? [ F "far" ]'], "x >= 2"),
        (['filter(max, P=? [ F heads ], "init")'], "heads"),
        (["P=? [ F>=1 heads ]"], None),
        (["P=? [ F>0 heads ]"], None),
        (["P=? [ X heads ]"], None),
        (["P=? [ heads ]"], None),
        (["P=? [ F heads ]", "P=? [ X heads ]"], None),
        (["filter(max, P=? [ F heads ])"], None),
        (["filter(max, P=? [ F heads ], x=0)"], None),
        (['P=? [ F "deadlock" ]'], None),
        (['P=? [ F "init" ]'], None),
        (["P=? [ F P>0.5 [ X heads ] ]"], None),
        (["S=? [ heads ]"], None),
        (['R{"tosses"}=? [ C ]'], None),
        (['R{"tosses"}=? [ C<=3 ]'], None),
        (["A [ F heads ]"], None),
        (["x + 1"], None),
    ],
)
def test_where_questions_are_settled(props: list[str], expected: str | None) -> None:
    found = ends(galton.parse(COIN), *props)
    assert (None if found is None else render(found)) == expected


@pytest.mark.parametrize("type", ["dtmc", "ctmc", "mdp"])
@pytest.mark.parametrize("threads", [1, 2])
def test_states_that_end_a_question_stay_where_they_are(type: str, threads: int) -> None:
    program = galton.parse(LINE.format(type=type, down="x<60"))
    whole = program.build()
    cut = program.build(terminal=ends(program, 'P>0 [ F "top" ]'), threads=threads)
    cut.validate()
    assert (whole.n_states, cut.n_states) == (101, 61)
    assert cut.states is not None
    assert [cut.states[i].x for i in (0, 60)] == [0, 60]
    assert cut.transitions(60) == [("", [(1.0, 60)])]
    assert cut.labels["top"].tolist() == [False] * 60 + [True]
    assert not cut.labels["deadlock"].any()
    if type == "mdp":
        assert cut.transitions(50) == [("up", [(0.5, 50), (0.5, 51)]), ("down", [(0.25, 49), (0.75, 50)])]
    rewards = cut.rewards["r"].state
    assert rewards is not None
    assert rewards[55:].tolist() == [0, 3, 3, 3, 3, 3]


def test_real_deadlocks_are_still_told() -> None:
    program = galton.parse(LINE.format(type="dtmc", down="false"))
    cut = program.build(terminal=ends(program, "P=? [ F x=1000 ]"))
    assert cut.labels["deadlock"].tolist() == [False] * 50 + [True]


def test_a_condition_without_a_value_somewhere_ends_nothing() -> None:
    program = galton.parse(COIN)
    assert program.build(terminal=ends(program, "P=? [ F mod(6, x)=0 ]")).n_states == program.build().n_states


def test_an_initial_state_that_ends_the_question() -> None:
    program = galton.parse(COIN)
    cut = program.build(terminal=ends(program, "P=? [ F x=0 ]"))
    assert (cut.n_states, cut.n_transitions) == (1, 1)


QUESTIONS = {
    COIN: ["P=? [ F heads & x=2 ]", "P=? [ x<2 U heads ]", "P=? [ F<=3 heads ]", "R=? [ F heads ]", "P=? [ G x<3 ]"],
    GAMBLE: [
        "Pmax=? [ F s=3 ]",
        "Pmin=? [ F s=2 ]",
        'R{"cost"}min=? [ F s>1 ]',
        "Tmax=? [ F s>1 ]",
        "Pmax=? [ F<=2 s=2 ]",
    ],
    MACHINE: ["P=? [ F<=1 state=1 ]", "T=? [ F state=1 ]", 'R{"power"}=? [ F state=1 ]'],
    SPLIT: ['filter(min, P=? [ F x=1 ], "init")'],
}


@pytest.mark.parametrize(("text", "prop"), [(text, prop) for text, props in QUESTIONS.items() for prop in props])
def test_the_answers_are_the_same(text: str, prop: str) -> None:
    program = galton.parse(text)
    context, (question,) = resolve(parse_properties(Source("p", prop)), program, {})
    end = terminal([(context, question)])
    assert end is not None
    whole, cut = (check(context, program.build(terminal=where), question).value for where in (None, end))
    assert cut == pytest.approx(whole, rel=2e-6)


@pytest.mark.parametrize(
    ("model", "constants"),
    [("brp", {"N": 4, "MAX": 2}), ("crowds", {"CrowdSize": 3, "TotalRuns": 3}), ("consensus", {"N": 2, "K": 2})],
)
def test_models_of_the_gallery(model: str, constants: dict[str, int]) -> None:
    folder = Path(__file__).parents[2] / "models"
    program = galton.load(folder / f"{model}.prism", **constants)
    file = parse_properties(Source(model, (folder / f"{model}.props").read_text()))
    context, questions = resolve(file, program, {})
    whole, cuts = program.build(), 0
    for question in questions:
        end = terminal([(context, question)])
        if end is None:
            continue
        cut = program.build(terminal=end)
        cut.validate()
        cuts += cut.n_states < whole.n_states
        assert check(context, cut, question).value == pytest.approx(check(context, whole, question).value, rel=2e-6)
    assert cuts or model == "consensus"


def test_a_curve_spells_a_long_label_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand points of a label with a long text took ten seconds before the model was built."""
    spelt = []
    monkeypatch.setattr(exploration, "closed", lambda formula, context: spelt.append(formula) or Literal(True))
    program = galton.parse(LINE.format(type="dtmc", down="false"))
    file = parse_properties(Source("p", 'const int T; const int far; label "far" = x>=far; P=? [ F<=T "far" ]'))
    points = [resolve(file, program, {"T": steps, "far": far}) for far in (60, 70) for steps in range(50)]
    terminal((context, question) for context, questions in points for question in questions)
    assert len(spelt) == 2
