"""All models and properties at hand: the gallery, and the corpora of the shared folder where there is one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from galton.lang import Source, UnsupportedError, check_program, parse_model, parse_properties, render
from galton.lang.program import Program

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
PRISM_TESTS = SHARED / "prism-tests"
MODELS = (".prism", ".nm", ".pm", ".sm")
PROPERTIES = (".props", ".pctl", ".csl")

# What `.args` files give to models whose variables cannot be declared without it.
NEEDED = {"cluster.sm": {"N": 2}, "exportvector.prism": {"N": 2}}
INTERVALS = {"irobot.prism", "imdp-sync.prism", "functionality/export/dot/dtmc_pctl.prism"}
FOREIGN = {"simple7.pctl"}  # not a test of PRISM's either: fairness(…), of another tool

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the shared folder is not here")


def files(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes)


def check(path: Path, constants: dict[str, Any]) -> Program:
    file = parse_model(Source(path.name, path.read_text()))
    wanted = {declaration.name.name for declaration in file.constants if declaration.value is None}
    return check_program(file, {name: value for name, value in constants.items() if name in wanted})


def cases() -> Iterator[dict[str, Any]]:
    for path in sorted(SHARED.glob("corpus/*/*/cases.json")):
        for case in json.loads(path.read_text())["cases"]:
            yield {**case, "folder": path.parent}


def test_gallery() -> None:
    for path in files(ROOT / "models", MODELS):
        parse_model(Source(path.name, path.read_text()))
    for path in files(ROOT / "models", PROPERTIES):
        assert [
            found.error for found in parse_properties(Source(path.name, path.read_text())).properties if found.error
        ] == []


@pytest.mark.slow
@needs_shared
def test_corpus_models() -> None:
    seen = set()
    for case in cases():
        key = (case["folder"], case["model"], str(case["constants"]))
        if key in seen:
            continue
        seen.add(key)
        program = check(case["folder"] / case["model"], case["constants"])
        assert program.type == case["folder"].parent.name
        assert not program.open_constants
    assert len(seen) > 200


@needs_shared
def test_corpus_properties_are_found_by_name_and_text() -> None:
    for case in cases():
        file = parse_properties(Source(case["props"], (case["folder"] / case["props"]).read_text()))
        found = {p.name: p for p in file.properties}[case["property_name"]]
        assert found.error is None
        (same,) = parse_properties(Source("case", case["property"])).properties
        assert same.expression == found.expression


@needs_shared
@pytest.mark.parametrize("path", files(PRISM_TESTS, MODELS), ids=lambda path: path.name)
def test_prism_models(path: Path) -> None:
    name = path.relative_to(PRISM_TESTS).as_posix()
    if path.name in INTERVALS or name in INTERVALS:
        with pytest.raises(UnsupportedError):
            check(path, {})
    else:
        check(path, NEEDED.get(path.name, {}))


@needs_shared
def test_prism_properties() -> None:
    count = 0
    for path in [*files(PRISM_TESTS, PROPERTIES), *files(SHARED / "corpus", PROPERTIES)]:
        file = parse_properties(Source(path.name, path.read_text()))
        for found in file.properties:
            count += 1
            if found.error:
                assert isinstance(found.error, UnsupportedError) or path.name in FOREIGN, str(found.error)
                continue
            (again,) = parse_properties(Source("again", render(found.expression))).properties
            assert again.expression == found.expression
    assert count > 1000


@needs_shared
def test_prism_property_files_are_split_as_prism_splits_them() -> None:
    def squeezed(text: str) -> str:
        return " ".join(text.rstrip(";").split())

    for test in json.loads((PRISM_TESTS / "manifest.json").read_text())["tests"]:
        file = parse_properties(Source(test["props"], (PRISM_TESTS / test["props"]).read_text()))
        expected = [(p["name"], squeezed(p["text"])) for p in test["properties"]]
        assert [(p.name, squeezed(p.text)) for p in file.properties] == expected


@needs_shared
def test_the_largest_models_are_read_quickly() -> None:
    for path in sorted(files(SHARED / "corpus", MODELS), key=lambda path: path.stat().st_size)[-5:]:
        source = Source(path.name, path.read_text())
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            parse_model(source)
            best = min(best, time.process_time() - start)
        assert best < 0.2
