"""Command lines of PRISM and Storm, taken as they are."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import DIE, MODELS, ROOT, WALK, galton, write
from typer.main import get_command

from galton.cli import app
from galton.cli.habits import prism, storm
from galton.cli.habits.line import Call
from galton.cli.habits.prism import PRISM
from galton.cli.habits.prism import translated as from_prism
from galton.cli.habits.storm import STORM
from galton.cli.habits.storm import translated as from_storm
from galton.cli.habits.switches import Switch, Table, markdown
from galton.lang.source import GaltonError

Translation = Callable[[list[str]], tuple[list[Call], list[str]]]
CONSENSUS = MODELS / "consensus.prism"

OF_PRISM = {
    "m.pm": ["galton info m.pm"],
    "m.pm p.pctl": ["galton check m.pm --props p.pctl"],
    "m.pm p.pctl -const N=5,K=2 -prop 2": ["galton check m.pm --const N=5,K=2 --props p.pctl --name 2"],
    "m.pm -const N=1:2:5 p.pctl -prop send,2": [
        "galton check m.pm --const N=1:2:5 --props p.pctl --name send --name 2"
    ],
    "-pf 'P=? [ F x=1 ]' m.pm": ["galton check m.pm --prop 'P=? [ F x=1 ]'"],
    "m.pm p.pctl -exportresults r.csv:csv": ["galton check m.pm --props p.pctl --prism-results r.csv:csv"],
    "m.pm p.pctl -exportresults stdout": ["galton check m.pm --props p.pctl"],
    "m.pm -exporttrans m.tra -exportstates m.sta": ["galton build m.pm --export m.tra,m.sta"],
    "m.pm -exportmodel out/m.tra,sta,lab p.pctl": [
        "galton build m.pm --export out/m.tra,out/m.sta,out/m.lab",
        "galton check m.pm --props p.pctl",
    ],
    "-importtrans m.tra -importlabels m.lab -ctmc p.csl": ["galton check m.tra --props p.csl"],
    "-importmodel m.tra,sta -mdp -pf 'Pmax=? [ F x=1 ]'": ["galton check m.tra --prop 'Pmax=? [ F x=1 ]'"],
    "m.pm p.pctl -ex -gs -epsilon 1e-8 -absolute -maxiters 5000": [
        "galton check m.pm --props p.pctl --eps 1e-8 --absolute --method gauss-seidel --max-iterations 5000"
    ],
    "m.pm p.pctl -ii -topological": ["galton check m.pm --props p.pctl --method topological:interval"],
    "m.pm p.pctl --exact": ["galton check m.pm --props p.pctl --exact"],
    "m.pm p.pctl -exportstrat s.json": ["galton check m.pm --props p.pctl --strategy s.json"],
    "m.pm -ss": ["galton steady-state m.pm"],
    "m.pm -tr 0:1:10 -exporttr t.csv": ["galton transient m.pm --time 0:1:10 --csv t.csv"],
    "m.pm -simpath 20 path.csv": ["galton simulate m.pm --steps 20 --csv path.csv"],
    "m.pm p.pctl -sim -simwidth 0.05 -simconf 0.01": [
        "galton check m.pm --props p.pctl --sim --confidence 0.99 --width 0.1"
    ],
    "m.pm p.pctl -sim -simmethod sprt -simconf 1e-7": [
        "galton check m.pm --props p.pctl --sim --confidence 0.9999999 --width 0.1"
    ],
    "m.pm p.pctl -sim -simmethod apmc -simapprox 0.02": [
        "galton check m.pm --props p.pctl --sim --confidence 0.99 --width 0.04"
    ],
    "m.pm p.pctl -sim": ["galton check m.pm --props p.pctl --sim --paths 1000 --confidence 0.99"],
    "m.pm p.pctl -sim -simsamples 500 -simconf 0.05 -simpathlen 99": [
        "galton check m.pm --props p.pctl --sim --paths 500 --confidence 0.95 --path-length 99"
    ],
    "m.pm p.pctl -nofixdl": ["galton check m.pm --no-fix-deadlocks --props p.pctl"],
    "m.sm -transientmethod fau -pf 'P=? [ F<=2 x=1 ]'": [
        "galton check m.sm --prop 'P=? [ F<=2 x=1 ]' --method adaptive-uniformisation"
    ],
}
OF_STORM = {
    "--prism m.pm --prop 'P=? [ F x=1 ]'": ["galton check m.pm --prop 'P=? [ F x=1 ]'"],
    "--jani m.jani --janiproperty": ["galton check m.jani --props m.jani"],
    "--prism m.pm --constants N=5 -prop 'R=? [ F x=1 ]' --engine dd --sound --precision 1e-9": [
        "galton check m.pm --const N=5 --prop 'R=? [ F x=1 ]' --eps 1e-9"
    ],
    "--io:prism m.pm --io:prop 'P=? [ F x=1 ]' --general:precision 0.1": [
        "galton check m.pm --prop 'P=? [ F x=1 ]' --eps 0.1"
    ],
    "--explicit m.tra m.lab --prop 'P=? [ F x=1 ]'": ["galton check m.tra --prop 'P=? [ F x=1 ]'"],
    "--explicit-drn m.drn --prop 'P=? [ F x=1 ]' --exact": ["galton check m.drn --prop 'P=? [ F x=1 ]' --exact"],
    "--prism m.pm --exportdot m.dot --buildfull": ["galton build m.pm --export m.dot"],
    "--prism m.pm --prop 'Pmax=? [ F x=1 ]' --exportscheduler s.json --minmax:method ovi": [
        "galton check m.pm --prop 'Pmax=? [ F x=1 ]' --strategy s.json --method optimistic"
    ],
    "--prism m.pm --steadystate": ["galton steady-state m.pm"],
}


@pytest.mark.parametrize(
    ("translation", "line", "calls"),
    [
        *((from_prism, line, calls) for line, calls in OF_PRISM.items()),
        *((from_storm, line, calls) for line, calls in OF_STORM.items()),
    ],
)
def test_translation(translation: Translation, line: str, calls: list[str]) -> None:
    assert [str(call) for call in translation(shlex.split(line))[0]] == calls


@pytest.mark.parametrize(
    ("translation", "line", "words"),
    [
        (from_prism, "m.pm -lp", "-politer"),
        (from_prism, "m.pm -consts N=5", "did you mean '-const'"),
        (from_prism, "m.pm -const", "needs VALUES"),
        (from_prism, "m.pm p.pctl q.pctl", "'q.pctl'"),
        (from_prism, "m.pm p.pctl -exportresults r.txt:martix", "did you mean 'matrix'"),
        (from_prism, "-pf true", "names no model"),
        (from_prism, "m.pm -pf true -prop 1", "from a file"),
        (from_prism, "m.pm -simpath deadlock p.txt", "'deadlock'"),
        (from_prism, "m.pm -pf true -sim -simwidth 0.1 -simsamples 9", "not both"),
        (from_prism, "m.pm -pf true -sim -simwidth wide", "needs a number"),
        (from_prism, "m.pm -pf true -sim -simmethod sprt -simsamples 9", "as many paths as it needs"),
        (from_prism, "m.pm -pf true -exportstrat stdout", "name one in place"),
        (from_storm, "m.pm", "'m.pm' belongs to none"),
        (from_storm, "--prism m.pm --minmax:method lp", "pi"),
        (from_storm, "--prisms m.pm", "did you mean '--prism'"),
        (from_storm, "--prism m.pm --timeout 60", "timeout 60"),
    ],
)
def test_what_has_no_counterpart_is_told(translation: Translation, line: str, words: str) -> None:
    with pytest.raises(GaltonError) as told:
        translation(shlex.split(line))
    assert words in told.value.args[0]


def test_what_needs_nothing_is_told() -> None:
    _, notes = from_prism(["m.pm", "-hybrid", "-nopre"])
    assert [note.partition(":")[0] for note in notes] == ["-hybrid", "-nopre"]


# What is run.


def test_prism_answers_and_says_what_it_ran() -> None:
    outcome = galton("prism", DIE, MODELS / "die.props", "-const", "k=6", "-prop", "2", "-s")
    assert outcome.code == 0
    assert "= 0.1666666" in " ".join(outcome.out.split())
    assert outcome.out.count("=?") == 1
    assert outcome.err.splitlines()[-1] == f"galton check {DIE} --const k=6 --props {MODELS / 'die.props'} --name 2"
    assert outcome.err.startswith("note: -s: ")


def test_storm_answers_and_says_what_it_ran() -> None:
    outcome = galton("storm", "--prism", DIE, "--prop", "P>=0.2 [ F d=6 ]")
    assert outcome.code == 1  # as that of the call: the property is false
    assert "false" in outcome.out
    assert outcome.err.splitlines()[-1] == f"galton check {DIE} --prop 'P>=0.2 [ F d=6 ]'"


def test_a_method_is_left_away_where_it_does_nothing() -> None:
    """PRISM uses a method where there are equations, and takes it for the rest; Galton's own option refuses that."""
    outcome = galton("prism", DIE, "-pf", "P=? [ F<=3 d=6 ]", "-jacobi")
    assert outcome.code == 0
    assert "0.125" in outcome.out
    assert "--method jacobi does nothing" in outcome.err


