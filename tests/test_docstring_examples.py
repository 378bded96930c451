"""Every example in a docstring runs and gives what it says: ``help()`` keeps its promises."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import galton

SOURCE = Path(galton.__file__).parent
WITH_EXAMPLES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>>" in path.read_text()]


def module_of(path: Path) -> ModuleType:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def examples() -> Iterator[Any]:
    for path in WITH_EXAMPLES:
        try:
            module = module_of(path)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "cupy":
                raise
            skip = pytest.mark.skip(reason="the module needs CuPy")
            yield pytest.param(None, id=str(path.relative_to(SOURCE)), marks=skip)
            continue
        for example in doctest.DocTestFinder().find(module):
            if example.examples:
                yield pytest.param(example, id=example.name)


EXAMPLES = list(examples())


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: doctest.DocTest) -> None:
    report: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not outcome.failed, "".join(report)


def test_every_file_with_an_example_is_looked_at() -> None:
    """An example in a string that is no docstring would be seen by nobody."""
    found = {Path(str(param.values[0].filename)) for param in EXAMPLES if param.values[0] is not None}
    skipped = {SOURCE / str(param.id) for param in EXAMPLES if param.values[0] is None}
    assert found | skipped == set(WITH_EXAMPLES)
