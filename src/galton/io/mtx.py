"""Matrix Market (``.mtx``): the matrix of a chain, for other tools of numerical linear algebra.

Only the matrix is written. A comment names the type of the model; files without one are read as what their rows
look like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..lang.model_types import ModelType, nature_of
from ..model.sparse import Model, ModelError
from .characters import constant, integers, join, value_characters
from .errors import FileError
from .matrix import Matrix, chain_type, check_count, check_range, checked_matrix
from .table import TextFile, read_table
from .tra import entry_blocks

BANNER = "%%MatrixMarket matrix coordinate real general"
_BANNER = re.compile(r"%%MatrixMarket\s+matrix\s+coordinate\s+(real|integer)\s+general", re.IGNORECASE)
_TYPE = re.compile(r"%\s*Galton (dtmc|ctmc)\b")


def read_mtx(path: Path, type: ModelType | None = None) -> Matrix:
    """Read a square matrix as a chain."""
    file = TextFile.open(path, comment="%", expected=f"{BANNER} in the first line")
    if not file.comments or not _BANNER.fullmatch(file.comments[0][1]):
        text = file.data.split(b"\n", 1)[0].decode(errors="replace")
        raise FileError("this is not a Matrix Market file that Galton reads", path, 1, text, BANNER)
    n_rows, n_columns, n_entries = file.header_numbers(3, "the numbers of rows, columns and entries")
    if n_rows != n_columns:
        raise file.header_error(f"{n_rows} rows and {n_columns} columns", "a square matrix, as of a chain")
    file.check_states(n_rows)
    table = read_table(file, 2, expected="row column value")
    for numbers, what in zip(table.integers, ("row", "column"), strict=True):
        check_range(file, numbers, n_rows, what, base=1)
    rows, columns = (numbers - 1 for numbers in table.integers)
    check_count(file, n_entries, len(table), "entries")
    for _, comment in file.comments:
        if (found := _TYPE.match(comment)) and type is None:
            type = "dtmc" if found[1] == "dtmc" else "ctmc"
    type = type or chain_type(rows, table.values, n_rows)
    if nature_of(type).has_choices:
        raise FileError("a Matrix Market file holds a chain, not an mdp", path)
    return Matrix(type, n_rows, checked_matrix(file, type, n_rows, rows, columns, table.values))


def mtx_text(model: Model) -> Iterator[bytes]:
    """A Matrix Market file, in blocks."""
    if model.has_choices:
        raise ModelError("a .mtx file cannot say which rows belong to which state of an mdp; write .tra or .npz")
    yield f"{BANNER}\n% Galton {model.type}\n{model.n_states} {model.n_states} {model.n_transitions}\n".encode()
    space, end = constant(" "), constant("\n")
    numbers = value_characters(model.values, exact=True)
    for entries, rows in entry_blocks(model):
        columns = integers(model.columns[entries] + 1)
        yield join(len(rows), [integers(rows + 1), space, columns, space, numbers(entries), end])