def test_a_method_for_chains_is_left_away_for_an_mdp() -> None:
    outcome = galton("prism", CONSENSUS, "-const", "N=2,K=2", "-pf", 'Pmax=? [ F "all_heads" ]', "-jacobi")
    assert outcome.code == 0
    assert "note: jacobi solves the equations of chains" in outcome.err


def test_all_files_of_a_model(tmp_path: Path) -> None:
    model = write(tmp_path, WALK)
    outcome = galton("prism", model, "-const", "N=3", "-exportmodel", tmp_path / "m.all")
    assert outcome.code == 0
    written = {path.name for path in tmp_path.iterdir()} - {model.name}
    assert written == {"m.tra", "m.sta", "m.lab", "m1.srew", "m2.srew", "m1.trew", "m2.trew"}


def test_a_type_has_to_be_that_of_the_program() -> None:
    assert galton("prism", DIE, "-dtmc", "-pf", "true").code == 0
    outcome = galton("prism", DIE, "-ctmc", "-pf", "true")
    assert (outcome.code, "is a dtmc" in outcome.err) == (2, True)


def test_explicit_files(tmp_path: Path) -> None:
    assert galton("prism", DIE, "-exportmodel", tmp_path / "d.tra,sta,lab,srew").code == 0
    words = ("-importtrans", tmp_path / "d.tra", "-importlabels", tmp_path / "d.lab", "-pf", 'P=? [ F "done" & d=6 ]')
    found = galton("prism", *words, "-importstates", tmp_path / "d.sta", "-dtmc")
    assert (found.code, "0.1666666" in found.out) == (0, True)
    assert "is a dtmc, and not a ctmc" in galton("prism", *words, "-ctmc").err
    other = galton("prism", "-importtrans", tmp_path / "d.tra", "-importlabels", tmp_path / "other.lab", "-pf", "true")
    assert (other.code, "belong together by their names" in other.err) == (2, True)


