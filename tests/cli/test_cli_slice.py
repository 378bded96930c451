"""Slices on the command line: what was left out is told, and can be kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from command_line import MODELS, galton

BRP = (MODELS / "brp.prism", "--const", "N=4,MAX=2")
GAVE_UP = 'P=? [ F "gave_up" ]'
CLOCK = """ctmc
module works  up : bool init true;  [] up -> 0.1 : (up'=false);  endmodule
module watch  t : [0..9] init 0;  [] t<9 -> (t'=t+1);  endmodule
label "down" = !up;
"""


def answers(*arguments: object) -> list[dict[str, Any]]:
    outcome = galton("check", *arguments, "--json")
    return [json.loads(line) for line in outcome.out.splitlines()]


def test_what_was_left_out_is_told() -> None:
    outcome = galton("check", *BRP, "-p", GAVE_UP, "--explain")
    first, *_ = outcome.out.splitlines()
    assert " states without report, told, any, " in first
    assert any(line.split()[0] == "slice" and "without report" in line for line in outcome.out.splitlines())
    whole = galton("check", *BRP, "-p", 'filter(count, "gave_up")', "--explain")
    assert "nothing left out: a filter 'count' is about all states" in whole.out


def test_everything_on_request() -> None:
    for option in ("--no-slice", "--full"):
        assert "without report" not in galton("check", *BRP, "-p", GAVE_UP, option).out


def test_json_names_variables_and_commands(tmp_path: Path) -> None:
    model = tmp_path / "clock.prism"
    model.write_text(CLOCK)
    mine, theirs = (answers(model, "-p", 'P=? [ F<=2 "down" ]', *more)[0] for more in ((), ("--no-slice",)))
    assert mine["left_out"] == {"variables": ["t"], "commands": 1, "dead_values": []}
    assert "left_out" not in theirs
    assert (mine["states"], theirs["states"]) == (2, 20)
    assert not mine["full"]
    assert abs(mine["value"] - theirs["value"]) <= 1e-9


def test_deadlocks_and_steps_need_all_commands(tmp_path: Path) -> None:
    """What cannot move without the clock can move with it: no warning, and no error where one is wanted."""
    model = tmp_path / "clock.prism"
    model.write_text(CLOCK.replace("[] t<9 -> (t'=t+1);", "[] true -> (t'=mod(t+1, 10));"))
    asked = ("-p", 'P=? [ F<=2 "down" ]')
    assert "no transition" not in galton("check", model, *asked).err
    assert galton("check", model, *asked, "--no-fix-deadlocks").code == 0
    steps = answers(model, "-p", 'P=? [ X "down" ]')[0]
    assert steps["left_out"] == {"variables": ["t"], "commands": 0, "dead_values": []}
    assert abs(steps["value"] - 0.1 / 1.1) <= 1e-9


def test_a_question_that_needs_much_less_gets_a_model_of_its_own(tmp_path: Path) -> None:
    model = tmp_path / "tallies.prism"
    model.write_text(
        "dtmc module m  s : [0..9] init 0;  a : [0..99] init 0;  b : bool init false;\n"
        "[] s<9 -> 0.5 : (s'=s+1) & (a'=mod(a+7, 100)) + 0.5 : (b'=!b) & (a'=mod(a+1, 100)); endmodule"
    )
    first, second, third = answers(model, "-p", "P=? [ F<=9 s=9 ]", "-p", "P=? [ F<=9 a=42 ]", "-p", "P=? [ F<=9 b ]")
    assert first["left_out"]["variables"] == third["left_out"]["variables"] == ["a"], "these two share a model"
    assert second["left_out"]["variables"] == ["b"]
    assert first["states"] < second["states"]


def test_info_leaves_out_what_nobody_reads(tmp_path: Path) -> None:
    model = tmp_path / "tally.prism"
    model.write_text(
        "dtmc module m  s : [0..3];  a : [0..9];  [] true -> (s'=mod(s+1, 4)) & (a'=mod(a+1, 10)); endmodule"
        ' label "back" = s=0;'
    )
    plain, sliced = (json.loads(galton("info", model, "--json", *more).out) for more in ((), ("--slice",)))
    assert (plain["states"], sliced["states"]) == (20, 4)
    assert sliced["left_out"] == {"variables": ["a"], "commands": 0, "dead_values": []}
    assert "without a" in galton("info", model, "--slice").out
