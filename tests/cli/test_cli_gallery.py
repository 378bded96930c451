"""``galton gallery``: those who installed a wheel have the models of the examples, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import MODELS, galton


def test_models_are_listed() -> None:
    outcome = galton("gallery")
    assert outcome.code == 0
    listed = json.loads((MODELS / "gallery.json").read_text())["models"]
    assert len(outcome.out.splitlines()) == len(listed)
    assert all(entry["title"] in outcome.out for entry in listed)


def test_all_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert galton("gallery", "models").code == 0
    copied = {path.name: path.read_bytes() for path in (tmp_path / "models").iterdir()}
    assert copied == {path.name: path.read_bytes() for path in MODELS.iterdir()}
    assert galton("check", "models/die.prism", "--prop", "P>0.1 [ F d=6 ]").code == 0
    assert galton("gallery", "models").code == 0  # again, with nothing to do


def test_what_somebody_wrote_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "herman.prism"
    mine.write_text("mine")
    outcome = galton("gallery", tmp_path)
    assert (outcome.code, mine.read_text()) == (2, "mine")
    assert "herman.prism is there already" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["herman.prism"]


def test_who_lacks_the_models_is_told_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = galton("check", "models/die.prism", "--prop", "P=? [ F d=6 ]")
    assert outcome.code == 2
    assert "galton gallery models" in outcome.err
    assert "gallery" not in galton("check", "die.prism", "--prop", "P=? [ F d=6 ]").err