def test_fairness_of_a_chain_is_nothing() -> None:
    outcome = galton("prism", DIE, "-pf", "P=? [ F d=6 ]", "-fair")
    assert (outcome.code, "this model has none" in outcome.err) == (0, True)


def test_what_this_version_does_not_have_is_told_before_anything_runs(tmp_path: Path) -> None:
    from galton.cli.habits.running import run

    calls = [Call(("build", str(DIE), "--export", str(tmp_path / "d.tra"))), Call(("check", str(DIE), "--no-such"))]
    with pytest.raises(GaltonError, match="does not have"):
        run(calls, [])
    assert not (tmp_path / "d.tra").exists()


def test_help_lists_every_switch() -> None:
    for tool, table in (("prism", PRISM), ("storm", STORM)):
        outcome = galton(tool, "-help")
        assert all(name in outcome.out for switch in rows(table) for name in switch.spellings)


# The same habits in Galton's own commands.


@pytest.mark.parametrize(
    "words",
    [
        (MODELS / "die.props", "-const", "k=6", "-prop", "2"),
        (MODELS / "die.props", "-const", "k=6", "-prop", "six"),
        ("--props", MODELS / "die.props", "-c", "k=6", "--name", "2"),
        ("-pf", "P=? [ F d=6 ]"),
        ("-pctl", "P=? [ F d=6 ]"),
        ("-prop", "P=? [ F d=6 ]"),
    ],
)
def test_plain_check_understands(words: tuple[object, ...]) -> None:
    outcome = galton("check", DIE, *words, "-exact")
    assert (outcome.code, outcome.err) == (0, "")
    assert "=  1/6" in outcome.out


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("-exportresults", "r.txt"), "--prism-results FILE"),
        (("-exporttrans", "m.tra"), "galton build --export FILE"),
        (("-hybrid",), "one engine"),
        (("-lp",), "no counterpart"),
        (("-sim",), "galton check --sim"),
    ],
)
def test_plain_check_answers(words: tuple[str, ...], answer: str) -> None:
    outcome = galton("check", DIE, "-pf", "P=? [ F d=6 ]", *words)
    assert outcome.code == 2
    assert answer in outcome.err


