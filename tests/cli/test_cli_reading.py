"""What people read on the terminal: names, numbers in few digits, the number behind a verdict, states by values."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from command_line import DIE, MODELS, WALK, galton, write

import galton as library
from galton.checking.result import concise

HERMAN = MODELS / "herman.prism"
CONSENSUS = [MODELS / "consensus.prism", "-c", "N=2,K=2"]


def answers(text: str) -> list[str]:
    """The lines with a value."""
    return [line for line in text.splitlines() if "  =  " in line]


def test_names_of_properties_are_printed() -> None:
    outcome = galton("check", DIE, "--props", MODELS / "die.props", "-c", "k=2", "--name", "six", "--name", "tosses")
    assert answers(outcome.out) == [
        "six: P=? [ F d=6 ]  =  0.16666667",
        'tosses: R{"tosses"}=? [ F "done" ]  =  3.6666667',
    ]


@pytest.mark.parametrize(
    ("value", "lower", "upper", "text"),
    [
        (0.49999999871, 0.4999999, 0.5000001, "0.5"),
        (0.5, 0.5, 0.5, "0.5"),
        (1 / 6, 0.16666665967, 0.16666667242, "0.16666667"),
        (1 / 3, 1 / 3, 1 / 3, "0.333333333333"),
        (17.4545454, 17.454545, 17.454546, "17.454545"),
        (1e-300, 0.99e-300, 1.01e-300, "1e-300"),
        (math.inf, math.inf, math.inf, "infinity"),
        (3, 3, 3, "3"),
        (0.9999999, 0.9999998, 1.0, "0.9999999"),  # a probability
        (0.9999999, 0.9999990, 1.0000008, "1"),  # no probability
        (1.0, 1.0, 1.0, "1"),
        (1e-9, 0.0, 2e-9, "1e-09"),
    ],
)
def test_few_digits_that_lie_within_the_bounds(value: float, lower: float, upper: float, text: str) -> None:
    assert concise(value, lower, upper) == text
    if math.isfinite(value) and lower < upper:
        assert lower <= float(text) <= upper


def test_exactly_a_half_is_a_half() -> None:
    """Bounds around 0.5 whose middle is 0.499999998 used to be shown as that."""
    text = "dtmc module m s : [0..3]; [] s=0 -> 0.9:true + 0.05:(s'=1) + 0.05:(s'=2); [] s>0 -> true; endmodule"
    found = library.check(library.parse(text), "P=? [ F s=1 ]")
    assert found.lower is not None
    assert found.text == "0.5"


def test_several_initial_states_are_said() -> None:
    (found,) = answers(galton("check", HERMAN, "-c", "N=11", "-p", 'R=? [ F "stable" ]').out)
    assert re.fullmatch(r'R=\? \[ F "stable" \]  =  0 to 17\.454545\d*, over 2,048 initial states', found)
    alike = answers(galton("check", HERMAN, "-c", "N=3", "-p", 'P=? [ F "stable" ]').out)
    assert alike == ['P=? [ F "stable" ]  =  1, over 8 initial states']


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([DIE, "-p", "P>0.5 [ F d=6 ]"], "because the probability is 0.16666667, in [0.1666666"),
        ([DIE, "-p", 'R{"tosses"}<3 [ F "done" ]'], "because the expected reward is 3.6666667, in [3.666666"),
        ([DIE, "-p", "P>=1 [ F<=3 d=6 ]"], None),  # graph analysis needs no number
        ([DIE, "-p", "S<=0.1 [ d=6 ]"], "because the long-run probability is 0.1666666"),
        ([*CONSENSUS, "-p", 'P>=0.5 [ F "finished" & "all_heads" ]'], "because the least probability is 0.3828125"),
        ([*CONSENSUS, "-p", 'P<=0.5 [ F "finished" & "all_heads" ]'], "because the greatest probability is 0.55555"),
        (
            [HERMAN, "-c", "N=3", "-p", 'R<1 [ F "stable" ]'],
            "because the expected reward is 0 to 1.33333",
        ),
    ],
)
def test_the_number_behind_a_verdict(words: list[object], line: str | None) -> None:
    outcome = galton("check", *words)
    assert outcome.code == 1
    said = [part.strip() for part in outcome.out.splitlines() if part.startswith("  because ")]
    assert [one[: len(line or "")] for one in said] == ([] if line is None else [line])


def test_the_number_behind_a_verdict_in_json_and_in_python() -> None:
    record = json.loads(galton("check", DIE, "-p", "P>0.5 [ F d=6 ]", "--json").out)
    assert (record["value"], record["lower"], record["upper"]) == (False, None, None)
    assert record["behind"]["lower"] <= 1 / 6 <= record["behind"]["upper"]
    found = library.check(DIE, "P>0.5 [ F d=6 ]").behind
    assert found is not None
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= 1 / 6 <= found.upper
    assert found.formula == "P=? [ F d = 6 ]"


@pytest.mark.parametrize("prop", ["0/0", "P=? [ F d=7 ] / P=? [ F d=8 ]", "1 + 2 * (0/0)", "max(1, P=? [ F d=7 ]/0)"])
def test_no_number_is_an_error(prop: str) -> None:
    outcome = galton("check", DIE, "-p", prop, "--json")
    error = json.loads(outcome.out)["error"]
    assert outcome.code == 1
    assert "this is 0/0, which is no number, in state (node=0)" in error["message"]


def test_no_number_points_at_the_quotient() -> None:
    outcome = galton("check", DIE, "-p", "1 + P=? [ F d=7 ]/0")
    assert outcome.err.splitlines()[-2:] == ["    1 | 1 + P=? [ F d=7 ]/0", "      |     ^^^^^^^^^^^^^^^"]


def test_warnings_name_a_state(tmp_path: Path) -> None:
    outcome = galton("info", write(tmp_path, WALK), "-c", "N=3")
    assert outcome.err == "warning: the state (x=3, lost=false) has no transition and got a self-loop\n"


def test_a_model_without_a_type_is_said_to_be_an_mdp(tmp_path: Path) -> None:
    path = write(tmp_path, "module m x : [0..1]; [] x=0 -> (x'=1); [] x=1 -> true; endmodule")
    said = f"note: {path} does not say what it is, and is read as an MDP; begin it with dtmc, ctmc or mdp\n"
    assert galton("info", path).err == said
    assert galton("check", path, "-p", "Pmin=? [ F x=1 ]").err == said
    assert galton("check", path, "-p", "Pmin=? [ F x=1 ]", "-q").err == ""


def test_quiet_and_verbose() -> None:
    asked = ["check", DIE, "-p", "P=? [ F d=7 ]"]
    quiet, usual, verbose = (galton(*asked, *option) for option in (["-q"], [], ["-v"]))
    assert (quiet.out, quiet.err) == ("P=? [ F d=7 ]  =  0\n", "")
    assert len(usual.out.splitlines()) == 3
    assert usual.err == "warning: no state satisfies d = 7, so it is never reached\n"
    assert "graph analysis" in verbose.out.splitlines()[-1]
    assert " s in all, " in verbose.err
    assert galton(*asked, "--explain").out.count("\n") == verbose.out.count("\n")


def test_quiet_ends_with_the_command() -> None:
    galton("info", DIE, "-q")
    assert "warning" in galton("check", DIE, "-p", "P=? [ F d=7 ]").err


@pytest.mark.parametrize("words", [["-h"], ["check", "-h"], ["bench", "-h"], ["bench", "list", "-h"]])
def test_short_help(words: list[str]) -> None:
    assert galton(*words).out == galton(*words[:-1], "--help").out
    assert galton(*words).code == 0


def test_short_version() -> None:
    assert galton("-V").out == galton("--version").out != ""


@pytest.mark.parametrize(
    "more", [[], ["--sim", "--paths", "9"], ["-c", "N=2:3"], ["-c", "N=2:3", "--workers", "processes:2"]]
)
def test_a_reward_structure_that_nobody_named_is_told_once(more: list[str], tmp_path: Path) -> None:
    text = "dtmc const int N; module m x : [0..9]; [] x<N -> (x'=x+1); [] x>=N -> true; endmodule "
    path = write(tmp_path, text + 'rewards "steps" x<N : 1; endrewards rewards "sum" x<N : x; endrewards')
    given = more if "-c" in more else [*more, "-c", "N=3"]
    several = galton("check", path, "-p", "R=? [ F x=N ]", "-p", "R=? [ C<=2 ]", *given)
    assert several.code == 0
    assert several.err == 'note: R without a name is about the first of 2 reward structures, R{"steps"}\n'
    assert galton("check", path, "-p", 'R{"sum"}=? [ F x=N ]', "-p", "R{1}=? [ C<=2 ]", *given).err == ""
