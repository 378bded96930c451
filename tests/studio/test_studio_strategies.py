"""Paths under strategies: of one goal and of several, with memory, and past what was asked."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from studio_client import Page

import galton
from galton.simulation.program_paths import ProgramPaths

MODELS = Path(__file__).resolve().parents[2] / "models"
# Two goals that exclude each other unless a strategy remembers which one it has seen.
WAYS = """mdp
module m
  s : [0..2] init 0;
  [left]  s=0 -> 0.9 : (s'=1) + 0.1 : (s'=0);
  [right] s=0 -> 0.9 : (s'=2) + 0.1 : (s'=0);
  [back]  s>0 -> (s'=0);
endmodule
"""
LEFT, RIGHT = "F<=1 s=1", "F<=1 s=2"


@pytest.fixture
def ways(page: Page, project: Path) -> str:
    """The model, as a file of the project."""
    (project / "ways.prism").write_text(WAYS)
    return "ways.prism"


def taken(view: dict[str, Any]) -> dict[str, float]:
    """What the strategy does where the path is; empty where it says nothing."""
    return {choice["action"]: choice["chosen"] for choice in view["choices"] if choice["chosen"]}


def test_a_strategy_of_two_goals_remembers_which_it_has_reached(page: Page, ways: str) -> None:
    view = page.ask("sim_start", model=ways, path="both", strategy={"text": "multi(P>=1 [ F s=1 ], P>=1 [ F s=2 ])"})
    seen, memories = set(), {view["strategy"]["memory"]}
    for _ in range(60):
        state = view["rows"][-1]["values"][0]
        seen.add(state)
        memories.add(view["strategy"]["memory"])
        if state == 0 and seen & {1, 2} and seen != {0, 1, 2}:
            assert taken(view) == ({"right": 1.0} if 1 in seen else {"left": 1.0})
        view = page.ask("sim_play", path="both", steps=1)
    assert seen == {0, 1, 2}
    assert len(memories) > 2
    assert len(view["strategy"]["all"]) == 1


def test_one_of_several_strategies_is_drawn_or_chosen(page: Page, ways: str) -> None:
    """Half of the runs go left and half go right first: no single strategy without chance does both."""
    asked = {"model": ways, "path": "mixed", "strategy": {"text": f"multi(P>=0.45 [ {LEFT} ], P>=0.45 [ {RIGHT} ])"}}
    first = page.ask("sim_start", **asked, number=1)
    assert len(first["strategy"]["all"]) == 2
    assert sum(one["share"] for one in first["strategy"]["all"]) == pytest.approx(1)
    assert all(0.4 < one["share"] < 0.6 for one in first["strategy"]["all"])
    second = page.ask("sim_start", **asked, number=2)
    assert {**taken(first), **taken(second)} == {"left": 1.0, "right": 1.0}
    assert "0.9" in first["strategy"]["all"][0]["words"]
    drawn = Counter(page.ask("sim_start", **asked, seed=seed)["strategy"]["number"] for seed in range(40))
    assert 8 < drawn[1] < 32
    assert page.ask("sim_start", **asked, seed=7) == page.ask("sim_start", **asked, seed=7)
    assert "counted from 1 to 2" in page.refused("sim_start", **asked, number=3)["text"]


def test_each_corner_of_a_pareto_set_has_its_strategy(page: Page, ways: str) -> None:
    text = f"multi(Pmax=? [ {LEFT} ], Pmax=? [ {RIGHT} ])"
    corners = page.ask("pareto", model=ways, property={"text": text})["points"]
    assert corners == [pytest.approx([0, 0.9]), pytest.approx([0.9, 0])]
    asked = {"model": ways, "path": "corner", "strategy": {"text": text}}
    assert taken(page.ask("sim_start", **asked)) == {"right": 1.0}
    view = page.ask("sim_start", **asked, number=2)
    assert taken(view) == {"left": 1.0}
    assert [one["share"] for one in view["strategy"]["all"]] == [None, None]


def test_a_path_that_leaves_its_strategy_is_told_so_and_finds_back(page: Page, ways: str) -> None:
    text = f"multi(Pmax=? [ {LEFT} ], Pmax=? [ {RIGHT} ])"
    view = page.ask("sim_start", model=ways, path="off", strategy={"text": text}, number=2)
    assert taken(view) == {"left": 1.0}
    view = page.ask("sim_step", path="off", choice=1, successor=0)
    assert view["rows"][0]["values"] == [2]
    assert taken(view) == {}
    assert taken(page.ask("sim_back", path="off", steps=1)) == {"left": 1.0}


@pytest.mark.parametrize("text", ["Pmax=? [ (F s=1) & (F s=2) ]", "Pmax=? [ F s=2 ]", "Pmax=? [ F<=3 s=2 ]"])
def test_a_path_goes_on_past_its_goal_as_the_model_does(page: Page, ways: str, text: str) -> None:
    """Answers need no states past the goal, and a path does."""
    page.ask("sim_start", model=ways, path="past", strategy={"text": text}, seed=2)
    rows = page.ask("sim_play", path="past", steps=30)["rows"]
    goal = next(row["step"] for row in rows if row["values"] == [2])
    assert rows[goal]["action"] == "back"
    assert all(row["action"] for row in rows)


def test_a_path_under_a_strategy_begins_where_somebody_wants(page: Page, ways: str) -> None:
    view = page.ask("sim_start", model=ways, path="here", strategy={"text": "Pmax=? [ F s=2 ]"}, state={"s": 1})
    assert view["rows"][0]["values"] == [1]
    assert taken(page.ask("sim_step", path="here", choice=0, successor=0)) == {"right": 1.0}
    for text in ("Pmax=? [ F<=3 s=2 ]", "Pmax=? [ (F s=1) & (F s=2) ]"):
        told = page.refused("sim_start", model=ways, path="here", strategy={"text": text}, state={"s": 1})
        assert "initial state" in told["text"]


def test_questions_without_a_strategy_are_refused_in_words(page: Page, ways: str) -> None:
    assert "strategy" in page.refused("sim_start", model=ways, path="n", strategy={"text": "E [ F s=2 ]"})["text"]
    told = page.refused("sim_start", model="die.prism", path="n", strategy={"text": "P=? [ F d=6 ]"})
    assert "strategy" in told["text"]


@pytest.mark.parametrize("text", ["Pmax=? [ F<=3 s=2 ]", f"multi(Pmax=? [ {LEFT} ], Pmax=? [ {RIGHT} ])"])
def test_copied_paths_under_a_strategy_go_the_same_way(page: Page, ways: str, project: Path, text: str) -> None:
    page.ask("sim_start", model=ways, path="copied", strategy={"text": text}, seed=5)
    played = page.ask("sim_play", path="copied", steps=8)
    script = subprocess.run(
        [sys.executable, "-c", played["copied"]["python"]], cwd=project, capture_output=True, text=True, check=True
    )
    assert script.stdout.splitlines()[1:] == [f"(s={row['values'][0]})" for row in played["rows"]]
    for command in played["copied"]["command"].splitlines():
        words = command.replace("galton ", f"{sys.executable} -m galton ", 1)
        found = subprocess.run(words, shell=True, cwd=project, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr
    assert len(found.stdout.splitlines()) == 10  # a head, and nine states


@pytest.mark.parametrize("name", ["consensus", "csma", "leader_async"])
def test_the_ways_of_a_program_are_the_choices_of_its_model(name: str) -> None:
    """Strategies are about the model, and paths walk through the program: choices have the same numbers in both."""
    constants = {"N": 3} if name == "leader_async" else {"N": 2, "K": 2}
    program = galton.load(MODELS / f"{name}.prism", **constants)
    model, paths = program.build(), ProgramPaths(program)
    words, tried = [tuple(paths.initial[0])], 0
    known = set(words)
    while words and tried < 150:
        here, tried = words.pop(0), tried + 1
        found: dict[tuple[int, str], Counter[str]] = {}
        for way in paths.successors(here):
            found.setdefault((way.choice, way.action), Counter())[str(way.state)] += way.probability  # type: ignore[assignment]
            if way.words not in known:
                known.add(way.words)
                words.append(way.words)
        number = model.states.find(dict(paths.state(here)))  # type: ignore[union-attr]
        wanted = {
            (choice, action): {str(model.states[target]): weight for weight, target in pairs}  # type: ignore[index]
            for choice, (action, pairs) in enumerate(model.transitions(number))
        }
        if found:  # a deadlock has a loop in the model
            assert {key: pytest.approx(dict(value)) for key, value in found.items()} == wanted
    assert tried == 150
