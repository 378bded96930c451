"""Packages import only from those below them, lazily, for types or at once; ``docs/architecture.md`` shows it."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest
from package_imports import ROOT, Import, against, all_imports, cycle, layers, packages, table

DOCS = ROOT / "docs" / "architecture.md"


def test_every_package_has_its_place_in_the_order() -> None:
    assert packages() == set(layers())


def test_packages_import_only_from_those_below() -> None:
    wrong = against(layers(), all_imports())
    assert not wrong, "\n".join(map(str, wrong))


def test_no_packages_import_each_other_in_a_ring() -> None:
    found = cycle(all_imports())
    assert not found, " -> ".join(found)


def test_the_table_in_the_docs_is_that_of_the_code() -> None:
    """``python tests/package_imports.py`` prints the table."""
    assert table(all_imports(), layers()) in DOCS.read_text()


@pytest.mark.parametrize("file", ["__init__.py", "protocol.py", "rows.py", "steps.py", "regions.py", "chain.py"])
def test_no_any_where_backends_meet_the_rest(file: str) -> None:
    """Handles that are ``Any`` once travelled from a backend to its callers and back."""
    tree = ast.parse((ROOT / "src" / "galton" / "backend" / file).read_text())
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "Any"] == []


# The tests above can fail.


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / "galton" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (path.parent / "__init__.py").touch()
    return folder / "galton"


@pytest.mark.parametrize(
    "text",
    [
        "import galton.high",
        "from galton.high import one",
        "from galton import high",
        "from .. import high",
        "from ..high import one",
        "def f():\n    from ..high.one import two",
        "if TYPE_CHECKING:\n    from ..high.one import two",
        "importlib.import_module('galton.high.one')",
    ],
)
def test_imports_are_found_however_they_are_written(tmp_path: Path, text: str) -> None:
    source = write(tmp_path, {"low/part.py": text, "high/one.py": ""})
    (found,) = all_imports(source)
    assert (found.importer, found.imported, found.file) == ("low", "high", "low/part.py")
    assert against(["low", "high"], [found]) == [found]
    assert against(["high", "low"], [found]) == []


def test_imports_of_a_folder_inside_a_package_and_of_its_init_are_found(tmp_path: Path) -> None:
    source = write(
        tmp_path, {"low/inner/part.py": "from ...high import one\nfrom ..part import two", "high/one.py": ""}
    )
    (source / "low" / "__init__.py").write_text("from ..high import one")
    assert [(one.file, one.imported) for one in all_imports(source)] == [
        ("low/__init__.py", "high"),
        ("low/inner/part.py", "high"),
    ]


def test_the_public_module_is_above_all_packages(tmp_path: Path) -> None:
    source = write(tmp_path, {"low/part.py": "from .. import _core\nfrom .. import check"})
    (found,) = all_imports(source)
    assert (found.imported, found.line) == ("galton", 2)
    assert against(["low"], [found]) == [found]


def test_rings_are_found() -> None:
    def chain(*names: str) -> list[Import]:
        return [Import(a, b, "", 0) for a, b in pairwise(names)]

    assert cycle(chain("a", "b", "c")) == []
    assert cycle(chain("a", "c") + chain("a", "b", "c")) == []
    assert cycle(chain("a", "b", "c", "b")) == ["b", "c", "b"]
