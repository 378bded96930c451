"""The files of the gallery: complete, consistent, and fit to be published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from gallery import ENTRIES, FOLDER, model_file, open_constants, program, property_file

from galton.lang import render
from galton.lang.resolution import resolve

FILES = sorted(path for path in FOLDER.iterdir() if path.is_file())
MODELS = [path for path in FILES if path.suffix == ".prism"]
MACHINE = re.compile(r"(?<![\w.])/(work|home|root|tmp|usr|mnt|opt|var|Users)/|\b[A-Z]:\\\\|shared/")
each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=[Path(entry["file"]).stem for entry in ENTRIES])


def test_every_model_is_in_the_catalogue_with_its_properties() -> None:
    assert sorted(entry["file"] for entry in ENTRIES) == [path.name for path in MODELS]
    assert sorted(entry["properties_file"] for entry in ENTRIES) == [path.with_suffix(".props").name for path in MODELS]
    assert {path.suffix for path in FILES} == {".prism", ".props", ".json", ".xml"}
    assert [path.name for path in FILES if path.suffix == ".xml"] == ["enzyme.xml"]  # a network; see docs/networks.md
    assert [path.name for path in FILES if path.suffix == ".json"] == ["gallery.json"]


@each_entry
def test_the_catalogue_knows_the_type_and_the_constants(entry: dict[str, Any]) -> None:
    file = model_file(entry["file"])
    assert program(entry["file"], entry["instances"][0]["constants"]).type == entry["type"]
    assert entry["title"]
    for instance in entry["instances"]:
        assert set(instance["constants"]) == open_constants(file)
    known = open_constants(file) | open_constants(property_file(entry["properties_file"]))
    for value in entry["properties"]:
        assert open_constants(file) <= set(value["constants"]) <= known
        assert value["source"]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_opens_with_a_comment(path: Path) -> None:
    text = path.read_text()
    opening = text[: re.search(r"^(?!//)", text, re.MULTILINE).start()]  # type: ignore[union-attr]
    assert len(opening.split()) > 20, "what the model is about, and where it comes from"
    assert text.endswith("\n")


@each_entry
def test_properties_are_explained(entry: dict[str, Any]) -> None:
    text = (FOLDER / entry["properties_file"]).read_text()
    for found in property_file(entry["properties_file"]).properties:
        above = text[: found.span.start].rpartition("\n\n")[2]
        assert above.startswith("//"), f"{found.name} has no comment"


@each_entry
def test_properties_resolve(entry: dict[str, Any]) -> None:
    file = property_file(entry["properties_file"])
    values = {name: value for found in entry["properties"] for name, value in found["constants"].items()}
    given = {name: values[name] for name in open_constants(file)}
    _, questions = resolve(file, program(entry["file"], entry["instances"][0]["constants"]), given)
    assert [str(question.prop.error) for question in questions if question.prop.error] == []
    assert len(questions) == len(file.properties) > 0
    assert [render(question.prop.expression) for question in questions]


@each_entry
def test_properties_have_names_and_values(entry: dict[str, Any]) -> None:
    names = [found.name for found in property_file(entry["properties_file"]).properties]
    assert None not in names
    assert len(set(names)) == len(names)
    assert {value["name"] for value in entry["properties"]} == set(names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_paths_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert MACHINE.search(text) is None
    assert "\t" not in text
    assert "\r" not in text