def test_short_options_with_their_values_are_left_alone() -> None:
    assert galton("check", DIE, "-t2", "-pP=? [ F d=6 ]").code == 0


def test_a_number_of_a_property_that_is_not_there() -> None:
    outcome = galton("check", DIE, MODELS / "die.props", "-const", "k=6", "-prop", "7")
    assert (outcome.code, outcome.err) == (2, "error: no property is called '7'; the file has 6\n")


def test_two_files_of_properties() -> None:
    outcome = galton("check", DIE, MODELS / "die.props", "--props", MODELS / "die.props")
    assert (outcome.code, "here are two" in outcome.err) == (2, True)


# The tables.


def rows(table: Table) -> list[Switch]:
    return [switch for switches in table.values() for switch in switches]


@pytest.mark.parametrize("table", [PRISM, STORM], ids=["PRISM", "Storm"])
def test_every_row_says_something_once(table: Table) -> None:
    names = [name for switch in rows(table) for name in switch.spellings]
    assert len(names) == len(set(names))
    for switch in rows(table):
        assert switch.ours if switch.outcome == "done" else switch.note, switch.names


@pytest.mark.parametrize("table", [PRISM, STORM], ids=["PRISM", "Storm"])
def test_what_a_row_names_exists(table: Table) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    options = {text for command in commands.values() for option in command.params for text in option.opts}
    options |= {text for command in commands.values() for option in command.params for text in option.secondary_opts}
    for switch in rows(table):
        named = {word for word in switch.ours.split() if word.startswith("--")}
        assert named <= options, switch.names


def test_the_page_has_the_tables() -> None:
    page = (ROOT / "docs/coming-from.md").read_text()
    for tool, table in (("PRISM", PRISM), ("Storm", STORM)):
        assert "\n".join(markdown(table, tool)).strip() in page, f"python tests/cli/test_habits.py prints them: {tool}"


def test_commands_have_examples_that_are_translated() -> None:
    for command, translation in ((prism, from_prism), (storm, from_storm)):
        lines = [line.strip() for line in (command.__doc__ or "").splitlines() if line.strip().startswith("galton ")]
        assert lines
        for line in lines:
            translation(shlex.split(line)[2:])


if __name__ == "__main__":
    for tool, table in (("PRISM", PRISM), ("Storm", STORM)):
        print("\n".join(markdown(table, tool)))
