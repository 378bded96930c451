"""The notebook of tasks: its cells, and what they give. ``python tests/notebook.py`` writes all outputs anew."""

from __future__ import annotations

import ast
import base64
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "twenty-tasks.ipynb"


def cells(kind: str = "code") -> list[dict[str, Any]]:
    """The cells of a kind."""
    return [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == kind]


def run(code: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does: what its last expression gives, None where it ends with none."""
    tree = ast.parse(code)
    last = tree.body.pop()
    if not isinstance(last, ast.Expr):
        return exec(code, names)
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


@contextmanager
def beside_models(folder: Path) -> Iterator[Path]:
    """A folder such as ``docs``, with the models beside it, that tasks may write to."""
    (folder / "models").symlink_to(ROOT / "models")
    (folder / "docs").mkdir()
    before = Path.cwd()
    os.chdir(folder / "docs")
    try:
        yield folder / "docs"
    finally:
        os.chdir(before)


def write_outputs() -> None:
    """Run all cells and keep what they give."""
    notebook = json.loads(NOTEBOOK.read_text())
    names: dict[str, Any] = {}
    count = 0
    with tempfile.TemporaryDirectory() as folder, beside_models(Path(folder)):
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            count += 1
            value = run("".join(cell["source"]), names)
            if value is None:
                cell |= {"execution_count": count, "outputs": []}
                continue
            data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
            if hasattr(value, "_repr_png_"):
                data["image/png"] = base64.b64encode(value._repr_png_()).decode()
            shown = {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}
            cell |= {"execution_count": count, "outputs": [shown]}
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write_outputs()
