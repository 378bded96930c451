"""``galton check``: answers, and what the exit code says about them: 0 done, 1 a property failed, 2 bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from command_line import DIE, MODELS, WALK, galton, run, write

from galton import LanguageError, check

PROPERTIES = MODELS / "die.props"
FIELDS = {
    *("model", "index", "name", "property", "constants", "value", "lower", "upper", "states", "choices", "transitions"),
    *("full", "device", "placement", "method", "iterations", "build_s", "check_s", "total_s"),
}
UNSUPPORTED = 'R{"tosses"}=? [ F<=3 d=6 ]'
FORK = """
mdp
const double p;
module fork
  s : [0..3];
  [a] s=0 -> p : (s'=1) + 1-p : (s'=3);
  [a] s=0 -> (s'=2);
  [] s=0 -> (s'=0);
endmodule
"""


def answers(*arguments: object) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the objects of ``check --json``, one to a line."""
    outcome = galton("check", *arguments, "--json")
    return outcome.code, [json.loads(line) for line in outcome.out.splitlines()]


def values(text: str) -> dict[str, str]:
    """What is said on standard output: the properties, and their values as text."""
    return dict(line.split("  =  ") for line in text.splitlines() if "  =  " in line)


def test_a_six() -> None:
    outcome = run("check", "models/die.prism", "--prop", "P=? [ F d=6 ]")
    assert (outcome.code, outcome.err) == (0, "")
    model, answer, how = outcome.out.splitlines()
    assert re.fullmatch(r"dtmc: 13 states, 20 transitions, not explored past the targets, built in 0\.\d+ s", model)
    assert answer.startswith("P=? [ F d=6 ]  =  0.16666")
    numbers = re.fullmatch(r"  in \[(.*), (.*)\], for the initial state \(node=0, d=0\); .*, 0\.\d+ s", how)
    assert numbers
    assert float(numbers[1]) <= 1 / 6 <= float(numbers[2])


@pytest.mark.parametrize("face", range(1, 7))
def test_every_face(face: int) -> None:
    code, (answer,) = answers(DIE, "--prop", f"P=? [ F d={face} ]")
    assert code == 0
    assert answer["value"] == pytest.approx(1 / 6, rel=2e-6)
    assert answer["lower"] <= 1 / 6 <= answer["upper"]


@pytest.mark.parametrize(
    ("bound", "answer", "code"),
    [(">0.1", "true", 0), (">=0.17", "false", 1), ("<0.17", "true", 0), ("<=0.1", "false", 1), (">=1/7", "true", 0)],
)
def test_bounds(bound: str, answer: str, code: int) -> None:
    outcome = galton("check", DIE, "--prop", f"P{bound} [ F d=6 ]")
    assert (outcome.code, outcome.err) == (code, "")
    assert values(outcome.out) == {f"P{bound} [ F d=6 ]": answer}


def test_one_false_property_among_true_ones() -> None:
    code, found = answers(DIE, "-p", "P>0 [ F d=6 ]", "-p", "P>0.5 [ F d=6 ]", "-p", "P<0.5 [ F d=6 ]")
    assert (code, [answer["value"] for answer in found]) == (1, [True, False, True])


def test_false_in_a_process_of_its_own() -> None:
    assert run("check", "models/die.prism", "--prop", "P>0.5 [ F d=6 ]").code == 1


def test_json() -> None:
    code, (answer,) = answers(DIE, "--prop", "P=? [ F d=6 ]")
    assert (code, set(answer)) == (0, FIELDS)
    assert answer["model"] == str(DIE)
    assert (answer["index"], answer["name"], answer["property"]) == (0, None, "P=? [ F d=6 ]")
    assert (answer["states"], answer["choices"], answer["transitions"], answer["constants"]) == (13, 13, 20, {})
    assert answer["lower"] <= answer["value"] <= answer["upper"]
    assert answer["upper"] - answer["lower"] <= 2e-6 * answer["upper"]
    assert answer["device"] == "cpu"
    assert answer["total_s"] >= answer["build_s"] + answer["check_s"] > 0


def test_json_of_other_values() -> None:
    props = ['R{"tosses"}=? [ F d=1 ]', "P>=1 [ F node=7 ]", "filter(count, d>0)", "filter(range, P=? [ F d=1 ])"]
    code, found = answers(DIE, *(word for prop in props for word in ("-p", prop)))
    assert code == 0
    assert [answer["value"] for answer in found] == ["Infinity", True, 6, [0, 1]]
    assert [answer["lower"] for answer in found] == ["Infinity", None, 6, 0]
    assert isinstance(found[2]["value"], int)


def test_properties_by_name() -> None:
    code, found = answers(DIE, "--props", PROPERTIES, "--name", "six", "--name", "rests")
    assert code == 0
    assert [(answer["index"], answer["name"]) for answer in found] == [(1, "six"), (3, "rests")]
    code, found = answers(DIE, "--props", PROPERTIES, "--name", "six", "--prop", "P=? [ F d=1 ]")
    assert [(answer["index"], answer["name"]) for answer in found] == [(1, "six"), (6, None)]


def test_a_typed_property_may_use_what_the_file_declares() -> None:
    prop = '1 - "six" - P=? [ F d=k & "high" ]'
    code, found = answers(DIE, "--props", PROPERTIES, "--name", "six", "-c", "k=5", "--prop", prop)
    assert (code, found[1]["value"]) == (0, pytest.approx(2 / 3))


def test_the_whole_model() -> None:
    model, prop = MODELS / "crowds.prism", "P=? [ F seen0>1 ]"
    arguments = [model, "-c", "CrowdSize=3,TotalRuns=3", "-p", prop]
    (_, (cut,)), (_, (full,)) = answers(*arguments), answers(*arguments, "--full")
    assert cut["states"] < full["states"]
    assert cut["value"] == pytest.approx(full["value"], rel=2e-6)
    _, found = answers(*arguments, "-p", "S=? [ seen0>1 ]", "--no-slice")
    assert found[0]["states"] == full["states"]


COUNTER = "dtmc module m x : [0..3]; [] true -> 0.5 : (x'=x+1) + 0.5 : (x'=x); endmodule"
OUT_OF_RANGE = "error: the update gives x the value 4, outside its range [0..3], in state (x=3)"


def test_a_mistake_past_the_targets_is_found_where_all_is_explored(tmp_path: Path) -> None:
    """``check`` answers where ``info`` refuses, because it does not go there; it says so, and --full does as info."""
    path, prop = write(tmp_path, COUNTER), ["-p", "P=? [ F x=3 ]"]
    info = galton("info", path)
    assert OUT_OF_RANGE in info.err
    cut = galton("check", path, *prop)
    assert (cut.code, cut.err, values(cut.out)) == (0, "", {"P=? [ F x=3 ]": "1"})
    assert "not explored past the targets" in cut.out
    assert galton("check", path, *prop, "--full") == info
    assert answers(path, *prop)[1][0]["full"] is False


@pytest.mark.parametrize("prop", ["P=? [ F x=7 ]", "P=? [ X x=3 ]", "P=? [ F<=2 x=7 ]", "S=? [ x=3 ]"])
def test_a_mistake_before_the_targets_is_told_by_check_and_info_alike(tmp_path: Path, prop: str) -> None:
    path = write(tmp_path, COUNTER)
    assert galton("check", path, "-p", prop) == galton("info", path)


def test_explanations() -> None:
    outcome = galton("check", DIE, "--prop", "P=? [ F d=6 ]", "--explain")
    assert outcome.code == 0
    assert re.search(
        r"^    build +0\.\d+ s  13 states, 20 transitions: states 0\.\d+ s, rows ", outcome.out, re.MULTILINE
    )
    _, (answer,) = answers(DIE, "--prop", "P=? [ F P>=1 [ F d=6 ] ]", "--explain")
    assert {step["formula"] for step in answer["plan"]} == {"P>=1 [ F d = 6 ]", "P=? [ F P>=1 [ F d = 6 ] ]"}
    assert all(step.keys() == {"formula", "step", "detail", "iterations", "seconds"} for step in answer["plan"])


def test_an_empty_target() -> None:
    outcome = galton("check", DIE, "--prop", "P=? [ F d=9 ]")
    assert (outcome.code, values(outcome.out)) == (0, {"P=? [ F d=9 ]": "0"})
    assert outcome.err == "warning: no state satisfies d = 9, so it is never reached\n"


@pytest.mark.parametrize("more", [["--json"], ["-c", "k=1:2"], []])
def test_undecided_is_not_all_true(more: list[str]) -> None:
    for prop, code in ("P>=1/6 [ F d=6 ]", 1), ("P>1/7 [ F d=6 ]", 0), ("P>1/5 [ F d=6 ]", 1):
        outcome = galton("check", DIE, "-p", f"const int k{'' if '-c' in more else '=1'}; {prop}", *more)
        assert outcome.code == code
        assert ("undecided" in outcome.out or '"value": null' in outcome.out) == ("1/6" in prop)


def test_a_threshold_that_paths_do_not_decide_has_exit_code_1() -> None:
    outcome = galton("check", DIE, "-p", "P>=1/6 [ F d=6 ]", "--sim", "--paths", 100)
    assert "undecided" in outcome.out
    assert outcome.code == 1


def test_a_list_of_states() -> None:
    outcome = galton("check", DIE, "--prop", "filter(printall, node, d>4)")
    assert outcome.out.splitlines()[-2:] == ["  state (node=7, d=5)  7", "  state (node=7, d=6)  7"]


def test_one_state_is_no_plural(tmp_path: Path) -> None:
    path = write(tmp_path, "dtmc module m x : [0..1]; [] true -> true; endmodule")
    assert galton("check", path, "--prop", "S=? [ x=0 ]").out.startswith("dtmc: 1 state, 1 transition, ")


def test_the_best_states_are_no_verdict() -> None:
    outcome = galton("check", DIE, "--prop", "filter(argmax, P=? [ F d=6 ])")
    assert outcome.code == 0
    _, answer, how, state = outcome.out.splitlines()
    assert (answer, state) == ("filter(argmax, P=? [ F d=6 ])  =  the states below", "  state (node=7, d=6)  1")
    assert "for the initial state" not in how
    assert answers(DIE, "--prop", "filter(argmax, P=? [ F d=6 ])")[0] == 0


def test_a_file_and_more_properties() -> None:
    code, found = answers(DIE, "--props", PROPERTIES, "-c", "k=3", "--prop", "P=? [ F d=1 ]")
    assert [answer["index"] for answer in found] == list(range(7))
    assert [answer["name"] for answer in found[:3]] == ["face", "six", "upper_half"]
    assert found[0]["constants"] == {"k": 3}
    sixth = pytest.approx(1 / 6)
    assert [answer["value"] for answer in found[:4]] == [sixth, sixth, pytest.approx(0.5), True]
    assert (code, found[-1]["value"]) == (0, sixth)


def test_constants_and_labels_of_a_property() -> None:
    code, (answer,) = answers(DIE, "--prop", 'const int j; label "big" = d>=j; P=? [ F "big" ]', "-c", "j=5")
    assert (code, answer["constants"]) == (0, {"j": 5})
    assert answer["value"] == pytest.approx(1 / 3, rel=2e-6)


def test_constants_of_the_model_in_a_property(tmp_path: Path) -> None:
    code, (answer,) = answers(write(tmp_path, WALK), "-c", "N=4", "--prop", "Pmax=? [ F x=N ]")
    assert (code, answer["value"]) == (0, pytest.approx(1))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads_says_the_same(threads: int) -> None:
    model, question = MODELS / "consensus.prism", 'Pmin=? [ F "finished" & "all_heads" ]'
    code, (answer,) = answers(model, "-c", "N=2,K=4", "-t", threads, "--prop", question)
    _, (alone,) = answers(model, "-c", "N=2,K=4", "-t", 1, "--prop", question)
    assert code == 0
    assert answer["value"] == pytest.approx(alone["value"], rel=2e-6)
    assert (answer["states"], answer["transitions"]) == (alone["states"], alone["transitions"])


def test_initial_states_that_differ(tmp_path: Path) -> None:
    text = "dtmc module m x : [0..2]; [] x=0 -> 0.25:(x'=1)+0.75:(x'=2); [] x>0 -> true; endmodule init x<2 endinit"
    outcome = galton("check", write(tmp_path, text), "--prop", "P=? [ F x=1 ]")
    assert outcome.code == 0
    assert values(outcome.out) == {"P=? [ F x=1 ]": "0.25 to 1, over 2 initial states"}
    assert "over 2 initial states" in outcome.out
    _, (answer,) = answers(tmp_path / "model.prism", "--prop", "P=? [ F x=1 ]")
    assert answer["value"] == pytest.approx([0.25, 1])


# Properties that cannot be checked: the others are, and the code is 1.


def refused(*properties: str) -> str:
    """What is said about the second property of three; the first and the last get their answer."""
    texts = ["P=? [ F d=6 ]", *properties, "P=? [ F d=5 ]"]
    outcome = galton("check", DIE, *(word for text in texts for word in ("--prop", text)))
    assert outcome.code == 1
    assert {text: float(value) for text, value in values(outcome.out).items()} == {
        text: pytest.approx(1 / 6, rel=1e-5) for text in (texts[0], texts[-1])
    }
    return outcome.err


# A slip in the text of a property: everything ends before a model is built, and the code is 2.


def slip(*arguments: object) -> str:
    """What is said about properties that cannot be read, or use names that are not there."""
    with patch("galton.explore.build", side_effect=AssertionError("a model was built")):
        outcome = galton("check", DIE, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    return outcome.err


def typed(*properties: str) -> list[str]:
    return [word for text in properties for word in ("--prop", text)]


def test_unknown_label() -> None:
    assert slip(*typed('P=? [ F "don" ]')).splitlines() == [
        '--prop:1:9: error: unknown label "don"',
        '    1 | P=? [ F "don" ]',
        "      |         ^^^^^",
        "  hint: did you mean 'done'?",
    ]


def test_unfinished_property() -> None:
    assert slip(*typed("P=? [ F d=6 ")).splitlines() == [
        "--prop:1:12: error: expected ']', found the end of the text",
        "    1 | P=? [ F d=6 ",
        "      |            ^",
        "  hint: to close the '[' at line 1, column 5",
    ]


def test_unknown_name() -> None:
    assert "--prop:1:9: error: unknown name 'dd'" in slip(*typed("P=? [ F dd=6 ]"))


def test_property_of_the_wrong_type() -> None:
    said = "--prop:1:11: error: an operand of '>' must be a number, but this is a bool"
    assert said in slip(*typed("P=? [ F d>true ]"))


def test_a_slip_among_others_costs_no_exploration() -> None:
    """It used to be told after the model was built and the others were answered, with the code 1."""
    said = slip(*typed("P=? [ F d=6 ]", 'P=? [ F "don" ]', "P=? [ F dd=1 ]", "P=? [ F d=5 ]"))
    assert [line for line in said.splitlines() if "error" in line] == [
        '--prop:1:9: error: unknown label "don"',
        "--prop:1:9: error: unknown name 'dd'",
    ]


def test_a_slip_is_not_repeated_for_every_row_of_an_experiment() -> None:
    said = slip("-c", "k=1:6", *typed("const int k; P=? [ F d=k ]", "P=? [ F dd=6 ]"))
    assert said.count("error") == 1


def test_a_slip_in_a_property_that_is_not_asked_costs_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, '"six": P=? [ F d=6 ];\n"bad": P=? [ F dd=6 ];\n', "my.props")
    code, (answer,) = answers(DIE, "--props", file, "--name", "six")
    assert (code, answer["value"]) == (0, pytest.approx(1 / 6))


@pytest.mark.parametrize(
    ("prop", "said"),
    [
        ("P=? [ F lost ]", "an MDP has no single value for P=?: it depends on the strategy"),
        ('R{"step"}max=? [ F lost ]', 'unknown reward structure "step"'),
        ("R{3}max=? [ F lost ]", "the model has 2 reward structures, and this is number 3"),
        ("P>=1.4 [ F lost ]", "a probability lies between 0 and 1, and this bound is 1.4"),
        ("Pmax=? [ F<=-1 lost ]", "a bound cannot be negative, and this is -1"),
        ("S=? [ lost ]", "an MDP has no single value for S=?: it depends on the strategy"),
        ("Rmax=? [ F G lost ]", "this is not co-safe: no finite path makes it true"),
        ("Pmax=? [ G (lost => (F<=-1 lost)) ]", "a bound cannot be negative, and this is -1"),
    ],
)
def test_what_makes_no_sense_for_a_model_costs_no_exploration(tmp_path: Path, prop: str, said: str) -> None:
    """The type of a model, its constants and the names of its rewards are known before it is built."""
    walk = write(tmp_path, WALK)
    with patch("galton.explore.build", side_effect=AssertionError("a model was built")):
        outcome = galton("check", walk, "-c", "N=2:9", "-p", prop)
        code, found = answers(walk, "-c", "N=2", "-p", prop)
        with pytest.raises(LanguageError, match=re.escape(said)):
            check(walk, prop, N=2)
    assert (outcome.code, outcome.err.count(f"error: {said}")) == (2, 1)  # once for all eight rows
    assert (code, found[0]["error"]["kind"]) == (2, "unsupported" if "supported" in said else "input")


def test_what_makes_no_sense_is_told_before_the_others_are_answered(tmp_path: Path) -> None:
    code, found = answers(write(tmp_path, WALK), "-c", "N=2", "-p", "P=? [ F lost ]", "-p", "Pmax=? [ F lost ]")
    assert (code, "error" in found[0], found[1]["value"]) == (1, True, pytest.approx(1))


def test_a_strategy_makes_a_chain_of_an_mdp_before_properties_are_looked_at(tmp_path: Path) -> None:
    walk, best = write(tmp_path, WALK), tmp_path / "best.json"
    assert galton("check", walk, "-c", "N=2", "-p", "Pmin=? [ F lost ]", "--strategy", best).code == 0
    code, (answer,) = answers(walk, "-c", "N=2", "-p", "P=? [ F lost ]", "--apply", best)
    assert (code, answer["value"]) == (0, 0)


def test_what_is_not_supported_yet() -> None:
    assert refused(UNSUPPORTED).startswith("--prop:1:17: error: rewards until a bounded formula are not supported\n")


def test_pareto_sets_in_json_in_text_and_in_tables(tmp_path: Path) -> None:
    fork = write(tmp_path, FORK)
    asked = "-p", "multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ])"
    code, (answer,) = answers(fork, "-c", "p=0.5", *asked)
    assert (code, answer["value"], answer["lower"]) == (0, [[0.0, 1.0], [0.5, 0.0]], None)
    assert "=  (0, 1), (0.5, 0)\n" in galton("check", fork, "-c", "p=0.5", *asked).out
    table = tmp_path / "table.csv"
    also = "-p", "P>=1 [ true ]"  # beside other properties, a set is one cell
    assert galton("check", fork, "-c", "p=0.25:0.25:0.5", *asked, *also, "--csv", table).code == 0
    assert table.read_text().splitlines()[1:] == [
        '0.25,"(0, 1), (0.25, 0)",,,,,true,,,,',
        '0.5,"(0, 1), (0.5, 0)",,,,,true,,,,',
    ]


def test_several_objectives_of_a_chain_are_refused() -> None:
    said = refused("multi(P>=0.1 [ F d=6 ], P>=0.1 [ F d=5 ])")
    assert "multi(…) is about the strategies of an MDP, and a chain has none" in said


def test_errors_in_json() -> None:
    code, found = answers(DIE, *typed('R{"tossed"}=? [ F d=6 ]', "P=? [ F d=6 ]", UNSUPPORTED))
    assert code == 1
    assert [answer["error"]["kind"] if "error" in answer else None for answer in found] == [
        "input",
        None,
        "unsupported",
    ]
    assert 'unknown reward structure "tossed"' in found[0]["error"]["message"]


def test_slips_in_json() -> None:
    code, (answer,) = answers(DIE, *typed("P=? [ F d=6 ]", 'P=? [ F "don" ]'))
    assert (code, answer["index"], answer["error"]["kind"]) == (2, 1, "input")
    assert 'unknown label "don"' in answer["error"]["message"]


def test_line_of_a_property_file(tmp_path: Path) -> None:
    file = write(tmp_path, '// a comment\n\n"six": P=? [ F d=6 ];\n"bad": P=? [ F (d=6 ];\n', "my.props")
    said = slip("--props", file)
    assert said.startswith(f"{file}:4:")
    assert "^" in said


def test_missing_constant_of_a_property_file() -> None:
    """Only the property that needs it fails."""
    outcome = galton("check", DIE, "--props", PROPERTIES)
    assert outcome.code == 1
    assert "six: P=? [ F d=6 ]" in values(outcome.out)
    assert "needs a value for the constant 'k'" in outcome.err


def test_nested_path_formulas() -> None:
    assert "error: this is not co-safe" in refused('T=? [ F G "done" ]')


def test_property_that_means_nothing_in_some_state() -> None:
    assert "error: 'mod' needs a positive divisor" in refused("P=? [ F mod(d, 0)=1 ]")


# Nothing can be checked: the code is 2.


@pytest.mark.parametrize("arguments", [[], ["--prop", ""], ["--prop", 'label "a" = true;']])
def test_nothing_to_check(arguments: list[str]) -> None:
    outcome = galton("check", DIE, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: nothing to check; give a property with --prop or a file with --props\n"


def test_missing_property_file() -> None:
    outcome = galton("check", DIE, "--props", "no.props")
    assert (outcome.code, outcome.out, outcome.err) == (2, "", "error: no.props: No such file or directory\n")


def test_constant_of_the_wrong_type() -> None:
    outcome = galton("check", DIE, "--props", PROPERTIES, "-c", "k=true")
    assert (outcome.code, outcome.out) == (2, "")
    assert "the constant 'k' is of type int, and this is of type bool" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--name", "sixx", "--props", PROPERTIES], "no property is called 'sixx'; did you mean 'six'?"),
        (["-p", "true", "--eps", "0"], "--eps must lie between 0 and 1, and this is 0"),
        (["-p", "true", "--eps", "nan"], "--eps must lie between 0 and 1, and this is nan"),
        (
            ["-p", "P=? [ F d=6 ]", "--eps", "1e-30"],
            "eps is 1e-30, relative to the value, and doubles have too few digits for that; 1e-13 is the smallest eps",
        ),
        (
            ["-p", "true", "--device", "tpu"],
            "there is no device 'tpu'; give auto, cpu, cuda, numbers of devices as in cuda:0,1, or mpi",
        ),
        (["-p", "true", "--plot", "a.png"], "a plot needs a constant with a range, such as --const N=2:2:20"),
        (
            ["-p", "true", "-p", "false", "--strategy", "a.json"],
            "a strategy belongs to one property: give one with --prop or --name, and no range",
        ),
    ],
)
def test_options_that_make_no_sense(arguments: list[object], said: str) -> None:
    outcome = galton("check", DIE, *arguments)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"error: {said}\n")


