"""``HOA: {"file"}`` in properties: automata of other tools."""

from __future__ import annotations

from pathlib import Path

import pytest

import galton
from galton.automata import parse_ltl, to_hoa, translate
from galton.lang import Source, parse_properties
from galton.lang.rendering import render

CHAIN = """
dtmc module m s:[0..3];
  [] s=0 -> 1/3 : (s'=0) + 1/3 : (s'=1) + 1/3 : (s'=3);
  [] s=1 -> (s'=2);
  [] s=2 -> 1/2 : (s'=1) + 1/2 : (s'=2);
  [] s=3 -> true;
endmodule
label "one" = s=1;
label "three" = s=3;
"""
UNDECIDED = """HOA: v1
States: 2
Start: 0
AP: 1 "one"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[t] 0
[0] 1
State: 1 {0}
[0] 1
--END--
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, formula: str, name: str = "a.hoa") -> None:
    (folder / name).write_text(to_hoa(translate(*parse_ltl(formula))))


@pytest.mark.parametrize(
    ("formula", "prop", "path"),
    [
        ("G F one", 'P=? [ HOA: {"a.hoa"} ]', 'G F "one"'),
        ("G F p0", 'P=? [ HOA:{"a.hoa", "p0" <- s=2} ]', "G F s=2"),
        ("G F p0", 'P=? [ HOA: { "a.hoa", "p0" -> "one" | s=2 } ]', 'G F ("one" | s=2)'),
        ("(F p0) & (G F q)", 'P=? [ HOA:{"a.hoa", "p0" <- s=0, "q" <- "three"} ]', '(F s=0) & (G F "three")'),
        ('G F "s>1 & s<3"', 'P=? [ HOA:{"a.hoa"} ]', "G F s=2"),
        ("F (one & X X one)", 'T=? [ HOA:{"a.hoa"} ]', 'F ("one" & (X X "one"))'),
        ("X three", 'P>=1/3 [ HOA:{"a.hoa"} ]', '(X "three") & (F true)'),
    ],
)
def test_an_automaton_is_as_good_as_its_formula(formula: str, prop: str, path: str, folder: Path) -> None:
    write(folder, formula)
    program = galton.parse(CHAIN)
    asked = prop[: prop.index("[")]
    ours, theirs = galton.check(program, prop), galton.check(program, f"{asked} [ {path} ]")
    assert (ours.value, ours.lower, ours.upper) == (theirs.value, theirs.lower, theirs.upper)
    assert galton.check(program.build(), prop).value == theirs.value


def test_an_automaton_is_about_all_paths_or_some_too(folder: Path) -> None:
    write(folder, "F G two")
    program = galton.parse(CHAIN)
    assert galton.check(program, 'E [ HOA:{"a.hoa", "two" <- s=2} ]').value is True
    assert galton.check(program, 'A [ HOA:{"a.hoa", "two" <- s=2} ]').value is False


@pytest.mark.parametrize(
    ("prop", "message"),
    [
        ('P=? [ HOA:{"b.hoa"} ]', "b.hoa cannot be read: No such file"),
        ('P=? [ HOA:{"a.hoa", "two" <- s=2} ]', 'the automaton has no proposition "two"'),
        ('P=? [ HOA:{"a.hoa", "p" <- s} ]', 'the proposition "p"'),
        ('P=? [ HOA:{"a.hoa"} ]', 'unknown label "p"'),
        ('P=? [ HOA:{"a.hoa", "p" <- s=1, "p" <- s=2} ]', "given twice"),
        ('P=? [ F HOA:{"a.hoa", "p" <- s=1} ]', "has to be all that stands between the brackets"),
        ('P=? [ (HOA:{"a.hoa", "p" <- s=1}) & (F s=1) ]', "has to be all that stands between the brackets"),
        ('P=? [ HOA:{"a.hoa" "p" <- s=1} ]', "expected '}'"),
        ("P=? [ HOA:{a.hoa} ]", "the name of a file in double quotes"),
        ('T=? [ HOA:{"a.hoa", "p" <- s=1} ]', "not co-safe"),
        ('P=? [ HOA:{"none.hoa"} ]', "the automaton is not deterministic"),
    ],
)
def test_what_cannot_be_meant_is_told(prop: str, message: str, folder: Path) -> None:
    write(folder, "G F p")
    (folder / "none.hoa").write_text(UNDECIDED)
    with pytest.raises(galton.GaltonError, match="error") as caught:
        galton.check(galton.parse(CHAIN), prop)
    assert message in str(caught.value)


def test_a_proposition_that_is_no_expression_is_told(folder: Path) -> None:
    write(folder, 'G F "s >"')
    with pytest.raises(galton.GaltonError, match="neither a label nor an expression"):
        galton.check(galton.parse(CHAIN), 'P=? [ HOA:{"a.hoa"} ]')


def test_the_text_of_an_automaton_can_be_read_again() -> None:
    text = 'P=? [ HOA: {"a.hoa", "p" <- s = 1 | "one", "q r" <- true} ]'
    (prop,) = parse_properties(Source("property", text)).properties
    assert render(prop.expression) == text
