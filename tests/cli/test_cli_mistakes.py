"""What people get wrong: the message names the place, nothing is on standard output, the exit code is 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import DIE, MODELS, WALK, galton, run, write

HERMAN = MODELS / "herman.prism"
COUNTER = """
mdp
const int N = 1000000000;
module counters
  x : [0..N]; y : [0..N]; z : [0..N];
  [] x<N -> (x'=x+1);
  [] y<N -> (y'=y+1);
  [] z<N -> (z'=z+1);
endmodule
"""


def complaint(*arguments: object) -> str:
    """What is said about a command that is refused."""
    outcome = galton(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Traceback" not in outcome.err
    return outcome.err


# The model.


def test_syntax(tmp_path: Path) -> None:
    path = write(tmp_path, "dtmc\nmodule m\n  x : [0..1];\n  [] x=0 -> (x'=1;\nendmodule\n")
    lines = complaint("info", path).splitlines()
    assert lines[0].startswith(f"{path}:4:18: error: expected ")
    assert lines[1:3] == ["    4 |   [] x=0 -> (x'=1;", "      |                  ^"]


def test_syntax_in_a_process_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, "dtmc\nmodule m\n  x : [0..1;\nendmodule\n")
    for command in (["info"], ["check", "--prop", "P=? [ F x=1 ]"], ["build", "--export", f"{tmp_path}/a.tra"]):
        outcome = run(*command, path)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"{path}:3:12: error: ")
        assert "\n      |            ^\n" in outcome.err


def test_unknown_variable(tmp_path: Path) -> None:
    path = write(tmp_path, "dtmc\nmodule m\n  count : [0..1];\n  [] coumt=0 -> true;\nendmodule\n")
    assert complaint("info", path).splitlines() == [
        f"{path}:4:6: error: unknown name 'coumt'",
        "    4 |   [] coumt=0 -> true;",
        "      |      ^^^^^",
        "  hint: did you mean 'count'?",
    ]


def test_a_state_where_the_model_means_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "dtmc\nmodule m\n  x : [0..3];\n  [] true -> 0.5:(x'=x+1) + 0.5:(x'=x);\nendmodule\n")
    said = complaint("info", path)
    assert said.startswith(f"{path}:4:19: error: the update gives x the value 4, outside its range [0..3]")
    assert "in state (x=3)" in said


def test_unsupported_type(tmp_path: Path) -> None:
    path = write(tmp_path, "pta\nmodule m\n  x : clock;\nendmodule\n")
    assert complaint("info", path).startswith(f"{path}:1:1: error: ")


def test_characters_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "model.prism"
    path.write_bytes(b"dtmc\nmodule m\n  x\xff : bool;\nendmodule\n")
    assert complaint("info", path).startswith(f"{path}:3:4: error: ")


@pytest.mark.parametrize("command", [["info"], ["check", "--prop", "P=? [ F true ]"], ["build", "--export", "a.tra"]])
def test_missing_file(command: list[str]) -> None:
    assert complaint(*command, "no.prism") == "error: no.prism: No such file or directory\n"


def test_folder_instead_of_a_file() -> None:
    assert complaint("info", MODELS) == f"error: {MODELS}: Is a directory\n"


# Constants.


def test_missing_constant() -> None:
    said = complaint("info", HERMAN, "-c", "")
    assert said == "error: constants without a value: N; give them with --const\n"


def test_missing_constant_in_a_range() -> None:
    said = complaint("info", MODELS / "tandem.prism")
    assert "needs a value for the constant 'c'" in said
    assert "--const c=" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("N", "--const:1:1: error: expected name=value, found 'N'"),
        ("N=", "--const:1:1: error: expected name=value, found 'N='"),
        ("N=3,N=4", "--const:1:5: error: the constant 'N' is given twice"),
        ("N=3.5", "constant N:1:1: error: the constant 'N' is of type int, and this is of type double"),
        ("N=two", "constant N:1:1: error: unknown name 'two'"),
        ("N=1:3", "constant N:1:1: error: the constant 'N' needs one value here, not a range"),
        ("coin=0.1,N=3", "error: the constant 'coin' has a value already, so it cannot be given another"),
    ],
)
def test_bad_constants(text: str, said: str) -> None:
    assert said in complaint("info", HERMAN, "--const", text).splitlines()[0]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("Crowdsize", "; did you mean 'CrowdSize'?"),
        ("TotalRun", "; did you mean 'TotalRuns'?"),
        ("q", "; all of its constants have a value"),
    ],
)
def test_constant_that_the_model_has_not(given: str, hint: str) -> None:
    """A warning where nothing is asked: a property file may have it."""
    model = MODELS / "crowds.prism"
    outcome = galton("info", model, "-c", f"CrowdSize=5,TotalRuns=3,{given}=1", "--json")
    assert outcome.code == 0
    assert outcome.err == f"warning: {model} has no constant '{given}'{hint}\n"


def test_warnings_in_the_order_of_the_constants() -> None:
    outcome = galton("info", DIE, "-c", ",".join(f"{name}=1" for name in "zaybxc"))
    assert [line.split("'")[1] for line in outcome.err.splitlines()] == list("zaybxc")


def test_constant_that_the_property_file_has_not() -> None:
    constants = "S0=9,I0=1,R0=0,ki=0.1,kr=0.2,t1=1,t22=2,t2=2"
    outcome = galton("check", MODELS / "sir.prism", "-c", constants, "--props", MODELS / "sir.props")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: {MODELS}/sir.prism has no constant 't22'; did you mean 't2'?\n"


def test_constant_that_only_a_property_has_that_is_not_asked() -> None:
    constants = ("-c", "S0=9,I0=1,R0=0,ki=0.1,kr=0.2,t1=1,t2=2")
    outcome = galton("check", MODELS / "sir.prism", *constants, "--props", MODELS / "sir.props", "--name", "1")
    assert (outcome.code, outcome.err) == (0, "")


def test_constants_without_a_value_are_those_that_are_not_given() -> None:
    tandem, prop = MODELS / "tandem.prism", ("-p", "P=? [ F<=2 first=c ]")
    for given, hint in ("c=5,T=2", "all of its constants have a value"), ("T=2", "constants without a value: c"):
        outcome = galton("check", tandem, "-c", given, *prop)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err == f"error: {tandem} has no constant 'T'; {hint}\n"


@pytest.mark.parametrize(
    ("eaten", "meant", "hint"),
    [
        ("P=? [ F done ]", 'P=? [ F "done" ]', 'it is a label, which stands in double quotes: "done"'),
        ("P=? [ F done & high ]", 'P=? [ F "done" & "high" ]', 'it is a label, which stands in double quotes: "done"'),
        (
            "R{tosses}=? [ F done ]",
            'R{"tosses"}=? [ F "done" ]',
            'a reward structure stands in double quotes: R{"tosses"}',
        ),
    ],
)
def test_quotes_that_the_shell_has_taken(eaten: str, meant: str, hint: str) -> None:
    outcome = galton("check", DIE, "-p", eaten)
    assert outcome.code == 2
    last = outcome.err.splitlines()[-1]
    assert last == f"  hint: {hint}; the shell leaves them where the property stands in single ones: '{meant}'"


def test_a_label_without_quotes_in_a_file(tmp_path: Path) -> None:
    outcome = galton("check", DIE, "--props", write(tmp_path, "P=? [ F done ]", "die.props"))
    assert outcome.err.endswith('  hint: it is a label, which stands in double quotes: "done"\n')


@pytest.mark.parametrize("command", ["check", "synth"])
def test_a_file_of_properties_in_place_of_a_property(command: str) -> None:
    param = ["--param", "N=1:2"] if command == "synth" else []
    said = complaint(command, DIE, "-p", "models/die.props", *param)
    assert said == (
        "error: --prop takes a property, and 'models/die.props' is the name of a file: give it with --props "
        "models/die.props\n"
    )


@pytest.mark.parametrize("command", ["check", "info", "convert", "synth"])
def test_a_file_of_properties_in_place_of_a_model(command: str) -> None:
    more = {"check": ["-p", "true"], "convert": ["die.umb"], "synth": ["-p", "P>0 [ F x=1 ]", "--param", "N=1:2"]}
    said = complaint(command, MODELS / "die.props", *more.get(command, []))
    assert (
        said == f"error: {MODELS}/die.props is a file of properties; the model comes first, and then the properties\n"
    )


def test_paths_where_the_long_run_asks_about_states() -> None:
    said = complaint("check", DIE, "-p", 'S=? [ F "done" ]', "-p", 'F "done"').splitlines()
    assert said[0].endswith("S asks how often a condition on states holds in the long run, and 'F' is about paths")
    assert said[3] == '  hint: write the condition alone, as in S=? [ x=1 ] or S=? [ "done" ]'
    assert said[4].endswith("'F' may only stand between brackets, as in P=? [ … ]")


# Limits. The other one is there so that a test that fails does not take the machine with it.


def test_too_many_states(tmp_path: Path) -> None:
    said = complaint("info", write(tmp_path, COUNTER), "--max-states", "1e5", "--memory", "500")
    assert said == "error: more than 100,000 states; raise the limit with --max-states, or make the model smaller\n"


def test_too_much_memory(tmp_path: Path) -> None:
    said = complaint("info", write(tmp_path, COUNTER), "--memory", "2", "--max-states", "3e6")
    assert said.startswith("error: the states need more than the 2 MB allowed; raise the limit with --memory")


@pytest.mark.parametrize("limits", [["--max-states", "13"], ["--max-states", "inf"], ["--memory", "inf"]])
def test_limits_that_are_not_reached(limits: list[str]) -> None:
    assert galton("info", DIE, *limits).code == 0


def test_one_state_too_many() -> None:
    assert "more than 12 states" in complaint("info", DIE, "--max-states", "12")


@pytest.mark.parametrize(
    "option", ["--max-states=0", "--max-states=nan", "--memory=-1", "--memory=nan", "--threads=0", "--threads=many"]
)
def test_limits_that_make_no_sense(option: str) -> None:
    assert option.split("=")[0] in complaint("info", DIE, option)


# Deadlocks.


def test_deadlocks_are_mended_with_a_warning(tmp_path: Path) -> None:
    command = "[] x<2002 & mod(x,2)=0 -> 0.5:(x'=x+1) + 0.5:(x'=x+2);"  # all odd numbers are dead ends, and 2002
    outcome = galton("info", write(tmp_path, f"dtmc module m x : [0..2002]; {command} endmodule"))
    said = "warning: 1,002 states have no transition and got a self-loop, the first of them (x=1)\n"
    assert (outcome.code, outcome.err) == (0, said)
    assert "deadlocks    1,002" in outcome.out.splitlines()


def test_deadlocks_can_be_refused(tmp_path: Path) -> None:
    said = complaint("info", write(tmp_path, WALK), "-c", "N=3", "--no-fix-deadlocks")
    assert "the first is (x=3, lost=" in said
    assert "--no-fix-deadlocks" in said
    assert galton("info", DIE, "--no-fix-deadlocks").code == 0


# The command line itself.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["inform", DIE], "No such command 'inform'"),
        (["info"], "Missing argument 'MODEL'"),
        (["info", DIE, "--jsn"], "--json"),
        (["build", DIE], "Missing option '--export'"),
        (["check", DIE, "--props"], "--props"),
    ],
)
def test_usage(arguments: list[object], said: str) -> None:
    assert said in complaint(*arguments)
