"""What the studio answers is what Galton answers; and copied commands and scripts give the same numbers."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studio_client import Page, Running

import galton

ROOT = Path(__file__).resolve().parents[2]
CONSENSUS = {"model": "consensus.prism", "constants": {"N": "2", "K": "2"}}
SIR = {"model": "sir.prism", "constants": {"S0": "9", "I0": "1", "R0": "0", "kr": "0.1"}}
SIX = {"text": "P=? [ F d=6 ]"}


# Answers.


def test_properties_side_by_side_as_they_are_known(page: Page, project: Path) -> None:
    asked = [SIX, {"file": "die.props", "number": 1}, {"text": "P>=0.5 [ F d=6 ]"}, {"text": "P=? [ F nothing ]"}]
    number = page.send("check", model="die.prism", properties=asked, constants={"k": "3", "unused": "7"})
    answers = page.end(number)["result"]["answers"]
    assert [part["number"] for part in page.parts(number)] == [0, 1, 2, 3]
    assert [part["answer"] for part in page.parts(number)] == answers
    expected = galton.check(project / "die.prism", "P=? [ F d=6 ]")
    assert (answers[0]["value"], answers[0]["lower"], answers[0]["upper"]) == (
        expected.value,
        expected.lower,
        expected.upper,
    )
    assert answers[0]["text"] == expected.text
    assert answers[0]["proved"] is True
    assert answers[0]["kind"] == "number"
    assert any(line.startswith("build") for line in answers[0]["explain"])
    assert answers[1]["name"] == "face"
    assert answers[2]["value"] is False
    assert answers[2]["behind"]["text"].startswith("0.1666")
    assert answers[3]["error"]["kind"] == "language"
    assert "unknown name 'nothing'" in answers[3]["error"]["message"]


def test_exact_answers_and_estimates(page: Page) -> None:
    (exact,) = page.ask("check", model="die.prism", properties=[SIX], options={"exact": True})["answers"]
    assert exact["value"] == "1/6"
    options = {"sim": True, "confidence": 0.99, "seed": 4}
    (estimate,) = page.ask("check", model="die.prism", properties=[SIX], options=options)["answers"]
    assert estimate["confidence"] == 0.99
    assert estimate["proved"] is False
    assert estimate["lower"] <= 1 / 6 <= estimate["upper"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "jacoby"}, "jacobi"),
        ({"eps": 2}, "between 0 and 1"),
        ({"width": 0.1}, "random paths"),
        ({"sim": True, "eps": 0.1}, "no use"),
        ({"max_states": 7}, "states"),
        ({"device": "gpu"}, "gpu"),
    ],
)
def test_choices_that_make_no_sense_are_refused_in_words(page: Page, options: dict[str, Any], said: str) -> None:
    assert said in page.refused("check", model="die.prism", properties=[SIX], options=options)["text"]


def test_a_mistake_in_the_model_has_its_place(page: Page) -> None:
    text = "dtmc\n// ü𝔾\nmodule m\n  x : [0..1];\n  [] y=0 -> true;\nendmodule\n"
    page.ask("buffer", file="wrong.prism", version=1, text=text)
    found = page.refused("check", model="wrong.prism", properties=[{"text": "P=? [ F x=1 ]"}])
    assert found["kind"] == "language"
    assert found["file"] == "wrong.prism"
    units = text.encode("utf-16-le")
    assert units[2 * found["range"]["from"] : 2 * found["range"]["to"]].decode("utf-16-le") == "y"
    assert (found["range"]["line"], found["range"]["column"]) == (4, 5)
    told = page.ask("diagnose", model="wrong.prism")["diagnostics"]
    assert [(one["file"], one["range"]) for one in told] == [("wrong.prism", found["range"])]
    page.ask("buffer_close", file="wrong.prism")


def test_an_experiment_comes_point_by_point(page: Page, project: Path) -> None:
    asked = {"model": "die.prism", "properties": [{"file": "die.props", "number": 1}], "constants": {"k": "1:6"}}
    number = page.send("experiment", **asked)
    result = page.end(number)["result"]
    plan, *points = page.parts(number)
    assert plan["plan"]["constants"] == [{"name": "k", "values": [1, 2, 3, 4, 5, 6]}]
    assert [part["row"] for part in points] == [0, 1, 2, 3, 4, 5]
    expected = galton.experiment(project / "die.prism", project / "die.props", name="1", k="1:6").column()
    assert [part["point"]["answers"][0]["value"] for part in points] == expected
    assert [row[1] for row in result["table"]["rows"]] == expected


# States.


def test_a_graph_is_that_of_the_model(page: Page, project: Path) -> None:
    found = page.ask("graph", model="die.prism")
    model = galton.load(project / "die.prism").build()
    assert len(found["states"]) == model.n_states
    edges = {(edge["from"], edge["to"]): edge["number"] for edge in found["edges"]}
    matrix = model.to_scipy().tocoo()
    assert edges == {(int(i), int(j)): v for i, j, v in zip(matrix.row, matrix.col, matrix.data, strict=True)}
    assert [tuple(state["values"]) for state in found["states"]] == [tuple(state.values()) for state in model.states]  # type: ignore[union-attr]
    assert [state["distance"] for state in found["states"]][:3] == [0, 1, 1]


def test_a_graph_that_is_too_large_is_refused(page: Page) -> None:
    assert "table of states" in page.refused("graph", model="herman.prism", constants={"N": "13"})["text"]


def test_values_in_all_states(page: Page, project: Path) -> None:
    found = page.ask("values", model="die.prism", property=SIX)
    expected = galton.check(project / "die.prism", "P=? [ F d=6 ]").values
    assert found["values"] == expected.array.tolist()
    assert (found["least"], found["greatest"]) == (0.0, 1.0)
    some = page.ask("values", model="die.prism", property=SIX, states=[12, 0])
    assert some["values"] == [expected[12], expected[0]]


def test_pages_of_states_are_found_by_expressions(page: Page) -> None:
    first = page.ask("states", model="die.prism", **{"from": 2, "count": 3})
    assert first["total"] == 13
    assert [row["state"] for row in first["rows"]] == [2, 3, 4]
    high = page.ask(
        "states", model="die.prism", **{"from": 0, "count": 9}, where='d>3 & "done"', property=SIX, order="-value"
    )
    assert high["total"] == 3
    assert high["rows"][0]["values"] == [7, 6]
    assert high["rows"][0]["value"] == 1
    nested = page.ask("states", model="die.prism", **{"from": 0, "count": 9}, where="P>0.3 [ F d=6 ]")
    assert sorted(row["state"] for row in nested["rows"]) == [2, 6, 12]
    assert "condition" in page.refused("states", model="die.prism", **{"from": 0, "count": 9}, where="d")["text"]


@pytest.mark.parametrize("optimum", ["min", "max"])
def test_where_probabilities_of_an_mdp_are_0_and_1(page: Page, project: Path, optimum: str) -> None:
    asked = f'P{optimum}=? [ F "finished" & "all_heads" ]'
    values = galton.check(project / "consensus.prism", asked, N=2, K=2).values
    for kind, number in (("prob0", 0.0), ("prob1", 1.0)):
        found = page.ask("sets", **CONSENSUS, kind=kind, property={"text": asked})
        assert np.array_equal(np.array(found["numbers"], dtype=bool), np.isclose(values.array, number, atol=1e-9))


def test_components_and_distances(page: Page) -> None:
    assert page.ask("sets", model="die.prism", kind="scc")["count"] == 11
    assert page.ask("sets", model="die.prism", kind="bscc")["count"] == 6
    assert page.ask("sets", model="die.prism", kind="mec")["count"] == 6
    found = page.ask("sets", model="die.prism", kind="distance")
    assert found["sizes"] == [1, 2, 4, 6]
    mec = page.ask("sets", **CONSENSUS, kind="mec")
    model = galton.load(ROOT / "models" / "consensus.prism", N=2, K=2).build()
    from galton.graph import maximal_end_components

    assert mec["numbers"] == np.asarray(maximal_end_components(model).component).tolist()


def test_one_state_and_its_ways(page: Page) -> None:
    found = page.ask("state", model="die.prism", state=1)
    assert [(way["to"], way["number"], way["changes"]) for way in found["choices"][0]["successors"]] == [
        (3, 0.5, {"node": 3}),
        (4, 0.5, {"node": 4}),
    ]
    assert {way["from"] for way in found["incoming"]} == {0, 3}


def test_the_matrix_is_counted(page: Page) -> None:
    found = page.ask("matrix", model="die.prism", size=5)
    assert sum(found["counts"]) == 20
    assert len(found["counts"]) == 25


# Paths.


def test_a_path_step_by_step(page: Page) -> None:
    start = page.ask("sim_start", model="die.prism", path="a", seed=1)
    assert start["rows"][0]["values"] == [0, 0]
    step = page.ask("sim_step", path="a", choice=0, successor=1)
    assert step["rows"][0]["values"] == [2, 0]
    assert step["rows"][0]["action"] == "toss"
    played = page.ask("sim_play", path="a", steps=20)
    assert played["from"] == 2
    assert played["length"] == 22
    tosses = sum(row["action"] == "toss" for row in played["rows"]) + 1
    assert played["rows"][-1]["rewards"] == [tosses]
    assert "done" in played["rows"][-1]["labels"]
    back = page.ask("sim_back", path="a", steps=21)
    assert back["length"] == 1
    page.ask("sim_end", path="a")
    assert "over" in page.refused("sim_play", path="a", steps=1)["text"]


def test_a_path_from_any_state_and_in_time(page: Page) -> None:
    view = page.ask("sim_start", **SIR | {"constants": {**SIR["constants"], "ki": "0.05"}}, path="t", seed=2)  # type: ignore[dict-item]
    assert view["timed"] is True
    played = page.ask("sim_play", path="t", steps=1000)
    times = [row["time"] for row in played["rows"]]
    assert times == sorted(times)
    assert times[0] > 0
    begun = page.ask("sim_start", model="die.prism", path="s", state={"node": 7, "d": 5})
    assert begun["rows"][0]["values"] == [7, 5]
    assert "0 to 6" in page.refused("sim_start", model="die.prism", path="s", state={"node": 7, "d": 9})["text"]


def test_a_path_under_the_best_strategy(page: Page, project: Path) -> None:
    asked = 'Pmax=? [ F "finished" & "all_heads" ]'
    strategy = galton.check(project / "consensus.prism", asked, N=2, K=2, strategy=True).strategy
    view = page.ask("sim_start", **CONSENSUS, path="m", strategy={"text": asked}, seed=3)
    for _ in range(12):
        (taken,) = [choice["choice"] for choice in view["choices"] if choice["chosen"] == 1.0] or [None]
        values = dict(zip(view["variables"], view["rows"][-1]["values"], strict=True))
        state = strategy.model.states.find(values)  # type: ignore[union-attr]
        assert taken == strategy.choice(state)  # type: ignore[union-attr]
        view = page.ask("sim_play", path="m", steps=1)
        assert taken is None or view["rows"][-1]["choice"] == taken


# Synthesis and Pareto sets.


def test_regions_refine_and_points_are_asked(page: Page) -> None:
    asked = {"property": {"text": "P>=0.5 [ F<=20 ill=0 ]"}, "parameters": {"ki": [0.01, 0.1]}, "goal": "threshold"}
    number = page.send("synth", **SIR, **asked)
    found = page.end(number)["result"]
    assert page.parts(number)
    assert found["complete"] is True
    assert found["decided"] >= 0.99
    for box in found["boxes"][:: max(1, len(found["boxes"]) // 4)]:
        if box["verdict"] == "undecided":
            continue
        middle = (box["low"][0] + box["high"][0]) / 2
        answer = page.ask("synth_at", **SIR, property={"text": "P=? [ F<=20 ill=0 ]"}, point={"ki": middle})["answer"]
        assert box["lower"] <= answer["upper"]
        assert answer["lower"] <= box["upper"]
        assert (answer["value"] >= 0.5) == (box["verdict"] == "true")


def test_a_pareto_set(page: Page, project: Path) -> None:
    text = 'multi(Pmax=? [ F heads=2 ], R{"steps"}min=? [ F "finished" ])'
    found = page.ask("pareto", **CONSENSUS, property={"text": text})
    expected = galton.check(project / "consensus.prism", text, N=2, K=2).value
    assert [tuple(point) for point in found["points"]] == list(expected.points)  # type: ignore[union-attr]
    assert found["maximise"] == [True, False]


def test_what_has_a_pareto_set(page: Page) -> None:
    """Two numbers and more have one; a number under bounds, and bounds alone, have none."""
    goal = "Pmax=? [ F heads=2 ]"
    lists = [[goal] * 2, [goal] * 3, [goal] * 4, [goal, "P>=0.1 [ F heads=2 ]"], ["P>=0.1 [ F heads=2 ]"] * 2]
    text = "".join(f"multi({', '.join(goals)});\n" for goals in lists)
    page.ask("buffer", file="several.props", version=1, text=text)
    found = page.ask("diagnose", **CONSENSUS, properties="several.props")["properties"]
    assert [prop["multi"] for prop in found] == [True, True, True, False, False]
    assert page.ask("pareto", **CONSENSUS, property={"file": "several.props", "number": 3})["words"].startswith(
        "1 corner;"
    )
    assert (
        "no Pareto set" in page.refused("pareto", **CONSENSUS, property={"file": "several.props", "number": 4})["text"]
    )
    page.ask("buffer_close", file="several.props")


# Files, the gallery and editors.


def test_files_are_written_renamed_and_deleted(page: Page, project: Path) -> None:
    stamp = page.ask("write", file="new.prism", text="dtmc\n", create=True)["stamp"]
    assert "already" in page.refused("write", file="new.prism", text="x", create=True)["text"]
    stamp = page.ask("write", file="new.prism", text="mdp\n", stamp=stamp)["stamp"]
    (project / "new.prism").write_text("somebody else")
    assert "changed on disk" in page.refused("write", file="new.prism", text="x", stamp=stamp)["text"]
    page.ask("create_folder", folder="sub")
    page.ask("rename_file", file="new.prism", to="sub/moved.prism")
    assert page.ask("read", file="sub/moved.prism")["text"] == "somebody else"
    assert "already" in page.refused("rename_file", file="sub/moved.prism", to="die.prism")["text"]
    assert page.refused("delete_file", file="sub")["kind"] == "refused"  # it is not empty
    page.ask("delete_file", file="sub/moved.prism")
    files = page.ask("delete_file", file="sub")["files"]
    assert "sub" not in [entry["file"] for entry in files]
    assert not list(project.rglob(".*"))  # no drafts are left


def test_a_buffer_stands_for_its_file_and_changes_bit_by_bit(page: Page, project: Path) -> None:
    text = (project / "die.prism").read_text()
    page.ask("buffer", file="die.prism", version=1, text=f"// 𝔾\n{text}")
    place = len(f"// 𝔾\n{text}".partition("d'=6")[0]) + 1  # one character has two units
    changes = [{"from": 0, "to": 2, "insert": "//ü"}, {"from": place, "to": place + 4, "insert": "d'=5"}]
    page.ask("buffer", file="die.prism", version=2, base=1, changes=changes)
    (answer,) = page.ask("check", model="die.prism", properties=[SIX])["answers"]
    assert answer["value"] == 0
    assert "all of the text" in page.refused("buffer", file="die.prism", version=9, base=1, changes=[])["text"]
    page.ask("buffer_close", file="die.prism")
    (answer,) = page.ask("check", model="die.prism", properties=[SIX])["answers"]
    assert answer["value"] > 0.16


def test_the_gallery_opens(page: Page) -> None:
    models = page.ask("gallery")["models"]
    assert len(models) > 20
    assert all(entry["about"] and entry["title"] for entry in models)
    opened = page.ask("gallery_open", name="herman")
    assert opened["model"]["text"] == (ROOT / "models" / "herman.prism").read_text()
    assert opened["entry"]["constants"] == {"N": "3"}
    assert page.refused("gallery_open", name="../gallery")["kind"] == "request"


def test_what_an_editor_is_told(page: Page, project: Path) -> None:
    found = page.ask("diagnose", model="die.prism", properties="die.props", constants={"k": "3"})
    assert found["type"] == "dtmc"
    assert found["diagnostics"] == []
    assert page.ask("diagnose", model="die.prism", constants={"k": "3"})["diagnostics"] == []
    assert [variable["name"] for variable in found["variables"]] == ["node", "d"]
    assert {"done", "high"} <= set(found["labels"])
    assert [(c["name"], c["defined"]) for c in found["constants"]] == [("k", False)]
    assert [prop["number"] for prop in found["properties"]] == list(range(1, len(found["properties"]) + 1))
    assert found["properties"][0]["constants"] == ["k"]
    text = (project / "die.prism").read_text()
    place = text.index("node=0")
    hover = page.ask("hover", file="die.prism", offset=place)
    assert "node" in hover["text"]
    assert text[hover["range"]["from"] : hover["range"]["to"]] == "node"
    edits = page.ask("rename", file="die.prism", offset=place, to="place", properties="die.props")["edits"]
    assert {text[e["range"]["from"] : e["range"]["to"]] for e in edits if e["file"] == "die.prism"} == {"node"}
    where = page.ask("definition", file="die.prism", offset=place)
    assert text[where["range"]["from"] :].startswith("node")
    completions = page.ask("complete", file="die.prism", offset=place + 2)
    assert "node" in [item["label"] for item in completions["items"]]
    assert page.ask("format", file="die.prism")["text"]


# Exports.


EXPORTS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("check", {"model": "die.prism", "properties": [SIX]}, ["csv", "json"]),
    (
        "experiment",
        {"model": "die.prism", "properties": [{"file": "die.props", "number": 1}], "constants": {"k": "1:6"}},
        ["csv", "json", "png", "svg", "pdf"],
    ),
    ("build", {"model": "die.prism"}, ["csv", "json"]),
    ("graph", {"model": "die.prism"}, ["dot", "csv", "json"]),
    ("values", {"model": "die.prism", "property": SIX}, ["csv", "json"]),
    ("states", {"model": "die.prism", "from": 0, "count": 5, "where": "d>0"}, ["csv", "json"]),
    ("sets", {"model": "die.prism", "kind": "scc"}, ["csv", "json"]),
    ("matrix", {"model": "die.prism", "size": 10}, ["png", "csv"]),
    ("sim_start", {"model": "die.prism", "path": "e"}, ["csv", "json", "svg"]),
    (
        "synth",
        {**SIR, "property": {"text": "P>=0.5 [ F<=20 ill=0 ]"}, "parameters": {"ki": [0.01, 0.1]}, "goal": "threshold"},
        ["csv", "json", "png"],
    ),
    (
        "pareto",
        {**CONSENSUS, "property": {"text": 'multi(Pmax=? [ F heads=2 ], R{"steps"}min=? [ F "finished" ])'}},
        ["csv", "json", "svg"],
    ),
]
BEGINS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "dot": b"digraph"}


@pytest.mark.parametrize(("ask", "asked", "formats"), EXPORTS, ids=[ask for ask, *_ in EXPORTS])
def test_every_answer_is_exported(page: Page, ask: str, asked: dict[str, Any], formats: list[str]) -> None:
    number = page.send(ask, **asked)
    page.end(number)
    for kind in formats:
        found = page.ask("export", of=number, format=kind)
        data = base64.b64decode(found["base64"])
        assert found["name"].endswith(f".{kind}")
        if kind == "json":
            assert json.loads(data)
        elif kind == "csv":
            rows = list(csv.reader(io.StringIO(data.decode())))
            assert len(rows) > 1
            assert len({len(row) for row in rows}) == 1
        else:
            assert data.startswith(BEGINS[kind])


def test_an_export_is_saved_into_the_project(page: Page, project: Path) -> None:
    number = page.send("values", model="die.prism", property=SIX)
    page.end(number)
    page.ask("export", of=number, format="csv", save="values.csv")
    assert len((project / "values.csv").read_text().splitlines()) == 14
    assert page.refused("export", of=number, format="csv", save="../values.csv")["kind"] == "request"
    assert "not as png" in page.refused("export", of=number, format="png")["text"]
    page.ask("delete_file", file="values.csv")


def test_an_export_outlives_the_worker_that_answered(page: Page) -> None:
    number = page.send("check", model="die.prism", properties=[SIX])
    page.end(number)
    endless = page.send("check", model="herman.prism", constants={"N": "19"}, properties=[{"text": "R=? [ F false ]"}])
    page.stop(endless)
    assert page.end(endless)["event"] == "stopped"
    assert "0.1666" in base64.b64decode(page.ask("export", of=number, format="csv")["base64"]).decode()


# Commands and scripts.


def numbers(text: str) -> list[float]:
    """All numbers with some digits after the point."""
    return [float(found) for found in re.findall(r"\d\.\d{3,}(?:e-?\d+)?", text)]


def run_command(command: str, project: Path) -> str:
    words = command.replace("galton ", f"{sys.executable} -m galton ", 1)
    return subprocess.run(words, shell=True, cwd=project, capture_output=True, text=True, check=False).stdout


def run_script(script: str, project: Path) -> str:
    found = subprocess.run([sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout


COPIES: list[tuple[str, dict[str, Any]]] = [
    (
        "check",
        {
            "model": "die.prism",
            "properties": [SIX, {"file": "die.props", "number": 1}, {"text": "const int b; P=? [ F<=b d=1 ]"}],
            "constants": {"k": "3", "b": "4", "stranger": "1"},
            "options": {"eps": 1e-9, "device": "cpu", "relative": False, "method": "interval"},
        },
    ),
    (
        "check",
        {
            "model": "die.prism",
            "properties": [{"file": "die.props", "number": 2}],
            "options": {"sim": True, "seed": 7, "width": 0.05},
        },
    ),
    ("check", {"model": "die.prism", "properties": [SIX], "options": {"sim": True, "seed": 7, "width": 0.05}}),
    ("synth_at", {**SIR, "property": {"text": "P=? [ F<=20 ill=0 ]"}, "point": {"ki": 0.0625}}),
]


@pytest.mark.parametrize(("ask", "asked"), COPIES, ids=["check", "sim of a file", "sim", "synth_at"])
def test_copied_answers_are_the_same_numbers(page: Page, project: Path, ask: str, asked: dict[str, Any]) -> None:
    if asked.get("options", {}).get("method"):
        asked = {**asked, "properties": asked["properties"][:2]}
    result = page.ask(ask, **asked)
    answers = result["answers"] if "answers" in result else [result["answer"]]
    texts = sorted(float(answer["text"]) for answer in answers)
    if ask == "check":
        assert page.ask("copy", what=ask, asked=asked) == result["copied"]
    for printed in (run_command(result["copied"]["command"], project), run_script(result["copied"]["python"], project)):
        found = sorted(
            float(re.search(r"[=≈]  ?([\d.e-]+)", line.split("]", 1)[1])[1])
            for line in printed.splitlines()
            if "?" in line
        )  # type: ignore[index]
        assert found == texts


def test_copied_experiments_are_the_same_numbers(page: Page, project: Path) -> None:
    asked = {"model": "die.prism", "properties": [{"file": "die.props", "number": 1}, SIX], "constants": {"k": "1:3"}}
    result = page.ask("experiment", **asked)
    command = run_command(result["copied"]["command"] + " --json", project)
    values = [json.loads(line)["value"] for line in command.splitlines()]
    table = result["table"]["rows"]
    assert values == [row[place] for row in table for place in (1, 4)]
    script = run_script(result["copied"]["python"], project)
    assert [line.split(":")[0].strip("<") for line in script.splitlines()] == ["k=1", "k=2", "k=3"]
    assert numbers(script) == pytest.approx([row[place] for row in table for place in (1, 4)], abs=1e-7)


def test_copied_commands_about_states_and_regions_run(page: Page, project: Path) -> None:
    built = page.ask("build", model="herman.prism", constants={"N": "5"})
    assert "32" in run_command(built["copied"]["command"], project)
    assert "32 states" in run_script(built["copied"]["python"], project)
    values = page.ask("values", model="die.prism", property=SIX)
    shown = sorted(set(numbers(run_script(values["copied"]["python"], project))))
    assert shown == sorted({value for value in values["values"] if 0 < value < 1})
    assert "0.333333" in run_command(values["copied"]["command"], project)
    where = page.ask("states", model="die.prism", **{"from": 0, "count": 9}, where="d>3")
    assert run_script(where["copied"]["python"], project).count("node=7") == 3
    assert run_command(where["copied"]["command"], project).count("node=7") == 3
    asked = {"property": {"text": "P>=0.5 [ F<=20 ill=0 ]"}, "parameters": {"ki": [0.01, 0.1]}, "goal": "threshold"}
    found = page.ask("synth", **SIR, **asked, tolerance=0.05)
    assert page.ask("copy", what="synth", asked={**SIR, **asked, "tolerance": 0.05}) == found["copied"]
    regions = json.loads(run_script(found["copied"]["python"], project))
    assert [(box["low"], box["lower"]) for box in regions["boxes"]] == [
        (box["low"], box["lower"]) for box in found["boxes"]
    ]
    run_command(f"{found['copied']['command']} --json regions.json", project)
    assert json.loads((project / "regions.json").read_text())["boxes"] == regions["boxes"]


def test_a_copied_path_goes_the_same_way(page: Page, project: Path) -> None:
    page.ask("sim_start", model="die.prism", path="c", seed=5)
    played = page.ask("sim_play", path="c", steps=6)
    printed = run_script(played["copied"]["python"], project).splitlines()
    states = [f"(node={node}, d={d})" for node, d in (row["values"] for row in played["rows"])]
    assert printed[1:] == states
    assert "toss" in run_command(played["copied"]["command"], project)


# Stopping, slots and time.


def test_typing_goes_on_while_a_question_runs(page: Page) -> None:
    heavy = page.send("check", model="herman.prism", constants={"N": "21"}, properties=[{"text": 'R=? [ F "stable" ]'}])
    assert page.ask("diagnose", model="die.prism")["type"] == "dtmc"
    assert not [event for event in page.events[heavy] if event["event"] in ("result", "error")]
    page.stop(heavy)
    assert page.end(heavy) == {"id": heavy, "event": "stopped", "reason": "by"}


def test_a_newer_ask_in_a_slot_stops_the_one_before(page: Page) -> None:
    heavy = {"model": "herman.prism", "constants": {"N": "21"}, "properties": [{"text": 'R=? [ F "stable" ]'}]}
    first = page.send("check", slot="answers", **heavy)
    second = page.send("check", slot="answers", model="die.prism", properties=[SIX])
    assert page.end(first)["reason"] == "slot"
    assert page.end(second)["result"]["answers"][0]["value"] > 0.16


def test_progress_is_told(studio: Running) -> None:
    with studio.page() as page:
        number = page.send("build", model="herman.prism", constants={"N": "21"})
        told = page.wait_for(number, "progress")["progress"]
        assert "states" in told["words"]
        assert told["seconds"] > 0
        page.stop(number)
        assert page.end(number)["event"] == "stopped"
