"""Every file in ``tests/bad`` is wrong in the way its first line says; beside it stands what a person gets to read.

To see what changed in a message: ``pytest tests/lang/test_bad_inputs.py -vv``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from galton.lang import LanguageError, Source, check_program, parse_model, parse_properties

FOLDER = Path(__file__).parents[1] / "bad"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".prism", ".props"))


def complaints(path: Path) -> list[LanguageError]:
    source = Source(path.name, path.read_text())
    try:
        if path.suffix == ".prism":
            check_program(parse_model(source))
            return []
        return [found.error for found in parse_properties(source).properties if found.error]
    except LanguageError as error:
        return [error]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_message(path: Path) -> None:
    found = complaints(path)
    assert found, "this input should be refused"
    assert "\n\n".join(map(str, found)) + "\n" == path.with_suffix(".expected").read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_unsupported_is_not_wrong(path: Path) -> None:
    kinds = {error.kind for error in complaints(path)}
    if path.name.startswith("unsupported_"):
        assert kinds == {"unsupported"}
    else:
        assert kinds == {"input"}


def test_every_expectation_belongs_to_an_input() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.expected")) == sorted(path.stem for path in FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_first_line_says_what_is_wrong(path: Path) -> None:
    assert path.read_text().startswith("// ")
