"""``studio/src/protocol.ts`` is the one definition of what page and server say: the server says what stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from studio_client import Page

from galton.studio.asks import HOME
from galton.studio.lanes import LANES

TEXT = (Path(__file__).resolve().parents[2] / "studio" / "src" / "protocol.ts").read_text()
AT_ONCE = {
    "files",
    "read",
    "write",
    "create_folder",
    "rename_file",
    "delete_file",
    "gallery",
    "gallery_open",
    "buffer",
    "buffer_close",
}
TEXT_OF_DIE = (Path(__file__).resolve().parents[2] / "models" / "die.prism").read_text()
SIX = {"text": "P=? [ F d=6 ]"}


def fields_of(name: str) -> dict[str, bool]:
    """The fields of an interface, and whether they may be left out."""
    found = re.search(rf"^export interface {name} \{{\n(.*?)^\}}", TEXT, re.MULTILINE | re.DOTALL)
    assert found, name
    return {field: bool(maybe) for field, maybe in re.findall(r"^  (\w+)(\?)?:", found[1], re.MULTILINE)}


def asks() -> set[str]:
    """The names of all asks."""
    start = TEXT.index("export interface Asks {")
    return set(re.findall(r"^  (\w+): \{", TEXT[start : TEXT.index("\n}\n", start)], re.MULTILINE))


def test_all_asks_have_an_answer_and_no_others() -> None:
    assert asks() == set(HOME) | AT_ONCE
    assert set(LANES) == set(HOME) - {"export"}


def agree(found: dict[str, Any], name: str) -> None:
    """Something that the server said has the fields of an interface, and no others."""
    known = fields_of(name)
    assert set(found) <= set(known), name
    assert {field for field, maybe in known.items() if not maybe} <= set(found), name


def test_what_the_server_says_has_the_fields_of_the_protocol(page: Page) -> None:
    agree(page.hello, "Hello")
    agree(page.hello["limits"], "Limits")
    agree(page.ask("files")["files"][0], "FileEntry")
    agree(page.ask("gallery")["models"][0], "GalleryEntry")
    checked = page.ask("check", model="die.prism", properties=[SIX, {"text": "P=? [ F x ]"}])
    agree(checked["answers"][0], "Answer")
    agree(checked["answers"][1], "Answer")
    agree(checked["answers"][1]["error"], "Trouble")
    agree(checked["model"], "ModelInfo")
    agree(checked["copied"], "Copied")
    agree(page.refused("check", model="no.prism", properties=[SIX]), "Trouble")
    diagnosis = page.ask("diagnose", model="die.prism", properties="die.props")
    agree(diagnosis, "Diagnosis")
    for part, name in (("outline", "OutlineEntry"), ("variables", "VariableInfo"), ("properties", "PropertyInfo")):
        agree(diagnosis[part][0], name)
    agree(diagnosis["constants"][0], "ConstantInfo")
    agree(diagnosis["outline"][0]["range"], "Range")
    agree(page.ask("complete", file="die.prism", offset=TEXT_OF_DIE.index("node=0") + 2)["items"][0], "Completion")
    graph = page.ask("graph", model="die.prism")
    agree(graph["states"][0], "GraphState")
    agree(graph["edges"][0], "GraphEdge")
    one = page.ask("state", model="die.prism", state=0)
    agree(one["state"], "StateRow")
    agree(one["choices"][0], "Choice")
    view = page.ask("sim_start", model="die.prism", path="p")
    agree(view, "SimView")
    agree(view["rows"][0], "SimRow")
    agree(view["choices"][0], "Choice")
    both = {"text": "multi(Pmax=? [ F heads=2 ], Pmin=? [ F heads=2 ])"}
    view = page.ask("sim_start", model="consensus.prism", constants={"N": "2", "K": "2"}, path="p", strategy=both)
    agree(view["strategy"], "Followed")
    number = page.send(
        "experiment", model="die.prism", properties=[SIX, {"file": "die.props", "number": 1}], constants={"k": "1:2"}
    )
    agree(page.end(number)["result"]["table"], "Table")
    agree(page.parts(number)[1]["point"], "Point")


def test_a_mistake_in_the_test_itself_would_be_found() -> None:
    with pytest.raises(AssertionError):
        agree({"file": "x"}, "FileEntry")
    with pytest.raises(AssertionError):
        agree({**dict.fromkeys(fields_of("FileEntry")), "more": 1}, "FileEntry")
