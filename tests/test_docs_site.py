"""The site of ``make docs``: every page is in it, links have an end, and what pages name in the code is there.

Sphinx checks links between pages while it builds; what is here is quick, and covers what Sphinx does not see.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import galton
from galton.editing.words import FILTER_WORDS, KEYWORD_WORDS
from galton.lang.operations import BINARY, FUNCTIONS, UNARY

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted(DOCS.glob("notebooks/*.ipynb"))
LEFT_OUT = {"dev/STATE"}  # about the project and not about the program
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages() -> list[str]:
    """All pages, as the index names them."""
    found = [*DOCS.glob("**/*.md"), *DOCS.glob("**/*.ipynb")]
    return sorted(str(page.relative_to(DOCS).with_suffix("")) for page in found)


def listed() -> list[str]:
    """The entries of the index, patterns written out."""
    entries = []
    for block in TOCTREE.findall((DOCS / "index.md").read_text()):
        for line in block.splitlines():
            line = re.sub(r".*<(.*)>", r"\1", line)  # one with a title of its own
            if line and not line.startswith(":"):
                pattern = re.fullmatch(r"[\w/-]+", line) is None
                matched = [page for page in pages() if Path(page).match(line) and page.count("/") == line.count("/")]
                entries += matched if pattern else [line]
    return entries


def test_every_page_is_in_the_index() -> None:
    entries = set(listed()) | {"index"}
    assert set(pages()) - LEFT_OUT - entries == set(), "add them to a list in docs/index.md"
    assert entries - set(pages()) == set()


def slugs(page: Path) -> set[str]:
    """What headings of a page are called in links."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = [re.sub(r"[`*]", "", title) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_from_outside_the_site_have_an_end(page: Path) -> None:
    """Sphinx does not read these files."""
    for link in LINK.findall(page.read_text()):
        target, _, anchor = link.partition("#")
        if "://" in target or not anchor:
            continue
        assert anchor in slugs(page.parent / target if target else page), link


def test_every_public_name_is_on_the_page_of_the_interface() -> None:
    text = (DOCS / "api.md").read_text()
    shown = re.findall(r"auto(?:function|class|exception):: (\w+)", text)
    assert sorted(shown) == galton.__all__


def test_the_language_has_every_word_of_it() -> None:
    """The words that an editor explains: keywords, functions, operators, filters. Ends of blocks go without saying."""
    text = (DOCS / "language.md").read_text()
    ours = {
        word for word, means in KEYWORD_WORDS.items() if not word.startswith("end") and "does not check" not in means
    }
    fenced = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    code = " ".join([*fenced.findall(text), *re.findall(r"`[^`]+`", fenced.sub("", text))])
    assert {word for word in ours | set(FUNCTIONS) if not re.search(rf"\b{word}\b", code)} == set()
    assert {sign for sign in {*BINARY, *UNARY} if sign not in text} == set()
    assert {how for how in FILTER_WORDS if f"`{how}`" not in text} == set()


NAMED = re.compile(r"`((?:src|tests|docs|tools|bench|models)/[\w/.-]+?)(?:::(\w+))?`")


@pytest.mark.parametrize("page", ["soundness.md", "architecture.md"])
def test_what_is_named_in_the_code_is_there(page: str) -> None:
    named = NAMED.findall((DOCS / page).read_text())
    assert len(named) > 10
    for path, function in named:
        if path.endswith(".*") or "NAME" in path:
            continue
        found = ROOT / path.removesuffix(".")
        assert found.exists() or list(ROOT.glob(f"{path}*")), path
        if function:
            names = {node.name for node in ast.walk(ast.parse(found.read_text())) if isinstance(node, ast.FunctionDef)}
            assert function in names, f"{path}::{function}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    """They are made anew by ``make docs``, which runs them; what they say is asserted inside of them."""
    notebook = json.loads(path.read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert any("assert " in "".join(cell["source"]) for cell in code)


def test_what_is_loaded_from_elsewhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``make docs`` looks at all pages by this."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    from offline import loaded_from_elsewhere

    page, style = tmp_path / "page.html", tmp_path / "style.css"
    page.write_text('<a href="https://a.org">a</a> <img src="a.png"> <script src="https://cdn.org/a.js"></script>')
    assert loaded_from_elsewhere(page) == ['<script src="https://cdn.org/a.js']
    page.write_text('<link rel="stylesheet" href="//fonts.org/a.css"> <script src="_static/a.js"></script>')
    assert loaded_from_elsewhere(page) == ['<link rel="stylesheet" href="//fonts.org/a.css']
    style.write_text("@import url('https://fonts.org/a.css'); a { background: url(b.png) }")
    assert loaded_from_elsewhere(style) == ["@import url('https://fonts.org/a.css"]
    assert '"offline"' in (DOCS / "conf.py").read_text()