def test_a_model_that_cannot_be_built(tmp_path: Path) -> None:
    path = write(tmp_path, "dtmc module m x : [0..1]; [] true -> 2/(1-x) * 0.5 : (x'=1); endmodule")
    outcome = galton("check", path, "-p", "P=? [ F x=2 ]")
    assert (outcome.code, outcome.out) == (2, "")
    code, (answer, other) = answers(path, "-p", "P=? [ F x=2 ]", "-p", "P=? [ X x=1 ]")
    assert code == 2
    assert answer["error"]["kind"] == other["error"]["kind"] == "model"
    assert "the probability is" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("model", "constants", "arguments", "said"),
    [
        ("tandem", "c=2", ['P=? [ F{"customers"}<=4 first=c ]'], 'the reward structure "customers" of a CTMC grows'),
        ("tandem", "c=2", ['R{"customers"}=? [ C{"customers"}<=4 ]'], "rewards of a CTMC within budgets are not"),
        (
            "consensus",
            "N=2,K=2",
            ["Pmax=? [ F heads=2 ]", "--method", "jacobi"],
            "jacobi solves the equations of chains",
        ),
    ],
)
def test_what_is_refused_is_told_before_anything_is_built(
    model: str, constants: str, arguments: list[str], said: str
) -> None:
    outcome = galton("check", MODELS / f"{model}.prism", "-c", constants, "-p", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
