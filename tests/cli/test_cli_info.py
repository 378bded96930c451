"""``galton info``: the sizes of a model, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import DIE, MODELS, WALK, galton, run, write

KEYS = ["type", "states", "choices", "transitions", "initial_states", "deadlocks", "build_s", "memory_mb", "placement"]

SIZES = {
    ("die", ""): ("dtmc", 13, 13, 20, 1),
    ("herman", "N=5"): ("dtmc", 32, 32, 244, 32),
    ("consensus", "N=2,K=2"): ("mdp", 272, 400, 492, 1),
    ("cluster", "N=2"): ("ctmc", 276, 276, 1120, 1),
}


def facts(*arguments: object) -> dict[str, Any]:
    """The object that ``info --json`` prints, and nothing but it."""
    outcome = galton("info", *arguments, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    found = json.loads(outcome.out)
    assert list(found) == KEYS
    return dict(found)


@pytest.mark.parametrize(("name", "constants"), SIZES, ids=[name for name, _ in SIZES])
def test_json(name: str, constants: str) -> None:
    found = facts(MODELS / f"{name}.prism", "--const", constants)
    assert tuple(found[key] for key in KEYS[:5]) == SIZES[name, constants]
    assert found["deadlocks"] == 0
    assert 0 < found["build_s"] < 10
    assert 10 < found["memory_mb"] < 10_000


def test_json_in_a_process_of_its_own() -> None:
    outcome = run("info", "models/herman.prism", "-c", "N=5", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert list(json.loads(outcome.out)) == KEYS


def test_warnings_stay_out_of_the_json(tmp_path: Path) -> None:
    outcome = galton("info", write(tmp_path, WALK), "-c", "N=3,M=2", "--json")
    assert json.loads(outcome.out)["deadlocks"] == 1
    assert outcome.err.splitlines() == [
        f"warning: {tmp_path}/model.prism has no constant 'M'; all of its constants have a value",
        "warning: the state (x=3, lost=false) has no transition and got a self-loop",
    ]


@pytest.mark.parametrize(
    "command",
    [["info"], ["build", "--export", "{}/model.tra"], ["check", "--prop", "P=? [ F x=1 ]", "--prop", "P=? [ X x=1 ]"]],
    ids=lambda words: words[0],
)
def test_a_row_that_does_not_sum_to_one_is_told_once(command: list[str], tmp_path: Path) -> None:
    text = "dtmc module m x : [0..1]; [] x=0 -> 0.999995:true + 0.00001:(x'=1); [] x=1 -> true; endmodule"
    name, *options = (word.format(tmp_path) for word in command)
    outcome = galton(name, write(tmp_path, text), *options)
    assert outcome.code == 0
    warning = (
        "warning: the probabilities of state (x=0) sum to 1.000005, not 1; rows like this one were divided by their"
    )
    assert [line for line in outcome.err.splitlines() if line.startswith("warning")] == [f"{warning} sums"]


def rows(*arguments: object) -> dict[str, str]:
    """What ``info`` tells a person, by the first word or two of each line."""
    outcome = galton("info", *arguments)
    assert outcome.code == 0
    return {line[:11].strip(): line[13:] for line in outcome.out.splitlines()}


def test_for_people() -> None:
    found = rows(DIE)
    assert list(found) == [
        "type", "variables", "states", "transitions", "deadlocks", "labels", "rewards", "placement", "build time",
        "memory",
    ]  # fmt: skip
    assert found["type"] == "dtmc"
    assert found["variables"] == "node [0..7], d [0..6]"
    assert (found["states"], found["transitions"], found["deadlocks"]) == ("13", "20", "0")
    assert found["labels"] == "init (1), deadlock (0), done (6), high (3)"
    assert found["rewards"] == "tosses"
    assert found["build time"].endswith(" s")
    assert " MB for the model, " in found["memory"]


def test_choices_of_an_mdp_and_rewards_without_a_name(tmp_path: Path) -> None:
    found = rows(write(tmp_path, WALK), "-c", "N=3")
    assert found["constants"] == "N=3"
    assert found["variables"] == "x [0..3], lost bool"
    assert (found["states"], found["choices"], found["transitions"]) == ("6", "8", "13")
    assert found["rewards"] == "steps, (unnamed)"


def test_constants_and_initial_states() -> None:
    assert rows(MODELS / "biased_die.prism", "-c", "p=1/4,remedy=false")["constants"] == "p=0.25, remedy=false"
    assert rows(MODELS / "herman.prism", "-c", "N=3")["states"] == "8 (8 initial)"


def test_large_numbers_have_separators() -> None:
    found = rows(MODELS / "tandem.prism", "-c", "c=31")
    assert (found["states"], found["transitions"]) == ("2,016", "6,819")


@pytest.mark.parametrize("name", ["wlan.prism -c MAX_BACKOFF=0,COL=0", "fms.prism -c n=3", "herman.prism -c N=9"])
def test_any_number_of_threads_says_the_same(name: str) -> None:
    model, *constants = name.split()
    outcomes = []
    for threads in (1, 2, 3):
        found = facts(MODELS / model, *constants, "--threads", threads)
        outcomes.append({key: found[key] for key in KEYS[:6]})
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_constants_in_one_option_or_several() -> None:
    together = facts(MODELS / "consensus.prism", "--const", "N=2,K=4")
    apart = facts(MODELS / "consensus.prism", "-c", "N=2", "--const", " K = 2*2 ")
    assert together["states"] == apart["states"] == 528


def test_text_that_is_not_utf8_may_stand_in_comments(tmp_path: Path) -> None:
    path = tmp_path / "old.prism"
    path.write_bytes(b"// caf\xe9\n" + DIE.read_bytes())
    assert facts(path)["states"] == 13


def test_info_takes_a_device_and_says_where_the_model_lies() -> None:
    """There was no ``--device``, and nobody was told where a model had been built."""
    outcome = galton("info", DIE, "--device", "cpu", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["placement"] == "the CPU (asked for)"
    outcome = galton("info", DIE, "--device", "nowhere")
    assert outcome.code == 2
    assert "there is no device 'nowhere'; give auto, cpu, cuda" in outcome.err
