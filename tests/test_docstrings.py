"""What ``help()`` shows makes sense alone: no docstring leans on that of its neighbour."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import galton

SOURCE = Path(galton.__file__).parent
LEANING = ("the same", "as there", "as :", "likewise", "ditto")
FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_docstring_begins_by_pointing_at_another(path: Path) -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, documented))
    texts = ((getattr(node, "lineno", 1), ast.get_docstring(node) or "") for node in nodes)
    assert not [(line, text) for line, text in texts if text.lower().startswith(LEANING)]


@pytest.mark.parametrize("name", [name for name in galton.__all__ if not name.endswith("Error")])
def test_every_public_name_has_an_example(name: str) -> None:
    documented = getattr(galton, name)
    text = inspect.getdoc(documented) or ""
    methods = [inspect.getdoc(method) or "" for _, method in inspect.getmembers(documented, inspect.isfunction)]
    assert any(">>>" in part for part in (text, *methods)), f"galton.{name} has no example"
