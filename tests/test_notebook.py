"""The tasks of the notebook run, are as short as it says, and give what it shows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from notebook import beside_models, cells, run

LONGEST = 3  # lines of a task


def test_there_are_twenty_tasks_of_at_most_three_lines() -> None:
    titles = [cell["source"][0] for cell in cells("markdown") if cell["source"][0].startswith("## ")]
    tasks = [cell for cell in cells() if cell["outputs"]]
    assert len(cells()) - len(tasks) == 1  # which imports galton
    assert len(tasks) == len(titles) >= 20
    for cell in tasks:
        lines = "".join(cell["source"]).splitlines()
        assert len(lines) <= LONGEST, lines[0]
        assert max(map(len, lines)) <= 120, lines[0]
        statements = ast.parse("".join(cell["source"])).body
        assert len({statement.lineno for statement in statements}) == len(statements), "one statement a line"


def test_every_task_runs_and_gives_what_is_shown(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    names: dict[str, Any] = {}
    with beside_models(tmp_path) as folder:
        for cell in cells():
            code = "".join(cell["source"])
            found = run(code, names)
            for output in cell["outputs"]:
                assert repr(found) == "".join(output["data"]["text/plain"]), code
        assert (folder / "herman.png").stat().st_size > 1000
