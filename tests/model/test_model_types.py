"""What kind of process a model type is stands in one table; everything else asks the table."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import galton
from galton.lang.lexer import KEYWORDS
from galton.lang.model_types import DEFAULT_TYPE, MODEL_TYPES, TYPE_KEYWORDS, nature_of

SOURCES = Path(galton.__file__).parent
# Where text is read or written, a type is a word among others.
READS_TEXT = {
    "io/mtx.py",  # a comment in the file names the type
}
# What stores models, or goes over their arrays row by row: no groups are stored for a chain.
KNOWS_STORAGE = ("model/", "backend/", "graph/", "io/")


def sources() -> list[tuple[str, ast.Module]]:
    return [(path.relative_to(SOURCES).as_posix(), ast.parse(path.read_text())) for path in SOURCES.rglob("*.py")]


def names_a_type(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Constant) and part.value in TYPE_KEYWORDS for part in ast.walk(node))


def is_choice_starts(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "choice_starts"


def questions(tree: ast.Module) -> list[ast.Compare]:
    """All comparisons but those that an assertion makes for the sake of types."""
    asserted = [part for node in ast.walk(tree) if isinstance(node, ast.Assert) for part in ast.walk(node)]
    return [node for node in ast.walk(tree) if isinstance(node, ast.Compare) and node not in asserted]


def test_no_code_compares_the_name_of_a_model_type() -> None:
    found = [
        f"{file}:{node.lineno}: {ast.unparse(node)}"
        for file, tree in sources()
        if file not in READS_TEXT
        for node in ast.walk(tree)
        if isinstance(node, (ast.Compare, ast.MatchValue)) and names_a_type(node)
    ]
    assert not found


def test_only_what_goes_over_the_arrays_asks_whether_groups_are_stored() -> None:
    found = [
        f"{file}:{node.lineno}: {ast.unparse(node)}"
        for file, tree in sources()
        if not file.startswith(KNOWS_STORAGE)
        for node in questions(tree)
        if is_choice_starts(node.left) and isinstance(node.ops[0], (ast.Is, ast.IsNot))
    ]
    assert not found


@pytest.mark.parametrize("word", TYPE_KEYWORDS)
def test_every_word_for_a_type_is_a_keyword_of_the_language(word: str) -> None:
    assert word in KEYWORDS
    program = galton.parse(f"{word} module m x : [0..1]; [] x=0 -> (x'=1); endmodule")
    assert program.nature is nature_of(TYPE_KEYWORDS[word])
    model = program.build()
    assert model.nature is program.nature
    assert model.has_choices is (model.choice_starts is not None)


def test_a_model_without_a_type_is_of_the_default_one() -> None:
    program = galton.parse("module m x : [0..1]; [] x=0 -> (x'=1); endmodule")
    assert program.type == DEFAULT_TYPE == "mdp"


def test_the_nature_of_the_three_types() -> None:
    kinds = {name: (n.has_choices, n.is_continuous, n.has_rates, n.entry) for name, n in MODEL_TYPES.items()}
    assert kinds == {
        "dtmc": (False, False, False, "probability"),
        "ctmc": (False, True, True, "rate"),
        "mdp": (True, False, False, "probability"),
    }


@pytest.mark.parametrize(("type", "groups"), [("dtmc", None), ("mdp", [0, 2, 3])])
def test_row_groups_are_there_for_chains_too(type: str, groups: list[int] | None) -> None:
    matrix = [[0, 1], [1, 0]] if groups is None else [[0, 1], [1, 0], [1, 0]]
    model = galton.Model.from_matrix(type, matrix, row_groups=groups)
    assert model.row_groups.tolist() == (groups or [0, 1, 2])
