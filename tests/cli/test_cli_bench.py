"""The command that runs what a document prints."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import ROOT, galton


def test_a_problem_of_the_paper(tmp_path: Path) -> None:
    file = tmp_path / "synth.json"
    given = ("--only", "majority", "--device", "cpu", "--models", str(ROOT / "models"), "--json", str(file))
    outcome = galton("bench", "synth", *given)
    assert outcome.code == 0
    heading, row = outcome.out.splitlines()
    assert heading.split("|")[1].split() == ["boxes", "best", "s", "Java", "s"]
    assert row.split("|")[1].split() == ["911", "193", "1,097"]
    (found,) = json.loads(file.read_text())
    assert found["complete"]
    assert found["volumes"]["undecided"] <= 0.1
    assert found["boxes"] < 911
    assert sum(found["volumes"].values()) == 1


def test_mistakes() -> None:
    outcome = galton("bench", "synth", "--only", "nothing")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "no problem has such a name" in outcome.err
    outcome = galton("bench", "synth", "--models", "/nowhere")
    assert outcome.code == 2
    assert "name their folder with --models" in outcome.err
